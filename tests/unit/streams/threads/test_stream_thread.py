"""A stream thread in a turn of its loop, in a rebalance and at its end, seen by its clients and its topology."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.serdes import Serde
from kafka_lite.common.serialization import ByteArrayDeserializer, ByteArraySerializer, SerializationError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import OffsetOutOfRangeError
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.consumer_record import EMPTY_RECORDS, ConsumerRecord, ConsumerRecords
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.assignment.stream_partition_assignor import STREAM_THREAD_INSTANCE, StreamsAssignorContext
from kafka_lite.streams.errors import InvalidStateStoreError, StreamsError, TaskCorruptedError, TaskMigratedError
from kafka_lite.streams.exception_handlers import LogAndContinueExceptionHandler
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.topology_builder import AutoOffsetReset, TopologyBuilder
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.threads.stream_thread import StreamThread
from kafka_lite.streams.threads.stream_thread_state import StreamThreadState

TASK, OTHER_TASK = TaskId(0, 0), TaskId(0, 1)
T0, U0 = TopicPartition("t", 0), TopicPartition("u", 0)
POLL_TAKES_MS = 10
Step = Callable[[], ConsumerRecords | None]
"""What happens in a poll: it returns records, or None if there are none."""


def records(count: int, partition: TopicPartition = T0, value: bytes = b"v") -> ConsumerRecords:
    kind = TimestampType.CREATE_TIME
    return ConsumerRecords({partition: [ConsumerRecord(*partition, n, n, kind, b"k", value) for n in range(count)]})


class Member:
    """The consumer of a thread. Each poll takes ten milliseconds and a step of the test; after the last one, the thread
    is asked to end. It is the group's assignor, too."""

    listener: ConsumerRebalanceListener

    def __init__(self, application: Application, context: StreamsAssignorContext) -> None:
        self._application = application
        self.context = context
        self.timeouts: list[float] = []
        self.lags: dict[TopicPartition, int] = {}
        self.commits: list[tuple[float, float]] = []
        """When each began and ended."""
        self.commit_takes_ms = 0

    def _note(self, call: str) -> None:
        self._application.calls.append(call)

    def subscribe(self, pattern: Any, listener: ConsumerRebalanceListener) -> None:
        self._note(f"subscribe {pattern.pattern}")
        self.listener = listener

    def unsubscribe(self) -> None:
        self._note("unsubscribe")

    def poll(self, timeout_ms: float) -> ConsumerRecords:
        self.timeouts.append(timeout_ms)
        self._application.time.sleep(POLL_TAKES_MS)
        return self._application.step() or EMPTY_RECORDS

    def assign_tasks(self, *tasks: TaskId, standby: Iterable[TaskId] = ()) -> None:
        """What the assignor notes, and the listener hears."""
        topics = self._application.topics
        self.context.active_tasks = {t: frozenset(TopicPartition(n, t.partition) for n in topics) for t in tasks}
        self.context.standby_tasks = {t: frozenset(TopicPartition(n, t.partition) for n in topics) for t in standby}
        self.context.generation += 1
        self.listener.on_partitions_assigned([])

    def revoke(self) -> None:
        self.listener.on_partitions_revoked([])

    def lose(self) -> None:
        self.listener.on_partitions_lost([])

    def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata | None]:
        return dict.fromkeys(partitions)

    def commit_sync(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        began_ms = self._application.time.hi_res_ms()
        self._application.time.sleep(self.commit_takes_ms)
        self.commits.append((began_ms, self._application.time.hi_res_ms()))
        self._note(f"commit { ({str(each): offset.offset for each, offset in offsets.items()}) }")

    def current_lag(self, partition: TopicPartition) -> int:
        return self.lags.get(partition, 0)

    def seek_to_beginning(self, partitions: Iterable[TopicPartition]) -> None:
        self._note(f"beginning of {', '.join(map(str, partitions))}")

    def seek_to_end(self, partitions: Iterable[TopicPartition]) -> None:
        self._note(f"end of {', '.join(map(str, partitions))}")

    def pause(self, _: object) -> None:
        """The queue of a task is full."""

    def resume(self, _: object) -> None:
        """It has room again."""

    def close(self) -> None:
        self._note("close consumer")
        self.revoke()  # as a consumer that leaves its group


class Restorer:
    """The consumer that restores: all changelogs are empty."""

    def __init__(self, calls: list[str]) -> None:
        self._calls = calls

    def partitions_for(self, topic: str) -> list[PartitionInfo]:
        return [PartitionInfo(topic, number, None) for number in range(2)]

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, 0)

    def position(self, _: TopicPartition) -> int:
        return 0

    def poll(self, _: float) -> ConsumerRecords:
        return EMPTY_RECORDS

    def assign(self, *_: object) -> None:
        """There is nothing to read."""

    unsubscribe = seek_to_beginning = seek = pause = resume = assign

    def close(self) -> None:
        self._calls.append("close restorer")


