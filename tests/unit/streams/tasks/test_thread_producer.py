"""exactly_once_v2: the tasks of a thread commit in one transaction, and lose it together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.clients.client_request import RequestBuilder
from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.clients.request_future import RequestFuture
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.consumer.generation import NO_GENERATION
from kafka_lite.consumer.group.group_rebalance_config import GroupRebalanceConfig
from kafka_lite.consumer.group.offset_committer import OffsetCommitter
from kafka_lite.producer.transaction_errors import ProducerFencedError, TransactionError
from kafka_lite.protocol.schema_error import UnsupportedVersionError
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.errors import StreamsError, TaskCorruptedError, TaskMigratedError
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.standby_tasks import StandbyTasks
from kafka_lite.streams.tasks.state_directory import StateDirectory
from kafka_lite.streams.tasks.stream_task import StreamTask
from kafka_lite.streams.tasks.thread_producer import SharedProducer, ThreadProducer
from kafka_lite.streams.tasks.thread_task_manager import ThreadTaskManager
from tests.support.transactional_tasks import FakeConsumer, FakeProducer, copying_task, taken

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))
TASKS = {TaskId(0, each.partition): frozenset({each}) for each in (T0, T1)}
MEMBER = ConsumerGroupMetadata("app", 3, "member-1")
FENCED = ProducerFencedError("app-uuid-1", 7, 1)
NOT_A_MEMBER = ApiError(Errors.ILLEGAL_GENERATION)
LATE = ApiError(Errors.REQUEST_TIMED_OUT)


class Application:
    """Tasks that copy topic ``t`` to ``out``, and the TaskManager and the producer of their thread."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.failing: dict[str, Exception] = {}
        self.producer = ThreadProducer(self._create_producer, "StreamThread-1", lambda: MEMBER)
        standbys = StandbyTasks(lambda *_: None, FakeConsumer())  # type: ignore[arg-type]
        self.tasks = ThreadTaskManager(self._create_task, standbys, self.producer, MockTime())
        self.tasks.assign(TASKS)

    def _create_producer(self) -> FakeProducer:
        self.calls.append("create")
        producer = FakeProducer(self.calls)
        producer.group, producer.failing = MEMBER, self.failing
        return producer

    def _create_task(self, task_id: TaskId, partitions: Iterable[TopicPartition], _: object) -> StreamTask:
        self.producer.init_transactions()
        return copying_task(task_id, partitions, self.producer, SharedProducer(self.producer), self.calls)

    def process(self, *offsets: tuple[TopicPartition, int]) -> None:
        for partition, offset in offsets:
            record = ConsumerRecord(*partition, offset, 1, TimestampType.CREATE_TIME, b"k", b"v")
            self.tasks.task_of(partition).add_records(partition, [record])
            self.tasks.process()

    def taken_calls(self) -> list[str]:
        return taken(self.calls)


@pytest.fixture
def app() -> Application:
    app = Application()
    assert app.taken_calls() == ["create", "init"], "one producer, initialized once, for two tasks"
    return app


COMMITTED = ["flush", "flush", "offsets {'t-0': 5, 't-1': 9}", "commit"]
CLOSED = ["close stores without checkpoint"] * 2
RESET = ["abort", "close", "create"]


def process_both(app: Application) -> None:
    app.process((T0, 4), (T1, 8))
    assert app.taken_calls() == ["begin", "send out", "send out"]


def test_all_tasks_are_committed_in_one_transaction_with_the_member_of_the_group(app: Application) -> None:
    process_both(app)
    app.tasks.commit_all()
    assert app.taken_calls() == COMMITTED
    app.tasks.commit_all()
    assert app.taken_calls() == ["flush", "flush"], "no empty transactions"


def test_a_commit_that_one_task_requests_commits_all(app: Application) -> None:
    process_both(app)
    app.tasks.task_of(T1)._need_commit()
    app.tasks.process()
    assert app.taken_calls() == COMMITTED
    app.tasks.process()
    assert app.taken_calls() == []


def test_a_requested_commit_without_anything_to_commit_is_done_once(app: Application) -> None:
    app.tasks.task_of(T1)._need_commit()
    app.tasks.process()
    assert app.taken_calls() == ["flush", "flush"]
    app.tasks.process()
    assert app.taken_calls() == []


