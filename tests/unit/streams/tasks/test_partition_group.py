"""Which record is next, and what time it is."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.serialization import ByteArrayDeserializer, LongDeserializer
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.internals.topology.source_node import SourceNode
from kafka_lite.streams.processor.timestamp_extractor import (
    FailOnInvalidTimestamp,
    LogAndSkipOnInvalidTimestamp,
    TimestampExtractor,
    UsePreviousTimeOnInvalidTimestamp,
    WallclockTimestampExtractor,
)
from kafka_lite.streams.tasks.min_timestamp_tracker import MinTimestampTracker, StampedRecord
from kafka_lite.streams.tasks.partition_group import PartitionGroup
from kafka_lite.streams.tasks.punctuation_queue import PunctuationQueue
from kafka_lite.streams.tasks.record_queue import RecordQueue

T0, U0 = TopicPartition("t", 0), TopicPartition("u", 0)


def record(partition: TopicPartition, timestamp: int, offset: int = 0, value: bytes = b"v") -> ConsumerRecord:
    return ConsumerRecord(*partition, offset, timestamp, TimestampType.CREATE_TIME, b"k", value)


def queue(partition: TopicPartition, extractor: TimestampExtractor | None = None) -> RecordQueue:
    source = SourceNode("source", [partition.topic], ByteArrayDeserializer(), ByteArrayDeserializer())
    return RecordQueue(partition, source, extractor or FailOnInvalidTimestamp())


def group() -> PartitionGroup:
    return PartitionGroup({T0: queue(T0), U0: queue(U0)})


def taken(partitions: PartitionGroup) -> list[tuple[str, int, int]]:
    """Topic and timestamp of each next record, and the stream time after it."""
    result = []
    while (following := partitions.next_record()) is not None:
        result.append((following.queue.partition.topic, following.stamped.timestamp, partitions.timestamp))
    return result


def test_the_queue_with_the_least_time_is_next() -> None:
    partitions = group()
    partitions.add_raw_records(T0, [record(T0, time) for time in (1, 3, 5)])
    assert partitions.timestamp == -1, "a partition without records: the time is not known"
    partitions.add_raw_records(U0, [record(U0, time) for time in (2, 4, 6)])
    assert (partitions.timestamp, partitions.num_buffered, partitions.top_queue_size) == (1, 6, 3)
    assert taken(partitions) == [("t", 1, 2), ("u", 2, 3), ("t", 3, 4), ("u", 4, 5), ("t", 5, 5), ("u", 6, 5)]
    assert (partitions.num_buffered, partitions.top_queue_size) == (0, 0)


def test_a_queue_keeps_the_order_of_offsets_and_waits_with_its_smallest_time() -> None:
    partitions = group()
    partitions.add_raw_records(T0, [record(T0, time) for time in (9, 2, 7)])
    partitions.add_raw_records(U0, [record(U0, 4)])
    assert [(topic, time) for topic, time, _ in taken(partitions)] == [("t", 9), ("t", 2), ("u", 4), ("t", 7)]


def test_queues_of_the_same_time_take_turns() -> None:
    partitions = group()
    partitions.add_raw_records(T0, [record(T0, 5)] * 2)
    partitions.add_raw_records(U0, [record(U0, 5)] * 2)
    assert [topic for topic, _, _ in taken(partitions)] == ["t", "u", "t", "u"]


def test_cleared_queues_are_empty() -> None:
    partitions = group()
    partitions.add_raw_records(T0, [record(T0, 1)])
    partitions.clear()
    assert partitions.next_record() is None
    assert partitions.num_buffered == 0
    assert partitions.add_raw_records(T0, [record(T0, 2)]) == 1
    assert partitions.next_record() is not None


def test_a_dropped_record_does_not_hold_the_time_back() -> None:
    """It may never come again: its log can have been deleted meanwhile."""
    partitions = group()
    partitions.add_raw_records(U0, [record(U0, 9)])
    partitions.add_raw_records(T0, [record(T0, 1)])
    partitions.clear()
    partitions.add_raw_records(T0, [record(T0, 5)])
    assert partitions.timestamp == 5


# ── waiting for a partition ───────────────────────────────────────────────────────────────────────────────────────────


class Waiting:
    """A group of two partitions; the first has a record. The lag of the other is what a test says."""

    def __init__(self, max_task_idle_ms: int) -> None:
        self.lag: int | None = None
        self.asked = self.enforced = 0
        self.group = PartitionGroup({T0: queue(T0), U0: queue(U0)}, self.lag_of, max_task_idle_ms, self.on_enforced)
        self.group.add_raw_records(T0, [record(T0, 5), record(T0, 6)])

    def lag_of(self, partition: TopicPartition) -> int | None:
        assert partition == U0, "a partition with records does not matter"
        self.asked += 1
        return self.lag

    def on_enforced(self) -> None:
        self.enforced += 1

    def polled(self, lag: int | None) -> PartitionGroup:
        self.lag = lag
        self.group.update_lags()
        return self.group


def test_a_task_waits_while_the_broker_has_or_may_have_records_of_an_empty_partition() -> None:
    waiting = Waiting(max_task_idle_ms=0)
    assert not waiting.polled(None).ready_to_process(0), "nothing was fetched yet"
    assert not waiting.polled(7).ready_to_process(99_999), "however long it takes"
    assert waiting.polled(0).ready_to_process(99_999)
    assert waiting.group.ready_to_process(99_999)
    assert waiting.asked == 3, "once per poll"


def test_a_task_waits_no_longer_for_new_records_than_it_may() -> None:
    waiting = Waiting(max_task_idle_ms=100)
    assert not waiting.polled(0).ready_to_process(1000)
    assert not waiting.polled(0).ready_to_process(1099)
    assert waiting.polled(0).ready_to_process(1100)
    assert not waiting.polled(1).ready_to_process(1101), "a record has come"
    waiting.group.add_raw_records(U0, [record(U0, 4)])
    assert waiting.group.ready_to_process(1102)
    assert waiting.group.next_record() is not None
    assert not waiting.polled(0).ready_to_process(1103), "it waits from the beginning again"
    assert waiting.group.ready_to_process(1203)


def test_a_task_that_never_waits_asks_for_no_lag() -> None:
    waiting = Waiting(max_task_idle_ms=-1)
    assert waiting.polled(7).ready_to_process(0)
    assert waiting.asked == 0


def test_a_task_without_records_is_not_ready() -> None:
    waiting = Waiting(max_task_idle_ms=0)
    waiting.polled(0).clear()
    assert not waiting.group.ready_to_process(0)


def test_processing_is_enforced_only_while_a_partition_is_empty() -> None:
    waiting = Waiting(max_task_idle_ms=100)
    for lag, now_ms, enforced in [(None, 0, 0), (0, 1000, 0), (0, 1100, 1), (0, 1101, 2), (3, 1102, 2)]:
        assert waiting.polled(lag).ready_to_process(now_ms) is (enforced > 0 and lag == 0)
        assert waiting.enforced == enforced
    waiting.group.add_raw_records(U0, [record(U0, 4)])
    assert waiting.group.ready_to_process(1103)
    assert waiting.enforced == 2, "all partitions have records"


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 20)) | st.none(), max_size=60))
def test_the_next_record_is_that_of_a_plain_model(events: list[tuple[bool, int] | None]) -> None:
    """An event adds a record (topic, time) or, None, takes one. The model looks at all records each time."""
    partitions = group()
    queues: dict[TopicPartition, deque[int]] = {T0: deque(), U0: deque()}
    times = {T0: -1, U0: -1}
    waiting: list[TopicPartition] = []
    for event in [*events, *[None] * len(events)]:
        if event is not None:
            partition = T0 if event[0] else U0
            partitions.add_raw_records(partition, [record(partition, event[1])])
            if not queues[partition]:
                waiting.append(partition)
            queues[partition].append(event[1])
            times[partition] = max(times[partition], min(queues[partition]))
        elif not waiting:
            assert partitions.next_record() is None
        else:
            partition = min(waiting, key=lambda each: times[each])
            following = partitions.next_record()
            assert following is not None
            time = queues[partition].popleft()
            assert (following.queue.partition, following.stamped.timestamp) == (partition, time)
            waiting.remove(partition)
            if queues[partition]:
                waiting.append(partition)
                times[partition] = max(times[partition], min(queues[partition]))
            else:
                times[partition] = max(times[partition], time)
        assert partitions.timestamp == min(times.values())
        assert partitions.num_buffered == sum(map(len, queues.values()))


@given(st.lists(st.integers(0, 9) | st.none()))
def test_the_tracker_knows_the_smallest_of_the_queue(events: list[int | None]) -> None:
    tracker, fifo = MinTimestampTracker(), deque[StampedRecord]()
    last = -1
    for event in events:
        if event is not None:
            fifo.append(StampedRecord(record(T0, event), event))
            tracker.add(fifo[-1])
        elif fifo:
            removed = fifo.popleft()
            tracker.remove(removed)
            last = removed.timestamp if not fifo else last
        assert tracker.get() == min((each.timestamp for each in fifo), default=last)


# ── timestamps ────────────────────────────────────────────────────────────────────────────────────────────────────────


def times_of(extractor: TimestampExtractor, *timestamps: int) -> list[int]:
    records = queue(T0, extractor)
    records.add_raw_records(record(T0, timestamp) for timestamp in timestamps)
    return [records.poll().timestamp for _ in range(len(records))]


def test_invalid_timestamps() -> None:
    assert times_of(FailOnInvalidTimestamp(), 5, 3) == [5, 3]
    with pytest.raises(StreamsError, match=r"has invalid \(negative\) timestamp"):
        times_of(FailOnInvalidTimestamp(), 5, -1)
    assert times_of(LogAndSkipOnInvalidTimestamp(), 5, -1, 7) == [5, 7]
    assert times_of(UsePreviousTimeOnInvalidTimestamp(), 5, -1) == [5, 5]
    with pytest.raises(StreamsError, match="latest extracted valid timestamp is unknown"):
        times_of(UsePreviousTimeOnInvalidTimestamp(), -1)
    assert times_of(WallclockTimestampExtractor(MockTime(1000)), 5, -1) == [1000, 1000]


def test_a_record_that_cannot_be_deserialized_is_named() -> None:
    source = SourceNode("source", ["t"], ByteArrayDeserializer(), LongDeserializer())
    records = RecordQueue(T0, source, FailOnInvalidTimestamp())
    with pytest.raises(StreamsError, match="topic=t, partition=0, offset=7") as caught:
        records.add_raw_records([record(T0, 1, offset=7, value=b"short")])
    assert "5 bytes are not 8" in str(caught.value.__cause__)


# ── punctuation ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_punctuations_follow_the_first_in_their_interval() -> None:
    punctuations, node = PunctuationQueue(), ProcessorNode("node")
    punctuations.schedule(node, 100)
    seen: list[tuple[int, int]] = []

    def at(stream_time: int) -> int:
        seen.clear()
        punctuated = punctuations.may_punctuate(stream_time, lambda _, timestamp: seen.append((stream_time, timestamp)))
        assert punctuated == bool(seen)
        assert all(timestamp == stream_time for _, timestamp in seen)
        return len(seen)

    assert at(1050) == 1, "the first is due at once"
    assert at(1149) == 0
    assert at(1150) == 1
    assert at(1480) == 3, "1250, 1350 and 1450"
    assert at(1549) == 0
    assert at(1550) == 1


def test_a_punctuation_may_schedule_another() -> None:
    punctuations, first, second = PunctuationQueue(), ProcessorNode("first"), ProcessorNode("second")
    punctuations.schedule(first, 100)
    seen: list[str] = []

    def punctuate(node: ProcessorNode, timestamp: int) -> None:
        if node is first and timestamp == 10:
            punctuations.schedule(second, 50)
        seen.append(node.name)

    punctuations.may_punctuate(10, punctuate)
    assert seen == ["first", "second"]
    punctuations.may_punctuate(110, punctuate)
    assert seen == ["first", "second", "second", "first", "second"], "at 60, 110 and 110"


def test_an_interval_must_be_positive() -> None:
    with pytest.raises(ValueError, match="must be positive, not 0 ms"):
        PunctuationQueue().schedule(ProcessorNode("node"), 0)
