"""The header of a batch of format v2: peeks read the same fields as a view, wherever the batch begins."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import (
    CODEC_POSITION,
    CRC_BYTES,
    CRC_POSITION,
    EXTENT_BYTES,
    RECORD_BATCH_OVERHEAD,
    DefaultRecordBatch,
    encode_batch,
    increment_sequence,
    peek_claims,
    peek_extent,
    peek_origin,
)
from kafka_lite.record.record import MAGIC_V2, NO_SEQUENCE, CorruptRecordError
from kafka_lite.record.record_batch import CODEC_MASK, LOG_OVERHEAD

i16, i32, i64 = (st.integers(-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (16, 32, 64))
encoded = st.builds(
    encode_batch,
    st.binary(max_size=20),
    base_offset=i64,
    last_offset_delta=i32,
    attributes=i16,
    base_timestamp=i64,
    max_timestamp=i64,
    producer_id=i64,
    producer_epoch=i16,
    base_sequence=i32,
    partition_leader_epoch=i32,
    record_count=i32,
)


@settings(derandomize=True)
@given(encoded, st.binary(max_size=3))
def test_peeks_read_the_fields_that_a_view_has(data: bytes, before: bytes) -> None:
    batch, length = DefaultRecordBatch(data, 0, len(data)), len(data) - LOG_OVERHEAD
    buffer, position = memoryview(before + data), len(before)
    assert peek_claims(buffer, position) == (batch.base_offset, length, MAGIC_V2, batch.attributes)
    producer = batch.producer_id, batch.producer_epoch, batch.base_sequence
    assert peek_origin(buffer, position) == (batch.attributes, *producer)
    extent = batch.base_offset, length, batch.partition_leader_epoch, batch.last_offset_delta, batch.max_timestamp
    assert peek_extent(buffer[: position + EXTENT_BYTES], position) == extent
    with pytest.raises(struct.error):
        peek_extent(buffer[: position + EXTENT_BYTES - 1], position)


@settings(derandomize=True)
@given(encoded)
def test_the_named_positions_are_those_of_the_codec_and_the_checksum(data: bytes) -> None:
    batch = DefaultRecordBatch(data, 0, len(data))
    assert data[CODEC_POSITION] & CODEC_MASK == batch.attributes & CODEC_MASK
    assert int.from_bytes(data[CRC_POSITION : CRC_POSITION + CRC_BYTES], "big") == batch.crc == batch.compute_crc()


def test_a_batch_byte_by_byte() -> None:
    data = encode_batch(
        b"records",
        base_offset=0x0102,
        last_offset_delta=0x03,
        attributes=CompressionType.ZSTD.code,
        base_timestamp=0x05,
        max_timestamp=0x06,
        producer_id=0x07,
        producer_epoch=0x08,
        base_sequence=0x09,
        partition_leader_epoch=0x0A,
        record_count=0x0B,
    )
    fields = [
        "0000000000000102", "00000038", "0000000a", "02", data[CRC_POSITION : CRC_POSITION + CRC_BYTES].hex(), "0004",
        "00000003", "0000000000000005", "0000000000000006", "0000000000000007", "0008", "00000009", "0000000b",
    ]  # fmt: skip
    assert data == bytes.fromhex("".join(fields)) + b"records"


@given(size=st.integers(0, RECORD_BATCH_OVERHEAD - 1))
def test_a_batch_smaller_than_its_header_is_corrupt(size: int) -> None:
    with pytest.raises(CorruptRecordError, match="smaller than its header"):
        DefaultRecordBatch(bytes(RECORD_BATCH_OVERHEAD), 0, size)


def test_the_last_sequence_wraps_from_the_largest_number_to_zero() -> None:
    largest = (1 << 31) - 1
    assert increment_sequence(largest, 1) == 0
    batch = encode_batch(
        b"", base_offset=0, last_offset_delta=2, attributes=0, base_timestamp=0, max_timestamp=0, producer_id=1,
        producer_epoch=0, base_sequence=largest, record_count=3,
    )  # fmt: skip
    assert DefaultRecordBatch(batch, 0, len(batch)).last_sequence == 1
    without = encode_batch(
        b"", base_offset=0, last_offset_delta=2, attributes=0, base_timestamp=0, max_timestamp=0, record_count=3
    )
    assert DefaultRecordBatch(without, 0, len(without)).last_sequence == NO_SEQUENCE
