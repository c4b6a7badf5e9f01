"""What the future of a record tells about it."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.future_record_metadata import FutureRecordMetadata
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.producer_record import RecordMetadata
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import NO_TIMESTAMP


def appended(batch: ProducerBatch, *records: tuple[bytes | None, bytes | None]) -> list[FutureRecordMetadata]:
    futures = [batch.try_append(1_000 + n, key, value, (), None) for n, (key, value) in enumerate(records)]
    return [future for future in futures if future is not None]


@pytest.fixture
def batch() -> ProducerBatch:
    return ProducerBatch(TopicPartition("t", 3), bytearray(1000), 2, CompressionType.NONE, 0)


def test_each_record_has_its_own_place_time_and_sizes(batch: ProducerBatch) -> None:
    futures = appended(batch, (b"k", b"value"), (None, b""), (b"", None))
    assert not any(future.done() for future in futures)
    batch.complete(100, NO_TIMESTAMP)
    assert [future.get(0) for future in futures] == [
        RecordMetadata("t", 3, 100, 1_000, 1, 5),
        RecordMetadata("t", 3, 101, 1_001, -1, 0),
        RecordMetadata("t", 3, 102, 1_002, 0, -1),
    ]


def test_the_brokers_time_counts_if_it_has_set_one(batch: ProducerBatch) -> None:
    futures = appended(batch, (b"k", b"v"), (b"k", b"v"))
    batch.complete(100, 5_000)
    assert [future.get(0).timestamp for future in futures] == [5_000, 5_000]


def test_without_acknowledgement_nobody_knows_the_offsets(batch: ProducerBatch) -> None:
    futures = appended(batch, (b"k", b"v"), (b"k", b"v"))
    batch.complete(-1, NO_TIMESTAMP)
    assert [(future.get(0).offset, future.get(0).has_offset) for future in futures] == [(-1, False), (-1, False)]


def test_each_record_has_its_own_error(batch: ProducerBatch) -> None:
    futures = appended(batch, (b"k", b"v"), (b"k", b"v"))
    errors = [Errors.INVALID_RECORD.exception("no key"), Errors.INVALID_RECORD.exception("another one")]
    batch.fail(lambda place: errors[place])
    assert [future.exception(0) for future in futures] == errors


def test_an_outcome_is_final(batch: ProducerBatch) -> None:
    (future,) = appended(batch, (b"k", b"v"))
    assert batch.complete(100, NO_TIMESTAMP)
    batch.fail(lambda _: Errors.REQUEST_TIMED_OUT.exception())
    assert future.get(0).offset == 100