class Producer:
    """A producer that may be impossible to close."""

    def __init__(self, calls: list[str]) -> None:
        self._calls = calls
        self.error: Exception | None = None

    def flush(self) -> None:
        """Nothing was sent."""

    def close(self) -> None:
        self._calls.append("close producer")
        if self.error is not None:
            raise self.error


class Application:
    """A thread with a task that keeps a store in memory; it runs in the thread of the test."""

    def __init__(self, state_dir: Path, topics: Iterable[str] = "t", **configs: object) -> None:
        self.topics = tuple(topics)
        self.calls: list[str] = []
        self.states: list[StreamThreadState] = []
        self.processed: list[bytes] = []
        self.close_error: Exception | None = None
        """Of the processor."""
        self.time = MockTime()
        self.metrics = Metrics(time=self.time)
        self._steps: list[Step] = []
        builder = TopologyBuilder().set_application_id("app")
        for topic in self.topics:
            builder.add_source(topic, topic, offset_reset=AutoOffsetReset.EARLIEST if topic == "t" else None)
        builder.add_processor("processor", lambda: Noting(self), *self.topics)
        builder.add_state_store(Stores.in_memory_key_value("store"), "processor")
        given: dict[str, object] = {"application.id": "app", "bootstrap.servers": "127.0.0.1:1", "poll.ms": 100}
        config = StreamsConfig({**given, "commit.interval.ms": -1, "state.dir": str(state_dir), **configs})
        self.producer, clients = Producer(self.calls), self
        any_clients: Any = clients
        self.thread = StreamThread(
            "StreamThread-1",
            builder,
            config,
            "app",
            UUID(int=1),
            lambda _, new, __: self.states.append(new),
            lambda _, error: self.calls.append(f"error {error}"),
            self.time,
            global_stores={},
            cache_size_bytes=0,
            on_hosts=lambda _: None,
            metrics=self.metrics,
            clients=any_clients,
        )

    def get_consumer(self, config: Mapping[str, object]) -> Member:
        context = config[STREAM_THREAD_INSTANCE]
        assert isinstance(context, StreamsAssignorContext)
        self.member = Member(self, context)
        return self.member

    def get_restore_consumer(self, _: object) -> Restorer:
        return Restorer(self.calls)

    def get_producer(self, _: object) -> Producer:
        return self.producer

    def step(self) -> ConsumerRecords | None:
        step = self._steps.pop(0)
        if not self._steps:
            self.thread.initiate_shutdown()
        return step()

    def run(self, *steps: Step) -> list[str]:
        """Run the thread until all steps are taken, and return the calls of its clients."""
        self._steps = list(steps)
        self.thread.run()
        return self.calls

    def metric(self, name: str) -> float:
        [found] = [metric for key, metric in self.metrics.metrics.items() if key.name == name]
        assert isinstance(found.value, int | float)
        return found.value


class Noting(Processor[bytes, bytes]):
    """Notes the values that it processes."""

    def __init__(self, application: Application) -> None:
        self._application = application

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.store = context.get_state_store("store")

    def process(self, key: bytes, value: bytes) -> None:
        self._application.processed.append(value)

    def close(self) -> None:
        if self._application.close_error is not None:
            raise self._application.close_error


class PickyDeserializer(ByteArrayDeserializer):
    """Refuses one value."""

    def deserialize(self, topic: str, data: bytes | None) -> bytes | None:
        if data == b"bad":
            raise SerializationError(f"a bad value in {topic}")
        return super().deserialize(topic, data)


class PickySerde(Serde[bytes]):
    def __init__(self) -> None:
        super().__init__(ByteArraySerializer(), PickyDeserializer())


def raising(error: Exception) -> Step:
    def step() -> ConsumerRecords:
        raise error

    return step


def nothing() -> None:
    """A poll without records."""


# ── turns ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_next_commit_is_an_interval_after_the_end_of_the_last_one(tmp_path: Path) -> None:
    """Otherwise a thread whose commits take longer than the interval would do little else."""
    application = Application(tmp_path, **{"commit.interval.ms": 100})
    application.member.commit_takes_ms = 250
    application.run(lambda: application.member.assign_tasks(TASK), *[lambda: records(1)] * 40)
    commits = application.member.commits
    assert len(commits) > 2
    assert all(100 < began - ended <= 120 for (_, ended), (began, _) in pairwise(commits[:-1]))


