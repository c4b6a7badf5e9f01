"""Fakes around a task of Streams with transactions: a producer, stores and a consumer that write down what happens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_lite.common.serdes import Serdes
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.producer.producer_batch import BatchListener
from kafka_lite.streams.processor.state_store import StateRestoreCallback, StateStore
from kafka_lite.streams.processor.timestamp_extractor import FailOnInvalidTimestamp
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.record_collector_impl import RecordCollectorImpl
from kafka_lite.streams.tasks.state_manager import StateManager
from kafka_lite.streams.tasks.stream_task import StreamTask, TaskProducer
from kafka_lite.streams.tasks.streams_producer import StreamsProducer
from kafka_lite.streams.tasks.task_environment import TaskEnvironment

OUT = TopicPartition("out", 0)


class FakeProducer:
    """A transactional producer that writes down its calls. The call that is named in ``failing`` raises."""

    def __init__(self, calls: list[str]) -> None:
        self.calls = calls
        self.group = ConsumerGroupMetadata("app")
        self.failing: dict[str, Exception] = {}
        self.listeners: list[BatchListener] = []

    def _call(self, name: str, *more: object) -> None:
        self.calls.append(" ".join([name, *map(str, more)]))
        if name in self.failing:
            raise self.failing[name]

    def init_transactions(self) -> None:
        self._call("init")

    def begin_transaction(self) -> None:
        self._call("begin")

    def send_bytes(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        partition: int | None,
        timestamp: int,
        listener: BatchListener,
    ) -> None:
        del key, value, partition, timestamp
        self._call("send", topic)
        self.listeners.append(listener)
        listener.on_stored(OUT, len(self.listeners))

    def flush(self) -> None:
        self._call("flush")

    def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: ConsumerGroupMetadata
    ) -> None:
        assert group == self.group
        self._call("offsets", {str(partition): each.offset for partition, each in offsets.items()})

    def commit_transaction(self) -> None:
        self._call("commit")

    def abort_transaction(self) -> None:
        self._call("abort")

    def close(self) -> None:
        self._call("close")


class Stores(StateManager):
    """The stores of a task: only their checkpoints are written down."""

    def __init__(self, calls: list[str]) -> None:
        super().__init__()
        self._calls = calls

    def restore(self, store: StateStore, restore: StateRestoreCallback) -> None:
        raise AssertionError("the task has no stores")

    def checkpoint(self, offsets: Mapping[TopicPartition, int]) -> None:
        raise AssertionError("only a clean close writes a checkpoint")

    def put_offset_limit(self, partition: TopicPartition, limit: int) -> None:
        """Of no interest here."""

    def close(self, offsets: Mapping[TopicPartition, int] | None) -> None:
        self._calls.append("close stores without checkpoint" if offsets is None else "close stores with checkpoint")


class FakeConsumer:
    """The consumer of a thread, which commits nothing itself."""

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Of no interest here."""

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Of no interest here."""

    def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata | None]:
        return dict.fromkeys(partitions)

    def commit_sync(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        raise AssertionError("with exactly_once the producer commits offsets")

    def list_topics(self) -> dict[str, object]:
        return {"t": ()}


def copying_task(
    task_id: TaskId,
    partitions: Iterable[TopicPartition],
    producer: StreamsProducer,
    transactions: TaskProducer,
    calls: list[str],
) -> StreamTask:
    """A task that copies topic ``t`` to ``out``: it sends with ``producer`` and commits with ``transactions``."""
    builder = TopologyBuilder().set_application_id("app").add_source("source", "t").add_sink("sink", "out", "source")
    task = StreamTask(
        task_id,
        partitions,
        builder.build(0),
        TaskEnvironment("app", Serdes.byte_array(), Serdes.byte_array()),
        consumer=FakeConsumer(),
        record_collector=RecordCollectorImpl(producer, str(task_id)),
        state_manager=Stores(calls),
        timestamp_extractor=FailOnInvalidTimestamp(),
        producer=transactions,
    )
    task.initialize()
    return task


def taken(calls: list[str]) -> list[str]:
    """The calls so far, which are forgotten."""
    found = calls.copy()
    calls.clear()
    return found
