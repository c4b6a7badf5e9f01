"""A mirror's parts without a network: they write down what is called, in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_rebalance_listener import NO_LISTENER, ConsumerRebalanceListener
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.mirror.maker.mirror_maker_base_consumer import PartitionProgress
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.producer.future_record_metadata import FutureRecordMetadata, ProduceRequestResult
from kafka_lite.producer.producer_batch import Callback
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata
from kafka_lite.record.record import TimestampType

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def a_record(offset: int, partition: TopicPartition = P0, key: bytes | None = None) -> ConsumerRecord:
    """A record whose value is its offset."""
    return ConsumerRecord(*partition, offset, 1000 + offset, TimestampType.CREATE_TIME, key, b"%d" % offset)


class FakeProducer:
    """A KafkaProducer whose records complete at the flush, or fail: ``failures`` has the error for a value."""

    def __init__(self, calls: list[str]) -> None:
        self.calls = calls
        self.failures: dict[bytes, Exception] = {}
        self.stored: list[ProducerRecord] = []
        self._pending: list[tuple[ProducerRecord, Callback | None]] = []
        self.closed_after_ms: float | str | None = "open"

    def send(self, record: ProducerRecord, callback: Callback | None = None) -> FutureRecordMetadata:
        self.calls.append(f"send {record.value.decode()}")
        self._pending.append((record, callback))
        result = ProduceRequestResult(TopicPartition(record.topic, 0))
        error = self.failures.get(record.value)
        result.set(0, -1, None if error is None else lambda _place: error)
        result.done()
        return FutureRecordMetadata(result, 0, -1, -1, -1)

    def flush(self) -> bool:
        self.calls.append("flush")
        pending, self._pending = self._pending, []
        for record, callback in pending:
            error = self.failures.get(record.value)
            if error is None:
                self.stored.append(record)
            if callback is not None:
                callback(RecordMetadata(record.topic, 0, 0) if error is None else None, error)
        return True

    def close(self, timeout_ms: float | None = None) -> None:
        self.calls.append("close producer")
        self.closed_after_ms = timeout_ms


class FakeConsumer:
    """A MirrorMakerBaseConsumer of a script: records, errors to raise, or something to call; then it has no data."""

    def __init__(
        self, calls: list[str], script: Sequence[ConsumerRecord | Exception | Callable[[], object]] = ()
    ) -> None:
        self.calls = calls
        self.script = list(script)
        self.commit_errors: list[Exception] = []
        self.init_error: Exception | None = None
        self.cleanup_error: Exception | None = None
        self.commit_requested = False
        self.has_data = True
        self.received = 0

    def init(self) -> None:
        self.calls.append("init")
        if self.init_error is not None:
            raise self.init_error

    def receive(self) -> ConsumerRecord:
        while self.script:
            step = self.script.pop(0)
            if isinstance(step, Exception):
                raise step
            if isinstance(step, ConsumerRecord):
                self.received += 1
                return step
            step()
        raise ConsumerTimeoutError("no message")

    def commit(self) -> None:
        self.calls.append(f"commit {self.received}")
        if self.commit_errors:
            raise self.commit_errors.pop(0)

    def forget_missing_topics(self) -> None:
        self.calls.append("forget missing topics")

    def notify_commit(self) -> None:
        self.calls.append("notify")
        self.commit_requested = False

    def stop(self) -> None:
        self.calls.append("stop")

    def cleanup(self) -> None:
        self.calls.append("cleanup")
        if self.cleanup_error is not None:
            raise self.cleanup_error

    def progress(self) -> Sequence[PartitionProgress]:
        return [PartitionProgress(P0, self.received, None)]


class FakeKafkaConsumer:
    """A KafkaConsumer that returns given batches, one for each poll."""

    def __init__(self, *batches: Sequence[ConsumerRecord]) -> None:
        self.batches = list(batches)
        self.committed: list[dict[TopicPartition, int]] = []
        self.commit_error: Exception | None = None
        self.topics: dict[str, object] = {"t": ()}
        self.lag: int | None = None
        self.pattern: re.Pattern[str] | None = None
        self.listener: ConsumerRebalanceListener = NO_LISTENER
        self.woken = self.closed = False

    def subscribe(self, topics: re.Pattern[str], listener: ConsumerRebalanceListener) -> None:
        self.pattern, self.listener = topics, listener

    def poll(self, timeout_ms: float) -> ConsumerRecords:
        assert timeout_ms == 1000
        records: dict[TopicPartition, list[ConsumerRecord]] = {}
        for record in self.batches.pop(0) if self.batches else ():
            records.setdefault(record.topic_partition, []).append(record)
        return ConsumerRecords(records)

    def commit_sync(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        if self.commit_error is not None:
            raise self.commit_error
        assert {each.metadata for each in offsets.values()} <= {""}
        self.committed.append({partition: each.offset for partition, each in offsets.items()})

    def list_topics(self) -> Mapping[str, object]:
        return self.topics

    def current_lag(self, partition: TopicPartition) -> int | None:
        return self.lag

    def wakeup(self) -> None:
        self.woken = True

    def close(self) -> None:
        self.closed = True
