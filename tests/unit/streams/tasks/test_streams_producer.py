"""exactly_once: what is committed together, what is aborted, and which state survives, at each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.serialization import ByteArraySerializer
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.producer.transaction_errors import ProducerFencedError
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.errors import ProcessorStateError, StreamsError, TaskMigratedError
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.standby_tasks import StandbyTasks
from kafka_lite.streams.tasks.state_directory import StateDirectory
from kafka_lite.streams.tasks.stream_task import StreamTask
from kafka_lite.streams.tasks.streams_producer import StreamsProducer
from kafka_lite.streams.tasks.task_manager import TaskManager
from tests.support.transactional_tasks import FakeConsumer, FakeProducer, copying_task, taken

TASK = TaskId(0, 0)
T0 = TopicPartition("t", 0)
FENCED = ProducerFencedError("app-0_0", 7, 1)


class Application:
    """A task that copies topic ``t`` to ``out``, and its thread's TaskManager."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.producer = FakeProducer(self.calls)
        standbys = StandbyTasks(lambda *_: None, FakeConsumer())  # type: ignore[arg-type]
        self.tasks = TaskManager(self._create_task, standbys, MockTime())
        self.tasks.assign({TASK: frozenset({T0})})
        self._offset = 0

    def _create_task(self, task_id: TaskId, partitions: Iterable[TopicPartition], _: object) -> StreamTask:
        producer = StreamsProducer(self.producer, str(task_id), "app")  # type: ignore[arg-type]
        return copying_task(task_id, partitions, producer, producer, self.calls)

    def process(self, records: int = 1) -> None:
        for _ in range(records):
            record = ConsumerRecord(*T0, self._offset, 1, TimestampType.CREATE_TIME, b"k", b"v")
            self._offset += 1
            self.tasks.task_of(T0).add_records(T0, [record])
            self.tasks.process()

    def taken_calls(self) -> list[str]:
        return taken(self.calls)


@pytest.fixture
def app() -> Application:
    return Application()


COMMITTED = ["flush", "offsets {'t-0': 2}", "commit"]


def test_results_and_offsets_are_committed_in_one_transaction(app: Application) -> None:
    app.process(2)
    assert app.taken_calls() == ["begin", "send out", "send out"]
    app.tasks.commit_all()
    assert app.taken_calls() == COMMITTED
    app.tasks.commit_all()
    assert app.taken_calls() == ["flush"], "no empty transactions"
    app.process()
    assert app.taken_calls() == ["begin", "send out"]


def test_a_suspended_task_has_no_open_transaction(app: Application) -> None:
    app.process(2)
    app.taken_calls()
    app.tasks.suspend(commit=True)
    assert app.taken_calls() == COMMITTED
    app.tasks.assign({TASK: frozenset({T0})})
    app.process()
    assert app.taken_calls() == ["begin", "send out"]


def test_a_task_that_moves_is_closed_with_a_checkpoint(app: Application) -> None:
    app.process(2)
    app.tasks.suspend(commit=True)
    app.taken_calls()
    app.tasks.assign({})
    assert app.taken_calls() == ["close stores with checkpoint", "close"]


def test_a_clean_close_commits_before_it_writes_the_checkpoint(app: Application) -> None:
    app.process(2)
    app.taken_calls()
    app.tasks.close(clean=True)
    assert app.taken_calls() == [*COMMITTED, "close stores with checkpoint", "close"]


def test_an_unclean_close_aborts_and_leaves_no_checkpoint(app: Application) -> None:
    app.process(2)
    app.taken_calls()
    app.tasks.close(clean=False)
    assert app.taken_calls() == ["close stores without checkpoint", "abort", "close"]


def test_lost_partitions_abort_and_close_the_task_at_once(app: Application) -> None:
    app.process(2)
    app.taken_calls()
    app.tasks.suspend(commit=False)
    assert app.taken_calls() == ["flush", "close stores without checkpoint", "abort", "close"]
    assert app.tasks.prev_tasks == {TASK}
    app.tasks.assign({})
    assert app.taken_calls() == [], "it is closed already"


