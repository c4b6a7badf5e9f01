"""A recorded run of Streams: which record of two partitions a task processes next. Book 9.1.3."""

from __future__ import annotations

from collections.abc import Callable

from kafka_learn.recording.recorded_run import Detail, Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.watches import watch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.processor.internals.topology.source_node import SourceNode
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.tasks.record_queue import RecordQueue
from kafka_lite.streams.tasks.stream_task import StreamTask
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

TIMES = {"orders": (9, 2, 7), "prices": (4,)}
"""The timestamps of the records of each topic, in the order of their offsets."""


def _topology() -> TopologyBuilder:
    """One sub-topology reads both topics, so one task has partition 0 of both."""
    builder = TopologyBuilder()
    for topic in TIMES:
        builder.add_source(topic, topic)
    return builder.add_sink("merged", "merged", *TIMES)


def next_record() -> RecordedRun:
    """All records wait before the first one is processed. Then the queue with the least time gives the next one."""
    watches = [
        *watch(StreamTask.add_records, show=_added),
        *watch(RecordQueue.poll, show=(), who=_queue),
        _watch_time(),
        *watch(SourceNode.process, show=lambda call: {"record": call.argument("value").decode()}, who="source node"),
        *watch(StreamTask.commit, StreamTask.flush_state, StreamTask.commit_offsets, show=()),
    ]
    with (
        Recording(watches, title="Which record is next", paused=True) as recording,
        TopologyTestDriver(_topology()) as driver,
    ):
        (task,) = set(driver._tasks.values())
        with recording.running():
            for topic, times in TIMES.items():
                records = [_record(topic, offset, time) for offset, time in enumerate(times)]
                task.add_records(TopicPartition(topic, 0), records)
            while task.process():
                pass
            task.commit()
    queues = (f"queue {topic}-0" for topic in TIMES)
    return recording.run.recorded_in(__name__, "next_record", lanes=("StreamTask", *queues, "source node"))


def _record(topic: str, offset: int, time: int) -> ConsumerRecord:
    return ConsumerRecord(topic, 0, offset, time, TimestampType.CREATE_TIME, b"", f"{topic} {time}".encode())


# ── what is watched ───────────────────────────────────────────────────────────────────────────────────────────────────


def _added(call: Call) -> Detail:
    times = " ".join(str(record.timestamp) for record in call.argument("records"))
    return {"partition": str(call.argument("partition")), "times": times}


def _queue(call: Call) -> str:
    return f"queue {call.subject.partition}"


def _watch_time() -> Watch:
    """The changes of a queue's time."""

    def before(call: Call) -> None:
        call.scratch = call.subject.timestamp
        call.hold_place()

    def after(call: Call) -> None:
        old, new = call.scratch, call.subject.timestamp
        if old != new:
            call.emit(Kind.STATE, _queue(call), f"time of {call.subject.partition}", {"before": old, "after": new})

    return Watch.of(RecordQueue._advance, before, after)


RUNS: dict[str, Callable[[], RecordedRun]] = {"next-record": next_record}
