"""A task's back-pressure, and the order of its commits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import CommitFailedError, ConsumerTimeoutError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.record.record import Header, TimestampType
from kafka_lite.streams.errors import (
    LockError,
    MissingSourceTopicError,
    StreamsError,
    TaskCorruptedError,
    TaskMigratedError,
)
from kafka_lite.streams.metrics.streams_metrics_impl import StreamsMetricsImpl
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.state_store import StateRestoreCallback, StateStore
from kafka_lite.streams.processor.timestamp_extractor import FailOnInvalidTimestamp
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.streams_metrics import StreamsMetrics
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.standby_tasks import StandbyTasks
from kafka_lite.streams.tasks.state_manager import StateManager
from kafka_lite.streams.tasks.stream_task import StreamTask
from kafka_lite.streams.tasks.task_environment import TaskEnvironment
from kafka_lite.streams.tasks.task_manager import TaskManager

T0, U0, CHANGELOG = TopicPartition("t", 0), TopicPartition("u", 0), TopicPartition("app-store-changelog", 0)


class Recorder(StateManager):
    """Consumer, collector and state manager of a task, which write down their calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.offsets = {CHANGELOG: 7}
        self.lag: int | None = 0
        self.topics = ["t", "u"]
        self.failure: Exception | None = None
        """Of a commit."""

    def current_lag(self, partition: TopicPartition) -> int | None:
        return self.lag

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        self.calls.append(f"pause {' '.join(map(str, partitions))}")

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        self.calls.append(f"resume {' '.join(map(str, partitions))}")

    def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata | None]:
        return {partition: OffsetAndMetadata(5) if partition == T0 else None for partition in sorted(partitions)}

    def commit_sync(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        if self.failure is not None:
            raise self.failure
        self.calls.append(f"commit { ({str(partition): each.offset for partition, each in offsets.items()}) }")

    def list_topics(self) -> dict[str, object]:
        return dict.fromkeys(self.topics)

    def send(self, topic: str, *_: Any) -> None:
        self.calls.append(f"send {topic}")

    def flush(self) -> None:
        self.calls.append("flush")

    def restore(self, store: StateStore, restore: StateRestoreCallback) -> None:
        self.calls.append(f"restore {store.name}")

    def checkpoint(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.calls.append(f"checkpoint { ({str(partition): offset for partition, offset in offsets.items()}) }")

    def put_offset_limit(self, partition: TopicPartition, limit: int) -> None:
        self.calls.append(f"limit {partition} {limit}")


class Committing(Processor[bytes, bytes]):
    """Forwards records, and requests a commit for one of the value ``commit``. Cannot be closed after ``stuck``."""

    stuck = False
    is_initialized = False
    headers: tuple[Header, ...] | None = None
    """Those of the last record."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.is_initialized = True

    def process(self, key: bytes, value: bytes) -> None:
        self.headers = self.context.headers
        self.context.forward(key, value)
        self.stuck = value == b"stuck"
        if value == b"commit":
            self.context.commit()

    def close(self) -> None:
        self.is_initialized = False
        if self.stuck:
            raise OSError("stuck")


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def task_of(builder: TopologyBuilder, recorder: Recorder) -> StreamTask:
    return idling_task_of(builder, recorder, -1)


def idling_task_of(
    builder: TopologyBuilder, recorder: Recorder, max_task_idle_ms: int, metrics: StreamsMetrics | None = None
) -> StreamTask:
    environment = TaskEnvironment("app", Serdes.byte_array(), Serdes.byte_array())
    result = StreamTask(
        TaskId(0, 0),
        [T0, U0],
        builder.build(0),
        environment if metrics is None else replace(environment, metrics=metrics),
        consumer=recorder,
        record_collector=recorder,
        state_manager=recorder,
        timestamp_extractor=FailOnInvalidTimestamp(),
        max_buffered_records=3,
        max_task_idle_ms=max_task_idle_ms,
    )
    result.initialize()
    return result


@pytest.fixture
def task(recorder: Recorder) -> StreamTask:
    builder = TopologyBuilder().set_application_id("app").add_source("source", "t", "u")
    builder.add_processor("processor", Committing, "source").add_sink("sink", "out", "processor")
    builder.add_state_store(Stores.in_memory_key_value("store"), "processor")
    result = task_of(builder, recorder)
    assert recorder.calls == ["limit t-0 5", "limit u-0 0", "restore store"]
    recorder.calls.clear()
    return result


def add(task: StreamTask, partition: TopicPartition, offsets: Iterable[int], value: bytes = b"v") -> int:
    kind = TimestampType.CREATE_TIME
    return task.add_records(partition, [ConsumerRecord(*partition, n, n, kind, b"k", value) for n in offsets])


def test_a_full_queue_pauses_its_partition_until_there_is_room(task: StreamTask, recorder: Recorder) -> None:
    assert add(task, T0, range(3)) == 3
    assert recorder.calls == []
    assert add(task, T0, range(3, 5)) == 2
    assert recorder.calls == ["pause t-0"]
    assert task.process()
    assert not task.requires_poll, "four records wait, and three are the limit"
    assert task.process()
    assert recorder.calls == ["pause t-0", "send out", "send out", "resume t-0"]
    assert task.requires_poll
    assert task.num_buffered == 3
    assert task.process()
    assert recorder.calls[-1] == "send out", "it is resumed once"


def test_without_records_nothing_is_processed(task: StreamTask) -> None:
    assert not task.process()
    assert task.requires_poll
    assert not task.maybe_punctuate()


def test_a_task_with_a_full_queue_is_polled_for_the_partition_that_it_waits_for(recorder: Recorder) -> None:
    builder = TopologyBuilder().set_application_id("app").add_source("source", "t", "u").add_sink("s", "out", "source")
    task = idling_task_of(builder, recorder, 0)
    add(task, T0, range(7, 12))
    recorder.lag = 4
    assert not task.process()
    assert (task.is_idle, task.requires_poll) == (True, True), "its queue is full, but another is empty"
    add(task, U0, [3])
    assert task.process()
    assert (task.is_idle, task.committable_offsets()) == (False, {U0: OffsetAndMetadata(4)})
    assert not task.process(), "the lag was 4 before"
    recorder.lag = 0
    task.update_lags()
    assert task.process()
    recorder.lag = 1
    task.update_lags()
    assert not task.process()
    task.close_topology()
    assert not task.is_idle, "it has no records that could wait"


def test_offsets_are_committed_after_everything_else_is_stored(task: StreamTask, recorder: Recorder) -> None:
    add(task, T0, [5, 6])
    add(task, U0, [2])
    while task.process():
        pass
    recorder.calls.clear()
    task.commit()
    assert recorder.calls == [
        "flush",  # the stores
        "flush",  # the collector
        "checkpoint {'u-0': 2, 't-0': 6, 'app-store-changelog-0': 7}",
        "limit u-0 3",
        "limit t-0 7",
        "commit {'u-0': 3, 't-0': 7}",
    ]
    recorder.calls.clear()
    task.commit_offsets()
    assert recorder.calls == [], "nothing new"


def test_a_deleted_source_topic_is_named_if_its_offsets_cannot_be_committed(
    task: StreamTask, recorder: Recorder
) -> None:
    add(task, T0, [5])
    add(task, U0, [2])
    while task.process():
        pass
    recorder.failure = ConsumerTimeoutError("Timeout expired")
    with pytest.raises(ConsumerTimeoutError):
        task.commit()
    recorder.topics = ["u", "v"]
    with pytest.raises(MissingSourceTopicError, match="The source topics t are missing"):
        task.commit()
    recorder.failure = CommitFailedError()
    with pytest.raises(CommitFailedError):
        task.commit()


def test_records_that_a_task_no_longer_waits_with_are_counted_as_enforced_processing(recorder: Recorder) -> None:
    """KIP-353: with the names and tags of Kafka, at the level DEBUG."""
    time = MockTime()
    metrics = StreamsMetricsImpl(
        Metrics(MetricConfig(record_level=RecordingLevel.DEBUG), time=time), {"client-id": "x"}, time
    )
    builder = TopologyBuilder().set_application_id("app").add_source("source", "t", "u").add_sink("s", "out", "source")
    task = idling_task_of(builder, recorder, 100, metrics)
    add(task, T0, [1, 2])
    add(task, U0, [1])
    assert [task.process(now_ms) for now_ms in (0, 1, 2, 102, 103)] == [True, True, False, True, False]
    found = {name.name: each for name, each in metrics.metrics().items() if name.name.startswith("enforced-processing")}
    assert found["enforced-processing-total"].value == 1
    [tags] = {name.tags for name in metrics.metrics() if name.name == "enforced-processing-rate"}
    assert {"thread-id": "x", "task-id": "0_0"}.items() <= dict(tags).items()
    task.close_state_manager(write_checkpoint=False)
    assert not [name for name in metrics.metrics() if name.group == "stream-task-metrics"]


def test_stores_are_flushed_before_the_task_waits_for_what_they_send(
    task: StreamTask, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "_collector", SimpleNamespace(flush=lambda: recorder.calls.append("wait")))
    task.flush_state()
    assert recorder.calls == ["flush", "wait"]


def test_a_processor_can_request_a_commit(task: StreamTask) -> None:
    add(task, T0, [0])
    task.process()
    assert not task.commit_needed
    add(task, T0, [1], b"commit")
    task.process()
    assert task.commit_needed
    task.commit()
    assert not task.commit_needed


def processor_of(task: StreamTask, name: str = "processor") -> Committing:
    [found] = [node.processor for node in task.topology.processors if node.name == name]
    assert isinstance(found, Committing)
    return found


def test_a_processor_sees_the_headers_of_its_record(task: StreamTask) -> None:
    headers = (Header("trace", b"7"),)
    task.add_records(T0, [ConsumerRecord(*T0, 0, 0, TimestampType.CREATE_TIME, b"k", b"v", headers)])
    task.process()
    assert processor_of(task).headers == headers


def test_stores_cannot_be_registered_after_initialization(task: StreamTask) -> None:
    processor = processor_of(task)
    store = Stores.in_memory_key_value("late").get()
    with pytest.raises(RuntimeError, match="Can only create state stores during initialization"):
        store.init(processor.context, store)


def test_all_processors_are_closed_before_an_error_is_raised(task: StreamTask, recorder: Recorder) -> None:
    add(task, T0, [0], b"stuck")
    add(task, T0, [1], b"stuck")
    task.process()
    with pytest.raises(StreamsError, match="failed to close processor processor"):
        task.close_topology()
    assert task.num_buffered == 0
    recorder.calls.clear()
    task.close_state_manager(write_checkpoint=False)
    assert recorder.calls == []
    store = task.store("store")
    assert store is not None
    assert not store.is_open


def test_a_processor_that_cannot_be_closed_keeps_no_other_open(recorder: Recorder) -> None:
    builder = TopologyBuilder().set_application_id("app").add_source("source", "t", "u")
    builder.add_processor("first", Committing, "source").add_processor("second", Committing, "source")
    task = task_of(builder, recorder)
    processor_of(task, "first").stuck = True
    with pytest.raises(StreamsError, match="failed to close processor first"):
        task.close_topology()
    assert not processor_of(task, "second").is_initialized


@pytest.mark.parametrize("fails", [False, True])
def test_processors_are_closed_after_the_caches_are_flushed_even_if_that_fails(
    task: StreamTask, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    processor, were_open = processor_of(task), []

    def flush() -> None:
        were_open.append(processor.is_initialized)
        if fails:
            raise StreamsError("what was in a cache could not be sent")

    monkeypatch.setattr(recorder, "flush", flush)
    with pytest.raises(StreamsError, match="in a cache") if fails else nullcontext():
        task.close_topology()
    assert were_open == [True], "they process what the caches pass on"
    assert not processor.is_initialized


def test_a_name_is_registered_once(task: StreamTask, recorder: Recorder) -> None:
    store = task.store("store")
    assert store is not None
    with pytest.raises(ValueError, match="Store store has already been registered"):
        recorder.register(store, lambda *_: None)


# ── across a rebalance ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def created() -> list[Collection[TopicPartition]]:
    """The partitions of each task that was created."""
    return []


@pytest.fixture
def tasks(task: StreamTask, recorder: Recorder, created: list[Collection[TopicPartition]]) -> TaskManager:
    """The tasks of a thread. The only one has processed a record, which is not committed yet."""

    def create(_: TaskId, partitions: Collection[TopicPartition], __: object) -> StreamTask:
        created.append(partitions)
        return task

    standbys = StandbyTasks(lambda *_: None, recorder)  # type: ignore[arg-type]
    result = TaskManager(create, standbys, MockTime())
    result.assign({task.id: task.partitions})
    add(task, T0, [5])
    result.process()
    recorder.calls.clear()
    return result


def is_open(task: StreamTask) -> bool:
    store = task.store("store")
    assert store is not None
    return store.is_open


def test_a_task_that_is_suspended_is_committed_and_keeps_its_stores_open(
    tasks: TaskManager, task: StreamTask, recorder: Recorder
) -> None:
    tasks.suspend(commit=True)
    assert recorder.calls[-2:] == ["limit t-0 6", "commit {'t-0': 6}"]
    assert is_open(task)
    with pytest.raises(KeyError):
        tasks.task_of(T0)


def test_a_suspended_task_that_is_assigned_again_goes_on(
    tasks: TaskManager, task: StreamTask, recorder: Recorder
) -> None:
    processor = processor_of(task)
    tasks.suspend(commit=True)
    assert not processor.is_initialized
    recorder.calls.clear()
    tasks.assign({task.id: task.partitions})
    assert processor.is_initialized
    assert recorder.calls == [], "nothing is restored"
    assert tasks.task_of(T0) is task


def test_a_suspended_task_that_gets_other_partitions_is_closed_with_a_checkpoint(
    tasks: TaskManager, task: StreamTask, recorder: Recorder, created: list[Collection[TopicPartition]]
) -> None:
    """A topic of a pattern, for example, has been created or deleted: there is a new task of the same id."""
    tasks.suspend(commit=True)
    recorder.calls.clear()
    tasks.assign({task.id: frozenset({T0})})
    assert recorder.calls == ["checkpoint {'t-0': 5, 'app-store-changelog-0': 7}"]
    assert not is_open(task)
    assert created == [task.partitions, {T0}]


def test_a_task_whose_processor_cannot_be_closed_is_not_committed_when_it_is_suspended(
    tasks: TaskManager, task: StreamTask, recorder: Recorder
) -> None:
    processor_of(task).stuck = True
    with pytest.raises(StreamsError, match="failed to suspend stream tasks"):
        tasks.suspend(commit=True)
    assert not any(call.startswith("commit") for call in recorder.calls)


def test_a_task_whose_processor_cannot_be_closed_is_closed_without_commit_and_checkpoint(
    tasks: TaskManager, task: StreamTask, recorder: Recorder
) -> None:
    processor_of(task).stuck = True
    tasks.close(clean=True)
    assert set(recorder.calls) == {"flush"}
    assert not is_open(task)


def test_at_least_once_a_task_whose_commit_is_refused_keeps_its_stores(
    tasks: TaskManager, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have what their changelogs have, whoever processes the records again."""

    def refuse(_: object) -> None:
        raise CommitFailedError

    monkeypatch.setattr(recorder, "commit_sync", refuse)
    tasks.close(clean=True)
    assert recorder.calls[-1] == "checkpoint {'t-0': 5, 'app-store-changelog-0': 7}"


@pytest.mark.parametrize("clean", [False, True])
def test_standbys_are_closed_with_their_thread(tasks: TaskManager, clean: bool) -> None:
    closed: list[bool] = []
    tasks.standbys = SimpleNamespace(close=closed.append)  # type: ignore[assignment]
    tasks.close(clean)
    assert closed == [clean]


def test_active_tasks_are_created_before_standbys(recorder: Recorder) -> None:
    order: list[str] = []

    def create(task_id: TaskId, *_: object) -> Any:
        order.append("active")
        return SimpleNamespace(id=task_id, partitions=frozenset())

    standbys = StandbyTasks(lambda *_: order.append("standby"), recorder)  # type: ignore[arg-type]
    TaskManager(create, standbys, MockTime()).assign({TaskId(0, 0): frozenset()}, {TaskId(0, 1): frozenset()})
    assert order == ["active", "standby"]


def test_a_suspended_task_is_closed_with_its_thread(tasks: TaskManager, task: StreamTask, recorder: Recorder) -> None:
    tasks.suspend(commit=True)
    recorder.calls.clear()
    tasks.close(clean=True)
    assert recorder.calls == ["checkpoint {'t-0': 5, 'app-store-changelog-0': 7}"]
    assert not is_open(task)


def test_a_task_that_has_migrated_is_closed_without_a_flush_and_without_a_checkpoint(
    tasks: TaskManager, task: StreamTask, recorder: Recorder
) -> None:
    tasks.close_migrated(str(task.id))
    assert recorder.calls == []
    assert not is_open(task)
    assert tasks.requires_poll, "there is no task any more"
    with pytest.raises(KeyError):
        tasks.task_of(T0)


def test_a_directory_that_another_thread_still_has_is_tried_again_less_and_less_often(recorder: Recorder) -> None:
    time, tries = MockTime(), list[tuple[int, float]]()
    start_ms = time.hi_res_ms()

    def create(task_id: TaskId, *_: object) -> Any:
        tries.append((task_id.partition, time.hi_res_ms() - start_ms))
        if task_id.partition == 0 and len(tries) < 9:
            raise LockError("another thread has it")
        return SimpleNamespace(id=task_id, partitions=frozenset())

    standbys = StandbyTasks(lambda *_: None, recorder)  # type: ignore[arg-type]
    tasks = TaskManager(create, standbys, time)
    tasks.assign({TaskId(0, number): frozenset({T0}) for number in range(2)})
    assert tries[:2] == [(0, 0), (1, 0)], "the other task does not wait"
    assert tries[2:] == [(0, pytest.approx(at)) for at in (50, 150, 350, 750, 1550, 2550, 3550)]
    assert tasks.active.keys() == {TaskId(0, 0), TaskId(0, 1)}


def test_a_task_with_outdated_stores_is_created_once_more_without_its_standby(recorder: Recorder) -> None:
    """The standby's stores in memory are outdated, too: the new stores begin empty."""
    given: list[object] = []

    def create(task_id: TaskId, _: object, standby: object) -> Any:
        given.append(standby)
        if len(given) == 1:
            raise TaskCorruptedError(str(task_id), "its changelog begins later than the checkpoint")
        return SimpleNamespace(id=task_id, partitions=frozenset())

    standbys = StandbyTasks(lambda *_: None, recorder)  # type: ignore[arg-type]
    standbys._suspended[TaskId(0, 0)] = standby = SimpleNamespace(partitions=frozenset())  # type: ignore[assignment]
    tasks = TaskManager(create, standbys, MockTime())
    tasks.assign({TaskId(0, 0): frozenset()})
    assert given == [standby, None]
    assert tasks.active.keys() == {TaskId(0, 0)}


@pytest.fixture
def failing_flush(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise StreamsError("a result could not be sent")

    monkeypatch.setattr(recorder, "flush", fail)


def test_a_suspended_task_is_closed_with_a_checkpoint_if_others_may_have_had_its_partitions(
    tasks: TaskManager, task: StreamTask, recorder: Recorder
) -> None:
    tasks.suspend(commit=True)
    recorder.calls.clear()
    tasks.close_suspended()
    assert recorder.calls == ["checkpoint {'t-0': 5, 'app-store-changelog-0': 7}"]
    assert not is_open(task)
    tasks.assign({})
    assert len(recorder.calls) == 1, "it is closed already"


@pytest.mark.usefixtures("failing_flush")
def test_a_task_that_cannot_be_flushed_is_not_committed_when_it_is_suspended(
    tasks: TaskManager, recorder: Recorder
) -> None:
    with pytest.raises(StreamsError, match="failed to suspend stream tasks"):
        tasks.suspend(commit=True)
    assert recorder.calls == []


@pytest.mark.usefixtures("failing_flush")
def test_a_task_that_cannot_be_flushed_is_closed_without_commit_and_checkpoint(
    tasks: TaskManager, task: StreamTask, recorder: Recorder
) -> None:
    tasks.close(clean=True)
    assert recorder.calls == []
    assert not is_open(task)


def test_after_an_error_tasks_are_closed_as_they_are(tasks: TaskManager, task: StreamTask, recorder: Recorder) -> None:
    tasks.close(clean=False)
    assert recorder.calls == [], "no flush: what is in the caches is not passed on"
    assert not is_open(task)


def test_a_commit_that_the_group_refuses_does_not_end_the_thread(
    tasks: TaskManager, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next poll finds out that the group has rebalanced."""

    def refuse(_: object) -> None:
        raise CommitFailedError

    with monkeypatch.context() as patched:
        patched.setattr(recorder, "commit_sync", refuse)
        tasks.commit_all()
    tasks.commit_all()
    assert recorder.calls[-1] == "commit {'t-0': 6}", "it is tried again"


def test_a_task_whose_partitions_are_lost_is_closed_without_a_flush_of_its_caches(
    tasks: TaskManager, task: StreamTask, recorder: Recorder
) -> None:
    """Another member has gone on with the changelog. Its values are newer than those in the stores and caches here."""
    tasks.suspend(commit=False)
    assert recorder.calls == ["flush"], "only what was sent: no stores, no checkpoint"
    assert not is_open(task)
    assert tasks.prev_tasks == {task.id}


def test_a_suspended_task_that_could_not_be_committed_is_closed_without_a_checkpoint(
    tasks: TaskManager, task: StreamTask, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise CommitFailedError

    monkeypatch.setattr(recorder, "commit_sync", refuse)
    tasks.suspend(commit=True)
    assert not any(call.startswith("checkpoint") for call in recorder.calls)
    assert not is_open(task)


class Ticking(Processor[bytes, bytes]):
    """Forwards a record each ten milliseconds."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        context.schedule(10)

    def process(self, key: bytes, value: bytes) -> None:
        """Drop the record."""

    def punctuate(self, timestamp: int) -> None:
        self.context.forward(b"tick", b"%d" % timestamp)


@pytest.fixture
def ticking(recorder: Recorder) -> StreamTask:
    """A task that is punctuated, since both of its partitions have records."""
    builder = TopologyBuilder().set_application_id("app").add_source("source", "t", "u")
    task = task_of(builder.add_processor("ticks", Ticking, "source").add_sink("sink", "out", "ticks"), recorder)
    add(task, T0, [5])
    add(task, U0, [5])
    recorder.calls.clear()
    return task


def test_a_task_that_goes_on_is_not_punctuated_for_its_schedules_of_before(
    ticking: StreamTask, recorder: Recorder
) -> None:
    ticking.close_topology()
    ticking.initialize_topology()
    recorder.calls.clear()
    assert ticking.maybe_punctuate()
    assert recorder.calls == ["send out"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (StreamsError("too large"), "Exception caught in punctuate. taskId=0_0 processor=ticks"),
        (TaskMigratedError("0_0"), r"task \[0_0\] has migrated"),
    ],
)
def test_an_error_of_a_punctuation_names_the_processor_unless_the_task_has_migrated(
    ticking: StreamTask, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, error: StreamsError, message: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(recorder, "send", fail)
    with pytest.raises(type(error), match=message):
        ticking.maybe_punctuate()


def test_after_a_punctuation_there_is_no_current_node(ticking: StreamTask) -> None:
    ticking.maybe_punctuate()
    [ticks] = [node.processor for node in ticking.topology.processors if node.name == "ticks"]
    assert ticks is not None
    with pytest.raises(RuntimeError, match="the current node is unknown"):
        ticks.context.forward(b"k", b"v")
