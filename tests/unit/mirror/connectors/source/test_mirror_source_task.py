"""Records are copied as they are, from the offset that Connect has stored; acknowledged ones become offset syncs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.headers import Header, Headers
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.metrics.mbean_server import MBeanServer
from kafka_lite.mirror.connectors.mirror_records import OffsetSync
from kafka_lite.mirror.connectors.source.mirror_source_task import MirrorSourceTask
from kafka_lite.producer.producer_record import RecordMetadata
from kafka_lite.record.record import Header as RecordHeader
from kafka_lite.record.record import TimestampType
from tests.support.mirror_clusters import BOTH
from tests.unit.mirror.connectors.source.test_offset_sync_writer import FakeProducer as SyncsProducer

A0, B1 = TopicPartition("a", 0), TopicPartition("b", 1)
PROPS = {**BOTH, "task.assigned.partitions": "a-0,b-1", "task.index": "0", "offset.lag.max": "0"}


class FakeConsumer:
    """Returns given records; an error is raised instead."""

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.configs = configs
        self.assigned: list[TopicPartition] = []
        self.positions: dict[TopicPartition, int] = {}
        self.batches: list[Sequence[ConsumerRecord] | Exception] = []
        self.is_woken = self.is_closed = False

    def assign(self, partitions: Sequence[TopicPartition]) -> None:
        self.assigned = list(partitions)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.positions[partition] = offset

    def poll(self, timeout_ms: float) -> ConsumerRecords:
        assert timeout_ms == 1000
        batch = self.batches.pop(0) if self.batches else ()
        if isinstance(batch, Exception):
            raise batch
        return ConsumerRecords({record.topic_partition: [record] for record in batch})

    def wakeup(self) -> None:
        self.is_woken = True

    def close(self) -> None:
        self.is_closed = True


class Stored:
    """The runtime's offsets. It stands for context and reader."""

    def __init__(self, *offsets: dict[str, Any] | None) -> None:
        self._offsets = list(offsets)
        self.beans = MBeanServer()

    @property
    def offset_storage_reader(self) -> Stored:
        return self

    def offsets(self, partitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        assert [(each["cluster"], each["topic"], each["partition"]) for each in partitions] == [
            ("west", "a", 0), ("west", "b", 1),
        ]  # fmt: skip
        return self._offsets


class Task:
    """A started task with its clients."""

    def __init__(self, stored: Stored | None = None, props: Mapping[str, str] | None = None) -> None:
        self.consumers: list[FakeConsumer] = []
        self.producers: list[tuple[Mapping[str, object], Syncs]] = []
        self.time = MockTime()
        self.runtime = stored or Stored(None, None)
        self.task = MirrorSourceTask(self._consumer, self._producer, self.time)  # type: ignore[arg-type]  # what it calls
        self.task.initialize(self.runtime)  # type: ignore[arg-type]
        self.task.start({**PROPS, **(props or {})})

    def _consumer(self, configs: Mapping[str, object]) -> FakeConsumer:
        self.consumers.append(FakeConsumer(configs))
        return self.consumers[-1]

    def _producer(self, configs: Mapping[str, object]) -> Syncs:
        self.producers.append((configs, Syncs()))
        return self.producers[-1][1]

    @property
    def consumer(self) -> FakeConsumer:
        return self.consumers[0]

    @property
    def syncs(self) -> list[OffsetSync]:
        return self.producers[0][1].sent


class Syncs(SyncsProducer):
    """A producer of any topic."""

    def send(self, record: Any, callback: Any = None) -> None:
        assert record.topic == "mm2-offset-syncs.east.internal"
        record.topic = "syncs"
        super().send(record, callback)


def a_record(partition: TopicPartition, offset: int, **fields: Any) -> ConsumerRecord:
    return ConsumerRecord(*partition, offset, 1000, TimestampType.CREATE_TIME, b"k", b"v")._replace(**fields)


def polled(task: Task, *records: ConsumerRecord) -> list[SourceRecord]:
    task.consumer.batches.append(records)
    return list(task.task.poll() or ())


def test_it_continues_after_the_last_copied_record() -> None:
    task = Task(Stored({"offset": 41}, None))
    assert task.consumer.assigned == [A0, B1]
    assert task.consumer.positions == {A0: 42}, "the other one begins with auto.offset.reset"
    assert task.consumer.configs["auto.offset.reset"] == "earliest"
    assert task.consumer.configs["client.id"] == "west->east|copy-0|replication-consumer"


def test_a_record_is_copied_with_all_that_it_has() -> None:
    headers = (RecordHeader("h", b"1"), RecordHeader("h", None))
    (record,) = polled(Task(), a_record(B1, 7, headers=headers))
    assert record == SourceRecord(
        topic="west.b", kafka_partition=1, key_schema=Schema.OPTIONAL_BYTES_SCHEMA, key=b"k",
        value_schema=Schema.BYTES_SCHEMA, value=b"v", timestamp=1000,
        headers=Headers([Header("h", b"1", Schema.BYTES_SCHEMA), Header("h", None, Schema.BYTES_SCHEMA)]),
        source_partition={"cluster": "west", "topic": "b", "partition": 1}, source_offset={"offset": 7},
    )  # fmt: skip


def test_a_tombstone_and_a_record_without_a_time() -> None:
    (record,) = polled(Task(), a_record(A0, 7, key=None, value=None, timestamp=-1))
    assert (record.key, record.value, record.timestamp) == (None, None, None)


@pytest.mark.parametrize("error", [WakeupError(), ApiError(Errors.NOT_LEADER_OR_FOLLOWER)])
def test_a_poll_that_fails_is_tried_again(error: Exception) -> None:
    task = Task()
    task.consumer.batches.append(error)
    assert task.task.poll() is None
    assert task.task.poll() is None, "nothing is there"
    assert len(polled(task, a_record(A0, 7))) == 1


def test_acknowledged_records_become_offset_syncs() -> None:
    task = Task()
    first, second, third = polled(task, a_record(A0, 7), a_record(B1, 9)) + polled(task, a_record(A0, 8))
    task.task.commit_record(first, RecordMetadata("west.a", 0, 100))
    task.task.commit_record(second, None)
    task.task.commit_record(third, RecordMetadata("west.a", 0, -1))
    assert task.syncs == [OffsetSync(A0, 7, 100)]


def test_the_syncs_that_wait_are_written_with_a_commit() -> None:
    task = Task(props={"offset.lag.max": "100"})
    for offset in (7, 8):
        (record,) = polled(task, a_record(A0, offset))
        task.task.commit_record(record, RecordMetadata("west.a", 0, offset))
    task.task.commit()
    assert task.syncs == [OffsetSync(A0, 7, 7), OffsetSync(A0, 8, 8)]


def test_without_offset_syncs_there_is_no_producer() -> None:
    task = Task(props={"emit.offset-syncs.enabled": "false"})
    (record,) = polled(task, a_record(A0, 7))
    task.task.commit_record(record, RecordMetadata("west.a", 0, 1))
    task.task.commit()
    task.task.stop()
    assert task.producers == []


def test_after_the_stop_nothing_is_read_or_written() -> None:
    task = Task()
    (record,) = polled(task, a_record(A0, 7))
    task.task.stop()
    assert task.consumer.is_woken
    assert task.consumer.is_closed
    assert polled(task, a_record(A0, 8)) == []
    task.task.commit_record(record, RecordMetadata("west.a", 0, 1))
    task.task.commit()
    assert task.syncs == []


def test_one_that_could_not_start_can_be_stopped() -> None:
    MirrorSourceTask().stop()


def test_the_worker_shows_what_is_copied_until_the_task_stops() -> None:
    task = Task(props={"emit.offset-syncs.enabled": "false"})
    now_ms = task.time.milliseconds()
    (record,) = polled(task, a_record(A0, 7, timestamp=now_ms - 300))
    task.time.sleep(200)
    task.task.commit_record(record, RecordMetadata("west.a", 0, 100))
    ((name, numbers),) = ((name, numbers) for name, numbers in task.runtime.beans.query().items() if name.tags)
    assert (
        str(name) == "kafka.connect.mirror:type=MirrorSourceConnector,source=west,target=east,topic=west.a,partition=0"
    )
    assert (numbers["record-age-ms"], numbers["replication-latency-ms"]) == (300, 500)
    assert (numbers["record-count"], numbers["byte-count"]) == (1, 1)
    task.task.stop()
    assert task.runtime.beans.query() == {}