def test_suspended_tasks_are_committed_and_a_task_that_moves_keeps_the_producer_open(app: Application) -> None:
    process_both(app)
    app.tasks.suspend(commit=True)
    assert app.taken_calls() == COMMITTED
    app.tasks.assign({TaskId(0, 0): frozenset({T0}), TaskId(0, 2): frozenset({T2})})
    assert app.taken_calls() == ["close stores with checkpoint"]
    app.process((T0, 5), (T2, 0))
    assert app.taken_calls() == ["begin", "send out", "send out"]


def test_a_clean_close_commits_before_it_writes_the_checkpoints(app: Application) -> None:
    process_both(app)
    app.tasks.close(clean=True)
    assert app.taken_calls() == [*COMMITTED, *["close stores with checkpoint"] * 2]


def test_an_unclean_close_aborts_after_all_tasks_are_closed(app: Application) -> None:
    process_both(app)
    app.tasks.close(clean=False)
    assert app.taken_calls() == [*CLOSED, "abort"]


def test_lost_partitions_abort_and_close_all_tasks_at_once(app: Application) -> None:
    """Also the task that has processed nothing: whether it has sent anything, nobody knows."""
    app.process((T0, 4))
    app.taken_calls()
    app.tasks.suspend(commit=False)
    assert app.taken_calls() == ["flush", "flush", *CLOSED, *RESET]
    assert app.tasks.prev_tasks == set(TASKS)
    app.tasks.assign(TASKS)
    assert app.taken_calls() == ["init"]


@pytest.mark.parametrize("failing", ["offsets", "commit"])
@pytest.mark.parametrize("error", [FENCED, NOT_A_MEMBER, LATE, ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)])
def test_tasks_that_cannot_commit_are_closed_without_a_checkpoint_and_do_not_fail_a_rebalance(
    app: Application, failing: str, error: KafkaError
) -> None:
    process_both(app)
    app.failing[failing] = error
    app.tasks.suspend(commit=True)
    assert app.taken_calls()[-5:] == [*CLOSED, *RESET]
    app.failing.clear()
    app.tasks.assign(TASKS)
    process_again = [(T0, 4), (T1, 8)]
    app.process(*process_again)
    assert app.taken_calls() == ["init", "begin", "send out", "send out"]


@pytest.mark.parametrize(
    ("error", "raised", "why"),
    [
        (FENCED, TaskMigratedError, "the coordinator has aborted the transaction of its thread"),
        (ApiError(Errors.INVALID_PRODUCER_ID_MAPPING), TaskMigratedError, "has aborted the transaction"),
        (NOT_A_MEMBER, TaskMigratedError, "the group has rebalanced without its thread"),
        (ApiError(Errors.UNKNOWN_MEMBER_ID), TaskMigratedError, "the group has rebalanced without its thread"),
        (ApiError(Errors.FENCED_INSTANCE_ID), TaskMigratedError, "the group has rebalanced without its thread"),
        (TransactionError(NOT_A_MEMBER, requires_abort=True), TaskMigratedError, "the group has rebalanced"),
        (LATE, TaskCorruptedError, "failed to commit the transaction in time"),
    ],
)
def test_after_a_commit_that_failed_all_tasks_begin_again(
    app: Application, error: KafkaError, raised: type[StreamsError], why: str
) -> None:
    process_both(app)
    app.failing["offsets"] = error
    with pytest.raises(raised, match=rf"task \[all of StreamThread-1\] .*{why}") as caught:
        app.tasks.commit_all()
    app.failing.clear()
    app.taken_calls()
    app.tasks.close_migrated(caught.value.task_id)  # type: ignore[attr-defined]
    assert app.taken_calls() == [*CLOSED, *RESET]
    assert (app.tasks.active, app.tasks.prev_tasks) == ({}, set(TASKS))
    with pytest.raises(KeyError):
        app.tasks.task_of(T0)
    app.tasks.suspend(commit=True)  # the thread joins again
    app.tasks.assign(TASKS)
    assert app.taken_calls() == ["init"]