def test_the_threads_of_an_instance_share_its_caches(tmp_path: Path) -> None:
    """Each has its part of the bytes, and the group's assignor knows the number of standbys."""
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


def test_a_negative_interval_commits_only_at_the_end(tmp_path: Path) -> None:
    application = Application(tmp_path)
    application.run(lambda: application.member.assign_tasks(TASK), *[lambda: records(1)] * 40)
    assert len(application.member.commits) == 1


def test_a_thread_polls_if_it_has_room_and_waits_if_it_has_nothing_to_do(tmp_path: Path) -> None:
    application = Application(tmp_path)
    member = application.member
    application.run(lambda: member.assign_tasks(TASK), lambda: records(120), *[nothing] * 3)
    assert member.timeouts == [100, 100, 0, 0, 100], "fifty records in each turn"
    assert len(application.processed) == 120


def test_a_thread_without_room_does_not_poll(tmp_path: Path) -> None:
    application = Application(tmp_path, **{"buffered.records.per.partition": 60})
    member, processed = application.member, list[int]()
    application.run(
        lambda: member.assign_tasks(TASK),
        lambda: records(120),
        lambda: processed.append(len(application.processed)),
        nothing,
    )
    assert processed == [100], "with 70 records in the queue there is no room for more"
    assert member.timeouts == [100, 100, 0, 100]


def test_records_that_wait_for_another_partition_are_tried_after_each_poll(tmp_path: Path) -> None:
    """The poll may have said that the broker has none of it."""
    application = Application(tmp_path, "tu")
    member, processed = application.member, list[int]()
    member.lags[U0] = 5

    def no_more() -> None:
        processed.append(len(application.processed))
        member.lags[U0] = 0

    application.run(lambda: member.assign_tasks(TASK), lambda: records(3), nothing, no_more, nothing)
    assert processed == [0]
    assert len(application.processed) == 3
    assert member.timeouts == [100] * 5


def test_records_that_tasks_skip_are_counted(tmp_path: Path) -> None:
    handler = LogAndContinueExceptionHandler
    configs = {"default.deserialization.exception.handler": handler, "value.serde": PickySerde}
    application = Application(tmp_path, **configs)
    skipped: list[float] = []
    application.run(
        lambda: application.member.assign_tasks(TASK),
        lambda: records(3),
        lambda: records(2, value=b"bad"),
        lambda: skipped.append(application.metric("dropped-records-total")),
        lambda: skipped.append(application.metric("skipped-records-rate")),
    )
    assert skipped[0] == 2
    assert skipped[1] > 0
    assert application.processed == [b"v"] * 3


# ── rebalances ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("missed", "stays"),
    [(-1, True), (0, True), (1, False), (-4, False)],
    ids=["the same generation", "the next one", "one was missed", "the group was new"],
)
def test_tasks_continue_only_if_nobody_else_can_have_had_their_partitions(
    tmp_path: Path, missed: int, stays: bool
) -> None:
    application = Application(tmp_path)
    member, stores = application.member, list[object]()

    def assigned_again() -> None:
        member.context.generation += missed
        member.assign_tasks(TASK)

    def note() -> None:
        stores.extend(application.thread.stores_of("store"))

    member.context.generation = 6
    application.run(lambda: member.assign_tasks(TASK), note, member_revokes(application), assigned_again, note)
    assert (stores[0] is stores[1]) is stays


def member_revokes(application: Application) -> Step:
    return lambda: application.member.revoke()


def test_no_directory_is_deleted_during_a_rebalance_or_soon_after_it(tmp_path: Path) -> None:
    """The tasks that look removed may be about to come back."""
    application = Application(tmp_path, **{"state.cleanup.delay.ms": 1000})
    member, removed = application.member, tmp_path / "app" / "7_0"
    removed.mkdir(parents=True)
    there: list[bool] = []

    def later(ms: float) -> Step:
        def step() -> None:
            there.append(removed.exists())
            application.time.sleep(ms)

        return step

    application.run(
        lambda: member.assign_tasks(TASK),
        member_revokes(application),
        later(5000),
        lambda: member.assign_tasks(TASK),
        later(900),
        later(200),
        later(0),
    )
    assert there == [True, True, True, False], "it is deleted after 1,110 of 1,000 ms"


@pytest.mark.parametrize("lost", [False, True])
def test_what_is_processed_is_committed_unless_the_partitions_are_lost(tmp_path: Path, lost: bool) -> None:
    application = Application(tmp_path)
    member = application.member
    calls: list[str] = []
    application.run(
        lambda: member.assign_tasks(TASK),
        lambda: records(3),
        lambda: member.lose() if lost else member.revoke(),
        lambda: calls.extend(application.calls),
    )
    assert calls == ["subscribe t", *([] if lost else ["commit {'t-0': 3}"])]


