"""What a stream thread does in a turn of its loop."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import OffsetOutOfRangeError
from kafka_lite.consumer.consumer_record import EMPTY_RECORDS, ConsumerRecords
from kafka_lite.streams.errors import InvalidStateStoreError, StreamsError, TaskCorruptedError, TaskMigratedError
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.processor.topology_builder import AutoOffsetReset
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.threads.stream_thread import StreamThread, _Rebalances
from kafka_lite.streams.threads.stream_thread_state import StreamThreadState


def test_the_next_commit_is_an_interval_after_the_end_of_the_last_one() -> None:
    """Otherwise a thread whose commits take longer than the interval would do little else."""
    time, commits = MockTime(), []
    thread: Any = SimpleNamespace(name="StreamThread-1", _time=time, _commit_interval_ms=100)
    thread._last_commit_ms = time.hi_res_ms()

    def commit_all() -> None:
        time.sleep(250)
        commits.append(time.hi_res_ms())

    thread._tasks = SimpleNamespace(commit_all=commit_all)
    time.sleep(101)
    for _ in range(21):  # a turn takes 10 ms
        StreamThread._maybe_commit(thread, time.hi_res_ms())
        time.sleep(10)
    assert len(commits) == 2


@pytest.mark.parametrize(
    ("generation", "calls"),
    [(3, ["assign"]), (4, ["assign"]), (5, ["close suspended", "assign"]), (1, ["close suspended", "assign"])],
    ids=["the same generation", "the next one", "one was missed", "the group was new"],
)
def test_tasks_go_on_only_if_nobody_else_can_have_had_their_partitions(generation: int, calls: list[str]) -> None:
    found: list[str] = []
    thread: Any = SimpleNamespace(_kept_error=nullcontext, _set_state=lambda _: None, _time=MockTime(), _generation=3)
    thread._context = SimpleNamespace(generation=generation, active_tasks={}, standby_tasks={})
    thread._tasks = SimpleNamespace(
        assign=lambda *_: found.append("assign"), close_suspended=lambda: found.append("close suspended")
    )
    StreamThread.partitions_assigned(thread)
    assert found == calls
    assert thread._generation == generation


@pytest.fixture
def rebalancing() -> Any:
    """A thread whose directories may be cleaned ten milliseconds after a rebalance. It notes what it does."""
    thread: Any = SimpleNamespace(_kept_error=nullcontext, _set_state=lambda _: None, _time=MockTime(), _generation=0)
    thread._context = SimpleNamespace(generation=1, active_tasks={}, standby_tasks={})
    thread.calls = []
    thread._tasks = SimpleNamespace(
        assign=lambda *_: None, suspend=lambda commit: thread.calls.append(f"suspend, commit={commit}")
    )
    thread._directory = SimpleNamespace(clean_removed_tasks=lambda: thread.calls.append("clean"))
    thread._cleanup_delay_ms, thread._last_clean_ms = 10, 0.0
    return thread


def test_no_directory_is_deleted_during_a_rebalance_or_soon_after_it(rebalancing: Any) -> None:
    """The tasks that look removed may be about to come back."""
    thread = rebalancing
    StreamThread.partitions_revoked(thread, lost=False)
    StreamThread._maybe_clean(thread, thread._time.hi_res_ms() + 99)
    StreamThread.partitions_assigned(thread)
    StreamThread._maybe_clean(thread, thread._time.hi_res_ms() + 10)
    assert "clean" not in thread.calls
    StreamThread._maybe_clean(thread, thread._time.hi_res_ms() + 11)
    assert thread.calls[-1] == "clean"
    thread.calls.clear()
    StreamThread._maybe_clean(thread, thread._time.hi_res_ms() + 12)
    assert thread.calls == [], "the delay begins again"


@pytest.mark.parametrize("lost", [False, True])
def test_what_is_processed_is_committed_unless_the_partitions_are_lost(rebalancing: Any, lost: bool) -> None:
    StreamThread.partitions_revoked(rebalancing, lost)
    assert rebalancing.calls == [f"suspend, commit={not lost}"]


def test_a_source_without_an_offset_begins_where_it_says_or_where_the_application_says() -> None:
    seeks: list[tuple[str, str]] = []
    resets = {"t": AutoOffsetReset.EARLIEST, "u": None}
    thread: Any = SimpleNamespace(_config=SimpleNamespace(auto_offset_reset="latest"))
    thread._builder = SimpleNamespace(reset_of=resets.get)
    thread._consumer = SimpleNamespace(
        seek_to_beginning=lambda partitions: seeks.append((partitions[0].topic, "beginning")),
        seek_to_end=lambda partitions: seeks.append((partitions[0].topic, "end")),
    )
    error: Any = SimpleNamespace(partitions=[TopicPartition("t", 0), TopicPartition("u", 0)])
    StreamThread._reset_invalid_offsets(thread, error)
    assert seeks == [("t", "beginning"), ("u", "end")]


def test_stores_cannot_be_queried_while_the_thread_rebalances() -> None:
    thread: Any = SimpleNamespace(name="StreamThread-1", _state=StreamThreadState.PARTITIONS_REVOKED)
    with pytest.raises(InvalidStateStoreError, match=r"Counts, is currently unavailable: .* is PARTITIONS_REVOKED"):
        StreamThread.stores_of(thread, "Counts")


def test_the_threads_of_an_instance_share_its_caches(tmp_path: Path) -> None:
    configs: dict[str, object] = {
        "application.id": "app",
        "bootstrap.servers": "127.0.0.1:1",
        "state.dir": str(tmp_path),
    }
    configs |= {"num.stream.threads": 2, "cache.max.bytes.buffering": 1001, "num.standby.replicas": 3}
    builder = KStreamBuilder()
    builder.stream("a")
    with KafkaStreams(builder, configs) as streams:
        assert [thread._cache._max_cache_size_bytes for thread in streams._threads] == [500, 500]
        assert streams._threads[0]._context.num_standby_replicas == 3


# ── states and errors ─────────────────────────────────────────────────────────────────────────────────────────────────


class Client:
    """A client, or the tasks, of a thread: notes each call, by its name and arguments."""

    def __init__(self, name: str, calls: list[str]) -> None:
        self._name, self._calls = name, calls
        self.failing: dict[str, Exception] = {}
        self.result: Any = None

    def __getattr__(self, method: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            listed = [*map(str, args), *(f"{key}={value}" for key, value in named.items())]
            self._calls.append(f"{self._name}.{method}({', '.join(listed)})")
            if method in self.failing:
                raise self.failing[method]
            return self.result

        return call


class FakeThread(SimpleNamespace):
    """The parts of a thread around its loop. The loop raises ``errors``, one after the other, and ends."""

    def __init__(self, *errors: Exception) -> None:
        calls: list[str] = []
        super().__init__(
            name="StreamThread-1",
            calls=calls,
            errors=list(errors),
            is_running=True,
            _time=MockTime(),
            _state=StreamThreadState.RUNNING,
            _state_lock=nullcontext(),
            _clean_run=True,
            _stopping=SimpleNamespace(set=lambda: None),
            _poll_ms=100,
            _records_wait=False,
            _rebalance_error=None,
            _is_subscribed=True,
            _builder=SimpleNamespace(source_topic_pattern=lambda: "in"),
        )
        for name in ("tasks", "consumer", "producer", "restore_consumer", "ends_consumer", "metrics", "directory"):
            setattr(self, f"_{name}", Client(name, calls))
        self._tasks.standbys = Client("standbys", calls)
        self._tasks.requires_poll = True
        self._metrics.poll = self._metrics.process = self._metrics.skipped_records = Client("sensor", calls)
        self._consumer.result = EMPTY_RECORDS

    def do_work(self) -> None:
        self.is_running = len(self.errors) > 1
        raise self.errors.pop(0)

    def _on_state_change(self, thread: Any, new: StreamThreadState, old: StreamThreadState) -> None:
        assert thread is self
        self.calls.append(f"{old.name} > {new.name}")

    def _on_error(self, thread: Any, error: Exception) -> None:
        assert thread is self
        self.calls.append(f"error {error}")

    def __getattr__(self, name: str) -> Any:
        return getattr(StreamThread, name).__get__(self)


CLOSED = [
    "RUNNING > PENDING_SHUTDOWN",
    "tasks.close(clean=False)",
    *(f"{client}.close()" for client in ("producer", "consumer", "restore_consumer", "ends_consumer", "metrics")),
    "PENDING_SHUTDOWN > DEAD",
]


def test_an_error_ends_the_thread_and_is_reported_after_everything_is_closed() -> None:
    thread: Any = FakeThread(ValueError("no"))
    thread._producer.failing["close"] = OSError("a client that cannot be closed keeps no other open")
    StreamThread.run(thread)
    assert thread.calls == [*CLOSED, "error no"]


@pytest.mark.parametrize("error", [TaskMigratedError("0_1"), TaskCorruptedError("0_1", "late")])
def test_a_thread_that_has_lost_a_task_joins_the_group_again(error: TaskMigratedError | TaskCorruptedError) -> None:
    thread: Any = FakeThread(error, ValueError("no"))
    StreamThread.run(thread)
    assert thread.calls[:2] == ["tasks.close_migrated(0_1)", "consumer.unsubscribe()"]
    assert thread.calls[2].startswith("consumer.subscribe(in, ")
    assert thread.calls[3:] == [*CLOSED, "error no"]


def test_a_thread_that_ends_stays_on_its_way_whatever_a_rebalance_wants() -> None:
    thread: Any = FakeThread()
    with pytest.raises(RuntimeError, match="Unexpected state transition"):
        StreamThread._set_state(thread, StreamThreadState.CREATED)
    for state in (StreamThreadState.PENDING_SHUTDOWN, StreamThreadState.RUNNING, StreamThreadState.DEAD):
        StreamThread._set_state(thread, state)
    StreamThread._set_state(thread, StreamThreadState.ASSIGNING_PARTITIONS)
    assert thread.calls == ["RUNNING > PENDING_SHUTDOWN", "PENDING_SHUTDOWN > DEAD"]


@pytest.mark.parametrize("lost", [False, True])
def test_an_error_in_a_rebalance_ends_the_thread_at_its_next_poll(lost: bool) -> None:
    thread: Any = FakeThread()
    thread._tasks.failing["suspend"] = error = OSError("no space left")
    listener = _Rebalances(thread)
    with pytest.raises(OSError, match="no space left"):
        listener.on_partitions_lost([]) if lost else listener.on_partitions_revoked([])
    assert thread.calls[-1] == f"tasks.suspend(commit={not lost})"
    with pytest.raises(StreamsError, match="Failed to rebalance") as raised:
        StreamThread._poll(thread)
    assert raised.value.__cause__ is error


def test_active_and_standby_tasks_are_assigned() -> None:
    thread: Any = FakeThread()
    thread._generation = 0
    thread._context = SimpleNamespace(generation=1, active_tasks="active", standby_tasks="standby")
    _Rebalances(thread).on_partitions_assigned([])
    assert "tasks.assign(active, standby)" in thread.calls


@pytest.mark.parametrize(
    ("records_wait", "requires_poll", "polls"),
    [(False, False, ["consumer.poll(100)"]), (True, True, ["consumer.poll(0)"]), (True, False, [])],
    ids=["nothing to do", "room for more", "no room"],
)
def test_a_thread_polls_if_it_has_room_and_waits_if_it_has_nothing_to_do(
    records_wait: bool, requires_poll: bool, polls: list[str]
) -> None:
    thread: Any = FakeThread()
    thread._records_wait, thread._tasks.requires_poll, thread._tasks.result = records_wait, requires_poll, 0
    thread._tasks.num_buffered = 0
    thread._maybe_commit = thread._maybe_clean = lambda _: None
    StreamThread.do_work(thread)
    assert [call for call in thread.calls if call.startswith("consumer")] == polls
    assert ("standbys.maybe_update()" in thread.calls) is bool(polls)
    assert ("tasks.update_lags()" in thread.calls) is bool(polls)


def test_records_that_wait_for_another_partition_are_tried_after_each_poll() -> None:
    """The poll may have said that the broker has none of it."""
    thread: Any = FakeThread()
    thread._records_wait, thread._tasks.num_buffered, thread._tasks.result = False, 7, 0
    thread._maybe_commit = thread._maybe_clean = lambda _: None
    for _ in range(2):
        StreamThread.do_work(thread)
    assert [call for call in thread.calls if "poll" in call or "process" in call] == [
        "consumer.poll(100)", "tasks.process(50, 100)",
    ] * 2  # fmt: skip


def test_records_that_tasks_skip_are_counted() -> None:
    thread: Any = FakeThread()
    added = {"t": 3, "u": 0}
    thread._tasks.task_of = lambda of: SimpleNamespace(add_records=lambda *_: added[of.topic])
    records: Any = {TopicPartition(topic, 0): [object()] * 4 for topic in added}
    StreamThread._add_records(thread, ConsumerRecords(records))
    assert sorted(thread.calls) == ["sensor.record(1)", "sensor.record(4)"]


def test_a_negative_interval_never_commits() -> None:
    thread: Any = SimpleNamespace(_commit_interval_ms=-1, _last_commit_ms=0.0)
    StreamThread._maybe_commit(thread, 1e9)


def test_a_source_without_any_reset_policy_ends_the_thread() -> None:
    thread: Any = SimpleNamespace(
        _config=SimpleNamespace(auto_offset_reset="none"), _builder=SimpleNamespace(reset_of=lambda _: None)
    )
    error: Any = OffsetOutOfRangeError({TopicPartition("t", 0): 7})
    with pytest.raises(StreamsError, match=r"input topic t \(partition 0\) and no valid reset policy configured"):
        StreamThread._reset_invalid_offsets(thread, error)


def test_a_thread_reports_the_state_of_its_standby_tasks_and_of_its_directories() -> None:
    """A standby in memory has no checkpoint."""
    thread: Any = FakeThread()
    values: dict[str, Any] = {"bootstrap.servers": ["127.0.0.1:1"]}
    thread._config = type(
        "Config", (), {"partition_grouper": object, "__getitem__": lambda _, key: values.get(key, 0)}
    )()
    thread._directory.result = frozenset({TaskId(0, 1)})
    thread._tasks.standbys.ids = frozenset({TaskId(0, 2)})
    thread._builder = object()
    context = StreamThread._new_context(thread, "app", UUID(int=1), lambda _: None)
    assert context.cached_tasks() == {TaskId(0, 1), TaskId(0, 2)}
