"""The states of an instance, as its threads bring them about, and what it allows in each of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.streams.errors import InvalidStateStoreError, TopologyBuilderError
from kafka_lite.streams.kafka_streams import KafkaStreams, State
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.state.queries.queryable_store_types import QueryableStoreTypes
from kafka_lite.streams.threads.global_stream_thread import GlobalStreamThreadState
from kafka_lite.streams.threads.stream_thread_state import StreamThreadState

RUNNING, REVOKED, ASSIGNING, DEAD = (
    StreamThreadState.RUNNING,
    StreamThreadState.PARTITIONS_REVOKED,
    StreamThreadState.ASSIGNING_PARTITIONS,
    StreamThreadState.DEAD,
)


class Thread(SimpleNamespace):
    """A started thread. It ends only if it is asked to, and ``is_stuck`` is not set."""

    ident, state, is_stuck, is_asked, waited_s = 1, RUNNING, False, False, None

    def start(self) -> None:
        """It runs."""

    def initiate_shutdown(self) -> None:
        self.is_asked = True

    def await_shutdown(self, timeout_s: float) -> None:
        self.waited_s = timeout_s

    def is_alive(self) -> bool:
        return self.is_stuck or not self.is_asked

    def stores_of(self, name: str) -> list[Any]:
        raise InvalidStateStoreError(f"{name} is currently unavailable")


class Instance:
    """An instance with two threads that the test moves."""

    def __init__(self, state_dir: Path) -> None:
        builder = KStreamBuilder()
        builder.stream("in")
        self.streams = streams_of(builder, state_dir)
        self.threads = [Thread(), Thread()]
        self.streams._threads = list[Any](self.threads)
        self.seen: list[tuple[State, State]] = []
        self.streams.set_state_listener(lambda new, old: self.seen.append((new, old)))
        self.streams.start()

    def move(self, number: int, state: StreamThreadState) -> State:
        """Move a thread, and return the new state of the instance."""
        thread: Any = self.threads[number]
        old, thread.state = thread.state, state
        self.streams._on_thread_state(thread, state, old)
        return self.streams.state


def streams_of(builder: KStreamBuilder, state_dir: Path, num_stream_threads: int = 1) -> KafkaStreams:
    configs = {"application.id": "app", "bootstrap.servers": "127.0.0.1:1", "state.dir": str(state_dir)}
    return KafkaStreams(builder, {**configs, "num.stream.threads": num_stream_threads})


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Instance:
    monkeypatch.setattr(
        "kafka_lite.streams.kafka_streams.StreamThread",
        lambda *_: SimpleNamespace(ident=1, state=StreamThreadState.CREATED),
    )
    return Instance(tmp_path)


def test_an_instance_rebalances_until_all_threads_have_their_tasks(instance: Instance) -> None:
    assert instance.streams.state is State.RUNNING
    assert instance.move(0, ASSIGNING) is State.REBALANCING, "a thread that had nothing is not revoked anything"
    assert instance.move(0, RUNNING) is State.RUNNING
    assert [instance.move(number, REVOKED) for number in (0, 1)] == [State.REBALANCING] * 2
    assert instance.move(0, RUNNING) is State.REBALANCING
    assert instance.move(1, RUNNING) is State.RUNNING
    assert instance.seen[:2] == [(State.RUNNING, State.CREATED), (State.REBALANCING, State.RUNNING)]


def test_an_instance_fails_with_its_last_thread_and_can_still_be_closed(instance: Instance) -> None:
    assert instance.move(0, DEAD) is State.RUNNING
    assert instance.move(1, DEAD) is State.ERROR
    assert instance.streams.close()
    assert instance.streams.state is State.NOT_RUNNING


def test_an_instance_fails_with_its_global_thread(instance: Instance) -> None:
    instance.streams._on_global_thread_state(GlobalStreamThreadState.PENDING_SHUTDOWN)
    assert instance.streams.state is State.RUNNING
    instance.streams._on_global_thread_state(GlobalStreamThreadState.DEAD)
    assert instance.streams.state is State.ERROR


def test_the_error_of_a_thread_goes_to_the_handler(instance: Instance) -> None:
    thread, error, caught = Thread(), ValueError("no"), list[Any]()
    instance.streams._on_error(thread, error)  # type: ignore[arg-type]
    instance.streams.set_uncaught_exception_handler(lambda *args: caught.append(args))
    instance.streams._on_error(thread, error)  # type: ignore[arg-type]
    assert caught == [(thread, error)]


def test_closing_waits_for_each_thread_and_says_whether_all_have_ended(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance.threads[1].is_stuck, ended = True, list[str]()
    monkeypatch.setattr(instance.streams, "_metrics", SimpleNamespace(close=lambda: ended.append("metrics")))
    assert not instance.streams.close(timeout_ms=1500)
    assert [(thread.is_asked, thread.waited_s) for thread in instance.threads] == [(True, 1.5)] * 2
    assert ended == ["metrics"], "the reporters end with the instance"
    assert instance.streams.close(), "a no-op"
    assert [new for new, _ in instance.seen].count(State.NOT_RUNNING) == 1
    with pytest.raises(RuntimeError, match="Cannot start again"):
        instance.streams.start()


def test_a_thread_that_closes_its_instance_does_not_wait_for_itself(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance.threads[1].is_stuck = True
    monkeypatch.setattr("threading.current_thread", lambda: instance.threads[1])
    assert instance.streams.close()


def test_while_an_instance_rebalances_stores_are_unavailable_and_nothing_is_cleaned(instance: Instance) -> None:
    instance.move(0, REVOKED)
    with pytest.raises(InvalidStateStoreError, match="Counts is currently unavailable"):
        instance.streams.store("Counts", QueryableStoreTypes.key_value_store())
    assert instance.streams.all_metadata() == ()
    with pytest.raises(RuntimeError, match="Cannot clean up while running"):
        instance.streams.clean_up()


def test_an_instance_that_cannot_be_created_closes_the_threads_that_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []

    def thread_of(name: str, *_: object) -> Any:
        if name == "StreamThread-2":
            raise OSError("too many open files")
        return SimpleNamespace(
            ident=None, close_unstarted=lambda: closed.append(name), await_shutdown=lambda _: None, is_alive=bool
        )

    monkeypatch.setattr("kafka_lite.streams.kafka_streams.StreamThread", thread_of)
    builder = KStreamBuilder()
    builder.stream("in")
    with pytest.raises(OSError, match="too many open files"):
        streams_of(builder, tmp_path, num_stream_threads=2)
    assert closed == ["StreamThread-1"]


def test_threads_start_after_global_stores_are_restored_and_end_before_they_are_closed(tmp_path: Path) -> None:
    builder, order = KStreamBuilder(), list[str]()
    streams = streams_of(builder, tmp_path)
    streams._is_empty = False

    def noting(name: str) -> Any:
        return Thread(
            start=lambda: order.append(f"start {name}"),
            initiate_shutdown=lambda: order.append(f"end {name}"),
            is_alive=bool,
        )

    streams._threads, streams._global_thread = [noting("thread")], noting("global")
    streams.start()
    streams.close()
    assert order == ["start global", "start thread", "end thread", "end global"]


def test_a_global_table_alone_needs_no_threads(tmp_path: Path) -> None:
    builder = KStreamBuilder()
    builder.global_table("places", "Places")
    with streams_of(builder, tmp_path) as streams:
        assert streams._threads == []


def test_a_topology_that_reads_nothing_cannot_be_started(tmp_path: Path) -> None:
    with (
        streams_of(KStreamBuilder(), tmp_path) as streams,
        pytest.raises(TopologyBuilderError, match="no stream or table reads a topic"),
    ):
        streams.start()
