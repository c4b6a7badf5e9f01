"""Records in, one batch out: what the builder refuses, and what a batch keeps."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder, memory_records
from kafka_lite.record.record import TimestampType
from kafka_lite.record.records import batches, records

FORMATS = [(magic, codec) for magic in (0, 1, 2) for codec in CompressionType if magic == 2 or codec.name != "ZSTD"]


def test_an_emptied_batch_keeps_its_range_and_producer() -> None:
    builder = MemoryRecordsBuilder(
        base_offset=10, producer_id=5, producer_epoch=1, base_sequence=3, delete_horizon_ms=777
    )
    (batch,) = batches(builder.build(last_offset=14))
    assert isinstance(batch, DefaultRecordBatch)
    assert batch.is_valid()
    assert (batch.base_offset, batch.last_offset, batch.record_count) == (10, 14, 0)
    assert (batch.last_sequence, batch.delete_horizon_ms) == (7, 777)
    assert list(batch.records()) == []
    assert MemoryRecordsBuilder().build() == b""


def test_a_batch_whose_end_was_compacted_away_keeps_its_last_offset() -> None:
    builder = MemoryRecordsBuilder(base_offset=10, producer_id=5, producer_epoch=1, base_sequence=0)
    builder.append(1, b"k", b"v", offset=12)
    (batch,) = batches(builder.build(last_offset=19))
    assert [record.offset for record in batch.records()] == [12]
    assert (batch.base_offset, batch.last_offset) == (10, 19)


@pytest.mark.parametrize("timestamp", [-2, 2**63])
def test_the_builder_rejects_impossible_timestamps(timestamp: int) -> None:
    with pytest.raises(ApiError) as raised:
        MemoryRecordsBuilder().append(timestamp, None, b"")
    assert raised.value.error is Errors.INVALID_TIMESTAMP


def test_the_builder_rejects_features_that_old_formats_lack() -> None:
    with pytest.raises(ApiError, match="no headers"):
        MemoryRecordsBuilder(1).append(1, None, b"", [("h", b"")])
    with pytest.raises(ApiError, match="v2"):
        MemoryRecordsBuilder(1, CompressionType.ZSTD)
    with pytest.raises(ApiError, match="producer ids"):
        MemoryRecordsBuilder(1, producer_id=1)
    builder = MemoryRecordsBuilder(base_offset=5)
    builder.append(1, None, b"")
    with pytest.raises(ApiError, match="follows 5"):
        builder.append(1, None, b"", offset=5)


def test_log_append_time_applies_to_all_records() -> None:
    for magic, codec in FORMATS:
        builder = MemoryRecordsBuilder(magic, codec, TimestampType.LOG_APPEND_TIME, log_append_time_ms=50)
        builder.append(1, b"a", b"")
        builder.append(2, b"b", b"")
        expected = (50, TimestampType.LOG_APPEND_TIME) if magic else (-1, TimestampType.NO_TIMESTAMP_TYPE)
        assert {(record.timestamp, record.timestamp_type) for record in records(builder.build())} == {expected}


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("compression", [CompressionType.NONE, CompressionType.GZIP])
def test_offsets_count_up_and_may_have_gaps(magic: int, compression: CompressionType) -> None:
    builder = MemoryRecordsBuilder(magic, compression, base_offset=7)
    assert builder.append(1, None, b"a") == 7
    assert builder.append(1, None, b"b", offset=10) == 10
    assert builder.append(1, None, b"c") == 11
    with pytest.raises(ApiError, match="Offset 11 follows 11"):
        builder.append(1, None, b"d", offset=11)
    assert [record.offset for record in records(builder.build())] == [7, 10, 11]


def test_the_first_record_with_the_largest_timestamp_is_known() -> None:
    builder = MemoryRecordsBuilder(base_offset=5)
    for timestamp in (3, 9, 9, 1):
        builder.append(timestamp, None, b"v")
    assert (builder.max_timestamp, builder.offset_of_max_timestamp) == (9, 6)
    assert (builder.record_count, builder.last_offset) == (4, 8)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_the_estimated_size_is_that_of_a_batch_without_compression(magic: int) -> None:
    plain, packed = MemoryRecordsBuilder(magic), MemoryRecordsBuilder(magic, CompressionType.GZIP)
    for builder in (plain, packed):
        for number in range(50):
            builder.append(1, b"%d" % number, b"v" * 40)
    assert plain.estimated_size_in_bytes == len(plain.build())
    assert packed.estimated_size_in_bytes >= plain.estimated_size_in_bytes > len(packed.build())


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_nothing_in_nothing_out(magic: int) -> None:
    assert MemoryRecordsBuilder(magic, CompressionType.GZIP).build() == b""


def test_a_batch_carries_its_producer_and_its_flags() -> None:
    builder = MemoryRecordsBuilder(
        producer_id=7, producer_epoch=1, base_sequence=40, is_transactional=True, partition_leader_epoch=3
    )
    builder.append(1, None, b"v")
    (batch,) = batches(builder.build())
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (7, 1, 40)
    assert (batch.is_transactional, batch.is_control, batch.partition_leader_epoch) == (True, False, 3)


@pytest.mark.parametrize("magic", [0, 1])
def test_pairs_become_a_set_of_messages_with_one_timestamp(magic: int) -> None:
    data = memory_records(magic, CompressionType.GZIP, [(b"k", b"v"), (None, None)], timestamp=9, base_offset=3)
    expected = -1 if magic == 0 else 9
    assert [(r.offset, r.timestamp, r.key, r.value) for r in records(data)] == [
        (3, expected, b"k", b"v"),
        (4, expected, None, None),
    ]