@pytest.mark.parametrize("lost", [False, True])
def test_an_error_in_a_rebalance_ends_the_thread_at_its_next_poll(tmp_path: Path, lost: bool) -> None:
    application = Application(tmp_path)
    application.close_error = OSError("no space left")
    member = application.member

    def rebalance() -> None:
        with pytest.raises(StreamsError, match="failed to suspend stream tasks"):
            member.lose() if lost else member.revoke()

    application.run(lambda: member.assign_tasks(TASK), lambda: records(1), rebalance, nothing)
    assert application.calls[-1] == "error stream-thread [StreamThread-1] Failed to rebalance"
    assert len(member.timeouts) == 3, "it does not poll again"


def test_stores_cannot_be_queried_while_the_thread_rebalances(tmp_path: Path) -> None:
    application = Application(tmp_path)

    def query() -> None:
        with pytest.raises(InvalidStateStoreError, match=r"store, is currently unavailable: .* is PARTITIONS_REVOKED"):
            application.thread.stores_of("store")

    application.run(lambda: application.member.assign_tasks(TASK), member_revokes(application), query)
    assert application.states[-1] is StreamThreadState.DEAD
    assert not [call for call in application.calls if call.startswith("error")]


def test_a_thread_reports_the_state_of_its_standby_tasks_and_of_its_directories(tmp_path: Path) -> None:
    """A standby in memory has no checkpoint."""
    application = Application(tmp_path)
    member, found = application.member, list[frozenset[TaskId]]()
    other = tmp_path / "app" / "7_0"
    other.mkdir(parents=True)
    (other / ".checkpoint").write_text("0\n0\n")
    application.run(
        lambda: member.assign_tasks(TASK, standby=[OTHER_TASK]),
        lambda: found.append(member.context.cached_tasks()),
    )
    assert OTHER_TASK in found[0]
    assert TaskId(7, 0) in found[0]


def test_sources_without_an_offset_begin_where_they_or_the_application_say(tmp_path: Path) -> None:
    application = Application(tmp_path, "tu", **{"auto.offset.reset": "latest"})
    application.run(raising(OffsetOutOfRangeError({T0: 7, U0: 9})), nothing)
    assert sorted(application.calls[1:3]) == ["beginning of t-0", "end of u-0"]


def test_a_source_without_any_reset_policy_ends_the_thread(tmp_path: Path) -> None:
    application = Application(tmp_path, "tu", **{"auto.offset.reset": "none"})
    application.run(raising(OffsetOutOfRangeError({U0: 7})), nothing)
    assert "input topic u (partition 0) and no valid reset policy configured" in application.calls[-1]


# ── states and errors ─────────────────────────────────────────────────────────────────────────────────────────────────

CLOSED = ["close producer", "close consumer", "close restorer"]


def test_an_error_ends_the_thread_and_is_reported_after_everything_is_closed(tmp_path: Path) -> None:
    application = Application(tmp_path)
    application.producer.error = OSError("a client that cannot be closed keeps no other open")
    application.run(
        lambda: application.member.assign_tasks(TASK), lambda: records(1), raising(ValueError("no")), nothing
    )
    assert application.calls == ["subscribe t", *CLOSED, "error no"], "nothing is committed"
    assert application.states[-2:] == [StreamThreadState.PENDING_SHUTDOWN, StreamThreadState.DEAD]
    assert not [name for name in application.metrics.metrics if name.group.startswith("stream-")]


@pytest.mark.parametrize("error", [TaskMigratedError("0_0"), TaskCorruptedError("0_0", "late")])
def test_a_thread_that_has_lost_a_task_joins_the_group_again(
    tmp_path: Path, error: TaskMigratedError | TaskCorruptedError
) -> None:
    application = Application(tmp_path)
    stores: list[object] = []
    application.run(
        lambda: application.member.assign_tasks(TASK),
        lambda: records(1),
        raising(error),
        lambda: stores.extend(application.thread.stores_of("store")),
    )
    assert application.calls == ["subscribe t", "unsubscribe", "subscribe t", *CLOSED]
    assert stores == []


def test_a_thread_that_ends_stays_on_its_way_whatever_a_rebalance_wants(tmp_path: Path) -> None:
    """Its consumer revokes the partitions when it leaves the group."""
    application = Application(tmp_path)
    application.run(lambda: application.member.assign_tasks(TASK))
    assert application.states == [
        StreamThreadState.RUNNING,
        StreamThreadState.ASSIGNING_PARTITIONS,
        StreamThreadState.RUNNING,
        StreamThreadState.PENDING_SHUTDOWN,
        StreamThreadState.DEAD,
    ]
    assert not application.thread.is_running