@pytest.mark.parametrize("error", [OSError("no space left"), TaskMigratedError("0_0")])
def test_stores_that_cannot_be_closed_leave_no_open_transaction(
    app: Application, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise error

    app.process()
    app.taken_calls()
    monkeypatch.setattr(app.tasks.task_of(T0)._state_manager, "close", fail)
    app.tasks.close(clean=False)
    assert app.taken_calls() == ["abort", "close"]


@pytest.mark.parametrize("failing", ["offsets", "commit"])
def test_a_task_that_cannot_commit_is_closed_without_a_checkpoint(app: Application, failing: str) -> None:
    app.producer.failing = {failing: ApiError(Errors.REQUEST_TIMED_OUT)}
    app.process(2)
    app.taken_calls()
    app.tasks.close(clean=True)
    assert app.taken_calls()[-3:] == ["close stores without checkpoint", "abort", "close"]
    other = Application()
    other.producer.failing = {failing: ApiError(Errors.REQUEST_TIMED_OUT)}
    other.process(2)
    other.tasks.suspend(commit=True)
    assert other.taken_calls()[-3:] == ["close stores without checkpoint", "abort", "close"]


@pytest.mark.parametrize(
    ("failing", "action"),
    [
        ("begin", Application.process),
        ("send", Application.process),
        ("offsets", lambda app: app.tasks.commit_all()),
        ("commit", lambda app: app.tasks.commit_all()),
    ],
)
def test_a_fenced_task_has_migrated(app: Application, failing: str, action: Callable[[Application], None]) -> None:
    if failing in ("offsets", "commit"):
        app.process()
    app.producer.failing = {failing: FENCED, "abort": FENCED}
    with pytest.raises(TaskMigratedError, match=r"task \[0_0\] has migrated") as raised:
        action(app)
    app.taken_calls()
    app.tasks.close_migrated(raised.value.task_id)
    assert "close stores without checkpoint" in app.taken_calls()
    assert not app.tasks.active
    with pytest.raises(KeyError):
        app.tasks.task_of(T0)
    app.tasks.close_migrated(raised.value.task_id)
    assert app.taken_calls() == []


def test_a_fenced_task_does_not_fail_a_rebalance(app: Application) -> None:
    app.producer.failing = {"offsets": FENCED}
    app.process()
    app.tasks.suspend(commit=True)
    assert "close stores without checkpoint" in app.taken_calls()


def test_a_record_that_was_fenced_does_not_fail_a_rebalance(app: Application) -> None:
    app.process()
    app.producer.failing = {"offsets": FENCED}
    app.producer.listeners[0].on_failed(ProducerRecord("out", b"v", b"k"), FENCED)
    app.tasks.suspend(commit=True)
    assert "close stores without checkpoint" in app.taken_calls()


@pytest.mark.parametrize("error", [FENCED, ApiError(Errors.INVALID_PRODUCER_EPOCH)])
def test_a_record_that_was_fenced_is_noticed_by_the_next_flush(app: Application, error: KafkaError) -> None:
    app.process()
    app.producer.listeners[0].on_failed(ProducerRecord("out", b"v", b"k"), error)
    with pytest.raises(TaskMigratedError):
        app.tasks.commit_all()


def test_other_errors_of_the_producer_say_what_failed() -> None:
    producer = FakeProducer([])
    producer.failing = {"init": ApiError(Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)}
    with pytest.raises(StreamsError, match=r"task \[0_0\] Failed to initialize transactions") as raised:
        StreamsProducer(producer, "0_0", "app").init_transactions()  # type: ignore[arg-type]
    assert not isinstance(raised.value, TaskMigratedError)


def test_records_without_results_are_committed_in_a_transaction_too() -> None:
    calls: list[str] = []
    producer = StreamsProducer(FakeProducer(calls), "0_0", "app")  # type: ignore[arg-type]
    producer.commit_transaction({T0: OffsetAndMetadata(2)})
    assert calls == ["begin", "offsets {'t-0': 2}", "commit"]


@pytest.mark.parametrize("error", [ApiError(Errors.REQUEST_TIMED_OUT), RuntimeError("the producer is closed")])
def test_an_abort_that_fails_is_left_to_the_next_owner(app: Application, error: Exception) -> None:
    app.process()
    app.producer.failing = {"abort": error}
    app.taken_calls()
    app.tasks.close(clean=False)
    assert app.taken_calls() == ["close stores without checkpoint", "abort", "close"]


def test_records_of_a_punctuation_are_committed_without_new_offsets(app: Application) -> None:
    serializer: Any = ByteArraySerializer()
    app.tasks.task_of(T0)._collector.send("out", b"k", b"v", None, 1, serializer, serializer)
    app.taken_calls()
    app.tasks.commit_all()
    assert app.taken_calls() == ["flush", "offsets {}", "commit"]


# ── the state on disk ─────────────────────────────────────────────────────────────────────────────────────────────────


def opened(path: Path, offsets: Mapping[TopicPartition, int] | None, exactly_once: bool) -> list[str]:
    """The files of a task's directory after its state manager has been created, besides the lock."""
    directory = StateDirectory("app", path, MockTime())
    of_task = directory.directory_for_task(TASK)
    (of_task / "rocksdb" / "store").mkdir(parents=True)
    if offsets is not None:
        OffsetCheckpoint(of_task / ".checkpoint").write(offsets)
    manager = ProcessorStateManager(TASK, [], object(), directory, {}, MockTime(), exactly_once)  # type: ignore[arg-type]
    manager.close(None)
    return sorted(each.name for each in of_task.iterdir() if each.name != ".lock")


def test_a_checkpoint_is_trusted_once(tmp_path: Path) -> None:
    offsets = {TopicPartition("app-store-changelog", 0): 5}
    assert opened(tmp_path / "1", offsets, exactly_once=False) == [".checkpoint", "rocksdb"]
    assert opened(tmp_path / "2", offsets, exactly_once=True) == ["rocksdb"]


def test_state_without_a_checkpoint_is_deleted(tmp_path: Path) -> None:
    assert opened(tmp_path / "1", None, exactly_once=False) == ["rocksdb"]
    assert opened(tmp_path / "2", None, exactly_once=True) == []


def test_state_that_cannot_be_deleted_releases_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("read-only file system")

    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", refuse)
        with pytest.raises(ProcessorStateError, match=r"task \[0_0\] Failed to delete .*rocksdb: read-only"):
            opened(tmp_path, None, exactly_once=True)
    directory = StateDirectory("app", tmp_path, MockTime())
    assert directory.lock(TASK)
    directory.unlock(TASK)