def test_a_task_that_has_migrated_closes_all_without_a_flush_even_those_that_have_nothing_to_commit(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    for task in app.tasks.active.values():
        monkeypatch.setattr(task._state_manager, "flush", lambda: app.calls.append("flush stores"))
    app.tasks.close_migrated("0_0")
    assert app.taken_calls() == [*CLOSED, "close", "create"]


def test_a_commit_is_for_standby_tasks_too(app: Application) -> None:
    app.tasks.standbys = SimpleNamespace(commit_all=lambda: app.calls.append("standbys"))  # type: ignore[assignment]
    app.tasks.commit_all()
    assert app.taken_calls() == ["flush", "flush", "standbys"]


def test_an_abort_that_fails_is_left_to_the_next_producer(app: Application) -> None:
    process_both(app)
    app.failing |= {"offsets": NOT_A_MEMBER, "abort": LATE}
    app.tasks.suspend(commit=True)
    assert app.taken_calls()[-3:] == RESET


@pytest.mark.parametrize(
    ("failing", "action"),
    [("begin", lambda app: app.process((T0, 4))), ("send", lambda app: app.process((T0, 4)))],
)
def test_a_fenced_send_migrates_all_tasks(
    app: Application, failing: str, action: Callable[[Application], None]
) -> None:
    app.failing[failing] = FENCED
    with pytest.raises(TaskMigratedError):
        action(app)


def test_brokers_before_2_5_are_refused() -> None:
    app = Application()
    app.producer.reset()
    app.failing["init"] = ApiError(Errors.UNSUPPORTED_VERSION)
    with pytest.raises(StreamsError, match=r"exactly_once_v2 requires brokers of Kafka 2\.5 or later"):
        app.producer.init_transactions()


@pytest.mark.parametrize("throws", [True, False])
def test_a_consumer_of_the_application_fails_if_the_broker_has_no_stable_offsets(throws: bool) -> None:
    built: list[RequestBuilder] = []
    client: Any = SimpleNamespace(send=lambda _, builder: built.append(builder) or RequestFuture())
    coordinator: Any = SimpleNamespace(
        config=GroupRebalanceConfig("app", throw_on_unsupported_stable_offset=throws),
        finder=SimpleNamespace(coordinator=object()),
        generation=NO_GENERATION,
    )
    OffsetCommitter(coordinator, client, Any, Any, Any).send_fetch([T0])  # type: ignore[arg-type]
    (builder,) = built
    newest: Any = builder.build(7)
    assert newest.require_stable
    if throws:
        with pytest.raises(UnsupportedVersionError, match=r"OffsetFetch up to version 6; version 7, of Kafka 2\.5"):
            builder.build(6)
    else:
        of_2_4: Any = builder.build(6)
        assert not of_2_4.require_stable


# ── restoring ─────────────────────────────────────────────────────────────────────────────────────────────────────────

CHANGELOG = TopicPartition("app-store-changelog", 0)


class Changelog:
    """A ``read_committed`` consumer. The third change is committed, but its marker comes only after some polls."""

    def __init__(self, polls: int) -> None:
        self._polls_left, self._position = polls, 0
        self.position = lambda _: self._position
        self.partitions_for = lambda topic: [PartitionInfo(topic, 0, None)]
        self.assign = self.seek_to_beginning = lambda _: None
        self.unsubscribe = lambda: None

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, 2)

    def poll(self, _: float) -> ConsumerRecords:
        self._polls_left -= 1
        end = 3 if self._polls_left <= 0 else 2
        offsets = range(self._position, end)
        self._position = end
        kind = TimestampType.CREATE_TIME
        records = [ConsumerRecord(*CHANGELOG, each, 1, kind, b"%d" % each, b"") for each in offsets]
        return ConsumerRecords({CHANGELOG: records})


class Ends:
    """A ``read_uncommitted`` consumer."""

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, 3)


def test_restoring_waits_for_transactions_that_its_last_owner_has_just_committed(tmp_path: Path) -> None:
    """The offsets of a task are stable once their marker is written. That of the changelog may be still to come."""
    consumer: Any = Changelog(polls=3)
    ends: Any = Ends()
    directory, topics = StateDirectory("app", tmp_path, MockTime()), {"store": CHANGELOG.topic}
    manager = ProcessorStateManager(
        TaskId(0, 0), [], consumer, directory, topics, MockTime(), exactly_once=True, ends_consumer=ends
    )
    restored: list[bytes] = []
    store: Any = SimpleNamespace(name="store", persistent=False)
    manager.restore(store, lambda key, _: restored.append(key))
    manager.close(None)
    assert restored == [b"0", b"1", b"2"]
