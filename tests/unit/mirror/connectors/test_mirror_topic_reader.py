"""A topic is read to its end, and followed; what cannot be read is left out."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.mirror.connectors.mirror_records import MirrorRecordError
from kafka_lite.mirror.connectors.mirror_topic_reader import MirrorTopicReader
from kafka_lite.record.record import TimestampType


class LogConsumer:
    """Reads a list of keys and values, two records for each poll."""

    def __init__(self, *log: tuple[bytes | None, bytes | None]) -> None:
        self.log = list(log)
        self.partition: TopicPartition | None = None
        self.at = -1
        self.timeouts: list[float] = []
        self.error: Exception | None = None
        self.is_woken = self.is_closed = False

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        (self.partition,) = partitions

    def seek_to_beginning(self, partitions: Iterable[TopicPartition]) -> None:
        assert list(partitions) == [self.partition]
        self.at = 0

    def end_offsets(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        if self.error is not None:
            raise self.error
        return dict.fromkeys(partitions, len(self.log))

    def position(self, partition: TopicPartition) -> int:
        assert partition == self.partition
        return self.at

    def poll(self, timeout_ms: float) -> Iterable[ConsumerRecord]:
        assert self.partition is not None
        self.timeouts.append(timeout_ms)
        begin, self.at = self.at, min(self.at + 2, len(self.log))
        return [
            ConsumerRecord(*self.partition, offset, 0, TimestampType.CREATE_TIME, *self.log[offset])
            for offset in range(begin, self.at)
        ]

    def wakeup(self) -> None:
        self.is_woken = True

    def close(self) -> None:
        self.is_closed = True


def test_it_reads_to_the_end_and_then_what_comes() -> None:
    consumer, read = LogConsumer((b"a", b"1"), (b"b", b"2"), (b"c", b"3")), list[tuple[bytes, bytes]]()
    reader = MirrorTopicReader(consumer, "t", lambda key, value: read.append((key, value)))
    reader.read_to_end()
    assert consumer.partition == TopicPartition("t", 0)
    assert read == [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")]
    consumer.log.append((b"d", b"4"))
    reader.read(7)
    assert (read[3:], consumer.timeouts[-1]) == ([(b"d", b"4")], 7)
    reader.wake_up()
    reader.close()
    assert consumer.is_woken
    assert consumer.is_closed


def test_tombstones_and_records_of_others_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    read = list[bytes]()

    def consumed(key: bytes, _value: bytes) -> None:
        if key == b"bad":
            raise MirrorRecordError("version 9 is not known")
        read.append(key)

    reader = MirrorTopicReader(LogConsumer((b"a", None), (None, b"1"), (b"bad", b"2"), (b"good", b"3")), "t", consumed)
    with caplog.at_level(logging.WARNING):
        reader.read_to_end()
    assert read == [b"good"]
    assert "Ignored the record at offset 2" in caplog.text
