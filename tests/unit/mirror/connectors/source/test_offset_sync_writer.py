"""Offset syncs that are due are written at once, the others with the next commit; at most ten are on their way."""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.mirror_records import OffsetSync
from kafka_lite.mirror.connectors.source.offset_sync_writer import MAX_OUTSTANDING, OffsetSyncWriter
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
Sent = Callable[[RecordMetadata | None, Exception | None], None]


class FakeProducer:
    """Keeps what it is sent, until the test acknowledges it."""

    def __init__(self) -> None:
        self.sent: list[OffsetSync] = []
        self.callbacks: list[Sent] = []
        self.refusal: Exception | None = None
        self.is_closed = False

    def send(self, record: ProducerRecord, callback: Sent | None = None) -> None:
        if self.refusal is not None:
            raise self.refusal
        assert (record.topic, record.partition) == ("syncs", 0)
        assert callback is not None
        self.sent.append(OffsetSync.decode(record.key, record.value))
        self.callbacks.append(callback)

    def acknowledge(self, error: Exception | None = None) -> None:
        while self.callbacks:
            self.callbacks.pop()(None, error)

    def close(self, timeout_ms: float | None = None) -> None:
        self.is_closed = timeout_ms is not None


def a_writer(max_offset_lag: int = 100) -> tuple[OffsetSyncWriter, FakeProducer]:
    producer = FakeProducer()
    return OffsetSyncWriter(producer, "syncs", max_offset_lag), producer


def test_the_first_record_has_a_sync_and_the_last_one_with_the_commit() -> None:
    writer, producer = a_writer()
    for offset in range(5):
        writer.record_copied(T0, offset, offset + 10)
    assert producer.sent == [OffsetSync(T0, 0, 10)]
    writer.promote_delayed()
    assert producer.sent[1:] == [OffsetSync(T0, 4, 14)]
    writer.promote_delayed()
    assert len(producer.sent) == 2, "nothing was copied since"


def test_a_sync_that_is_due_replaces_the_one_that_waits() -> None:
    writer, producer = a_writer()
    for upstream, downstream in ((0, 0), (1, 1), (9, 2)):
        writer.record_copied(T0, upstream, downstream)
    writer.promote_delayed()
    assert producer.sent == [OffsetSync(T0, 0, 0), OffsetSync(T0, 9, 2)]


def test_too_many_wait_and_only_the_last_sync_of_a_partition_does() -> None:
    writer, producer = a_writer(max_offset_lag=0)
    for number in range(MAX_OUTSTANDING):
        writer.record_copied(T0, number, number)
    writer.record_copied(T0, MAX_OUTSTANDING, MAX_OUTSTANDING)
    writer.record_copied(T1, 7, 7)
    writer.record_copied(T1, 8, 8)
    assert len(producer.sent) == MAX_OUTSTANDING
    producer.acknowledge()
    writer.fire_pending()
    assert producer.sent[MAX_OUTSTANDING:] == [OffsetSync(T0, MAX_OUTSTANDING, MAX_OUTSTANDING), OffsetSync(T1, 8, 8)]


def test_a_producer_that_fails_does_not_use_up_the_ten() -> None:
    writer, producer = a_writer(max_offset_lag=0)
    producer.refusal = TimeoutError("no metadata")
    for number in range(2 * MAX_OUTSTANDING):
        writer.record_copied(T0, number, number)
    producer.refusal = None
    for number in range(MAX_OUTSTANDING):
        writer.record_copied(T0, number, number)
    producer.acknowledge(TimeoutError("no answer"))
    writer.record_copied(T1, 0, 0)
    assert producer.sent[-1] == OffsetSync(T1, 0, 0)


def test_nothing_is_sent_after_the_end() -> None:
    writer, producer = a_writer()
    writer.record_copied(T0, 0, 0)
    writer.record_copied(T0, 1, 1)
    writer.close()
    writer.promote_delayed()
    assert producer.is_closed
    assert len(producer.sent) == 1
