"""Conversion between formats: what is kept, and what cannot be."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.conversion import down_convert, magic_for_fetch_version, up_convert
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import TimestampType
from kafka_lite.record.records import batches, records
from tests.support.samples import hex_sample

NONE, GZIP = CompressionType.NONE, CompressionType.GZIP


def with_holes(magic: int, codec: CompressionType) -> bytes:
    builder = MemoryRecordsBuilder(magic, codec, base_offset=10)
    for offset, timestamp in ((10, 500), (12, 700), (13, 600)):
        builder.append(timestamp, b"k%d" % offset, b"v", [("h", b"1")] if magic == 2 else (), offset)
    return builder.build()


@pytest.mark.parametrize("codec", [NONE, GZIP, CompressionType.SNAPPY, CompressionType.LZ4])
@pytest.mark.parametrize(("magic", "to_magic"), [(2, 1), (2, 0), (1, 0)])
def test_down_conversion_keeps_what_the_older_format_has(magic: int, to_magic: int, codec: CompressionType) -> None:
    converted = down_convert(with_holes(magic, codec), to_magic)
    assert {(batch.magic, batch.compression, batch.is_valid()) for batch in batches(converted)} == {
        (to_magic, codec, True)
    }
    found = list(records(converted))
    assert [(record.offset, record.key) for record in found] == [(10, b"k10"), (12, b"k12"), (13, b"k13")]
    assert [record.timestamp for record in found] == ([500, 700, 600] if to_magic else [-1, -1, -1])
    assert {record.headers for record in found} == {()}


def test_down_conversion_leaves_out_records_before_the_fetch_offset() -> None:
    data = with_holes(2, GZIP)
    assert [record.offset for record in records(down_convert(data, 1, first_offset=12))] == [12, 13]
    assert down_convert(data, 1, first_offset=14) == b""


def test_batches_in_an_old_enough_format_stay_unchanged() -> None:
    data = hex_sample("disk-v0.log.hex") + hex_sample("disk-gzip.log.hex")
    assert down_convert(data, 1) == data
    assert {batch.magic for batch in batches(down_convert(data, 0))} == {0}


def test_down_conversion_drops_markers_and_transactional_flags() -> None:
    data = hex_sample("v39-modern-1.00.log.hex")
    found = list(records(down_convert(data, 1)))
    assert [(record.offset, record.value) for record in found] == [(0, b"tv0"), (1, b"tv1"), (2, b"tv2"), (4, b"ab")]
    marker = EndTransactionMarker(ControlRecordType.COMMIT, 3).to_batch(1, 0, 5)
    assert down_convert(marker, 0) == b""
    assert down_convert(marker, 2) == marker


def test_down_conversion_keeps_log_append_time() -> None:
    builder = MemoryRecordsBuilder(2, GZIP, TimestampType.LOG_APPEND_TIME, log_append_time_ms=99)
    builder.append(1, b"a", b"")
    builder.append(2, b"b", b"")
    found = list(records(down_convert(builder.build(), 1)))
    assert {(record.timestamp, record.timestamp_type) for record in found} == {(99, TimestampType.LOG_APPEND_TIME)}


def test_zstd_cannot_be_down_converted() -> None:
    with pytest.raises(ApiError) as raised:
        down_convert(with_holes(2, CompressionType.ZSTD), 1)
    assert raised.value.error is Errors.UNSUPPORTED_COMPRESSION_TYPE


@pytest.mark.parametrize("codec", [NONE, GZIP])
@pytest.mark.parametrize(("magic", "to_magic"), [(0, 1), (0, 2), (1, 2)])
def test_up_conversion_keeps_every_record(magic: int, to_magic: int, codec: CompressionType) -> None:
    converted = up_convert(with_holes(magic, codec), to_magic)
    assert {(batch.magic, batch.compression, batch.is_valid()) for batch in batches(converted)} == {
        (to_magic, codec, True)
    }
    found = list(records(converted))
    assert [record.offset for record in found] == [10, 12, 13]
    assert [record.timestamp for record in found] == ([500, 700, 600] if magic else [-1, -1, -1])
    assert up_convert(converted, to_magic) == converted


def test_format_for_each_fetch_version() -> None:
    assert [magic_for_fetch_version(version) for version in (0, 1, 2, 3, 4, 17)] == [0, 0, 1, 1, 2, 2]
