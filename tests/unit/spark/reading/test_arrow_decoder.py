from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql.pandas.types import to_arrow_schema

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record import encode_record
from kafka_lite.record.default_record_batch import encode_batch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import CorruptRecordError, Header, InvalidRecordError, Record, TimestampType
from kafka_lite.record.records import batches
from kafka_lite.record.varint import encode_varint
from kafka_lite.spark.reading.arrow_decoder import ArrowDecoder, arrow_schema
from kafka_lite.spark.schema import spark_schema
from tests.support.examples import examples

TP = TopicPartition("flights", 3)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EVERYTHING = (0, 1 << 62)

MAYBE_BYTES = st.none() | st.binary(max_size=200)
HEADERS = st.lists(st.tuples(st.text(max_size=5), MAYBE_BYTES), max_size=4)
# Datetimes end in 9999; there must be room for deltas in both directions.
TIMESTAMPS = st.integers(-1, 200_000_000_000_000)
RECORDS = st.lists(st.tuples(TIMESTAMPS, MAYBE_BYTES, MAYBE_BYTES, HEADERS), min_size=1, max_size=30)


def decode(encoded: bytes, begin: int = 0, end: int = 1 << 62, include_headers: bool = True) -> list[dict[str, Any]]:
    decoded = ArrowDecoder(TP, include_headers).decode(batches(encoded), begin, end)
    rows: list[dict[str, Any]] = []
    for batch in decoded:
        batch.validate(full=True)
        assert batch.num_rows > 0
        rows += batch.to_pylist()
    return rows


def row(record: Record) -> dict[str, Any]:
    """What Spark shows of a record."""
    return {
        "key": record.key,
        "value": record.value,
        "topic": TP.topic,
        "partition": TP.partition,
        "offset": record.offset,
        "timestamp": EPOCH + timedelta(milliseconds=record.timestamp),
        "timestampType": int(record.timestamp_type),
        "headers": [{"key": key, "value": value} for key, value in record.headers] or None,
    }


def rows_one_by_one(encoded: bytes) -> list[dict[str, Any]]:
    """The same through the record package, which makes an object of every record."""
    return [row(record) for batch in batches(encoded) for record in batch.records()]


def build(records: list[Any], base_offset: int = 0, **settings: Any) -> bytes:
    builder = MemoryRecordsBuilder(base_offset=base_offset, **settings)
    for timestamp, key, value, headers in records:
        builder.append(timestamp, key, value, [Header(*header) for header in headers] if builder.magic == 2 else ())
    return builder.build()


@settings(deadline=None)  # the first example of a codec loads the codec
@given(RECORDS, st.sampled_from(CompressionType), st.integers(0, 1 << 40))
def test_a_batch_decodes_to_the_appended_records(records: list[Any], codec: CompressionType, base_offset: int) -> None:
    rows = decode(build(records, base_offset, compression=codec))
    expected = [
        row(Record(base_offset + index, timestamp, TimestampType.CREATE_TIME, key, value, tuple(headers)))
        for index, (timestamp, key, value, headers) in enumerate(records)
    ]
    assert rows == expected


@settings(deadline=None)
@given(st.lists(RECORDS, min_size=1, max_size=5), st.integers(0, 120), st.integers(0, 120))
def test_several_batches_decode_to_the_requested_offsets_only(groups: list[list[Any]], begin: int, length: int) -> None:
    encoded, offset = b"", 7
    for index, records in enumerate(groups):
        kind = TimestampType.LOG_APPEND_TIME if index % 2 else TimestampType.CREATE_TIME
        encoded += build(records, offset, timestamp_type=kind, log_append_time_ms=1_000 + index)
        offset += len(records) + index  # a gap, as compaction leaves it
    expected = [row for row in rows_one_by_one(encoded) if begin <= row["offset"] < begin + length]
    assert decode(encoded, begin, begin + length) == expected


@given(RECORDS, st.sampled_from([codec for codec in CompressionType if codec is not CompressionType.ZSTD]))
@settings(max_examples=examples(50), deadline=None)
@pytest.mark.parametrize("magic", [0, 1])
def test_formats_before_v2_are_decoded(magic: int, records: list[Any], codec: CompressionType) -> None:
    encoded = build(records, 5, magic=magic, compression=codec) + build(records[:1], 100)
    rows = decode(encoded)
    assert rows == rows_one_by_one(encoded)
    assert {row["timestampType"] for row in rows[:-1]} == {-1 if magic == 0 else 0}


def test_records_removed_by_compaction_leave_gaps() -> None:
    builder = MemoryRecordsBuilder(base_offset=100)
    for offset in (100, 103, 250):
        builder.append(0, b"k", b"v", offset=offset)
    encoded = builder.build(last_offset=300)
    assert [row["offset"] for row in decode(encoded)] == [100, 103, 250]
    assert [row["offset"] for row in decode(encoded, 101, 250)] == [103]


@pytest.mark.parametrize("codec", [CompressionType.NONE, CompressionType.GZIP])
def test_a_batch_emptied_by_compaction_has_no_rows(codec: CompressionType) -> None:
    empty = raw_batch(b"", 0, base_offset=4, codec=codec)
    assert decode(empty) == []
    assert [row["offset"] for row in decode(empty + build([(0, None, b"v", [])], 8))] == [8]


def test_no_batches_give_no_rows() -> None:
    assert decode(b"") == []


@pytest.mark.parametrize("include_headers", [False, True])
def test_the_schema_is_the_one_that_spark_derives(include_headers: bool) -> None:
    expected = to_arrow_schema(spark_schema(include_headers), timezone="UTC")
    assert arrow_schema(include_headers).equals(expected)
    (decoded,) = ArrowDecoder(TP, include_headers).decode(batches(build([(0, b"k", b"v", [("h", b"x")])])), *EVERYTHING)
    assert decoded.schema.equals(expected)


def test_a_header_key_that_is_not_utf_8_gets_replacement_characters() -> None:
    data = encode_record(0, 0, None, b"v", (Header("a", b"1"), Header("é", None)))
    data = data.replace("é".encode(), b"\xff\xfe")
    assert decode(raw_batch(data, 1))[0]["headers"] == [
        {"key": "a", "value": b"1"},
        {"key": "\ufffd\ufffd", "value": None},
    ]


def test_large_batches_become_several_arrow_batches() -> None:
    one_megabyte = build([(0, None, bytes(1 << 20), [])], 0)
    encoded = b"".join(build([(0, None, bytes(1 << 20), [])], offset) for offset in range(20))
    decoded = list(ArrowDecoder(TP, False).decode(batches(encoded), *EVERYTHING))
    assert len(one_megabyte) < 2 << 20
    assert 1 < len(decoded) < 20
    assert [offset for batch in decoded for offset in batch["offset"].to_pylist()] == list(range(20))


def raw_batch(
    data: bytes, record_count: int, base_offset: int = 0, codec: CompressionType = CompressionType.NONE
) -> bytes:
    return encode_batch(
        data, base_offset=base_offset, last_offset_delta=max(record_count - 1, 0), attributes=codec.code,
        record_count=record_count, producer_id=-1, producer_epoch=-1, base_sequence=-1, partition_leader_epoch=-1,
        base_timestamp=0, max_timestamp=0,
    )  # fmt: skip


def record(body: bytes) -> bytes:
    return encode_varint(len(body)) + body


GOOD = encode_record(0, 0, b"key", b"value", (Header("h", b"x"),))
NULLS = encode_varint(-1) * 2

LIES = {
    "more records than there are": (GOOD, 2),
    "fewer records than there are": (GOOD * 2, 1),
    "a count that would fill the memory": (GOOD, 0x7FFFFFFF),
    "a negative count": (GOOD, -1),
    "a record longer than the batch": (encode_varint(500) + GOOD[1:], 1),
    "a record of negative length": (encode_varint(-1) + GOOD, 2),
    "a key longer than its record": (record(b"\0\0\0" + encode_varint(100) + b"k") + GOOD * 10, 11),
    "a value longer than the batch": (record(b"\0\0\0" + encode_varint(-1) + encode_varint(1 << 29) + b"v"), 1),
    "a varint without end": (record(b"\0" + b"\xff" * 20), 1),
    "a length without end": (b"\xff" * 30, 1),
    "no bytes for the fields": (record(b"\0") * 5, 5),
    "a negative number of headers": (record(b"\0\0\0" + NULLS + encode_varint(-1)), 1),
    "more headers than fit": (record(b"\0\0\0" + NULLS + encode_varint(1 << 30)), 1),
    "a header without a key": (record(b"\0\0\0" + NULLS + encode_varint(1) + NULLS), 1),
}


@pytest.mark.parametrize("lie", LIES)
def test_bytes_that_are_no_records_are_rejected(lie: str) -> None:
    data, count = LIES[lie]
    with pytest.raises((InvalidRecordError, CorruptRecordError)):
        decode(raw_batch(data, count))


def test_wrong_record_counts_of_two_batches_that_add_up_are_rejected() -> None:
    with pytest.raises(InvalidRecordError, match="record counts"):
        decode(raw_batch(GOOD, 2) + raw_batch(GOOD * 3, 2, base_offset=2))


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(-2, 50), st.booleans())
def test_arbitrary_bytes_are_decoded_or_rejected(data: bytes, count: int, include_headers: bool) -> None:
    with suppress(InvalidRecordError, CorruptRecordError):
        decode(raw_batch(data, count), include_headers=include_headers)


@settings(deadline=None)
@given(RECORDS, st.data())
def test_a_changed_byte_is_decoded_or_rejected(records: list[Any], data: st.DataObject) -> None:
    encoded = bytearray(build(records))
    position = data.draw(st.integers(61, len(encoded) - 1))
    encoded[position] ^= data.draw(st.integers(1, 255))
    # OverflowError: Spark has years beyond 9999, but the datetime that this test reads has none.
    with suppress(InvalidRecordError, CorruptRecordError, OverflowError):
        decode(bytes(encoded))


@pytest.mark.parametrize("magic", [1, 2])
def test_a_timestamp_that_spark_cannot_represent_is_refused(magic: int) -> None:
    builder = MemoryRecordsBuilder(magic)
    nanoseconds = 1_500_000_000_000_000_000
    builder.append(0, None, b"v")
    builder.append(nanoseconds, None, b"v")
    with pytest.raises(InvalidRecordError, match=f"timestamp of offset 1 of flights-3, {nanoseconds}, is beyond"):
        decode(builder.build())
    assert [row["offset"] for row in decode(builder.build(), 0, 1)] == [0]  # it only matters where it is read


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_record_without_a_timestamp_has_the_last_moment_before_1970(magic: int) -> None:
    builder = MemoryRecordsBuilder(magic)
    builder.append(-1, None, b"v")
    (only,) = decode(builder.build())
    assert only["timestamp"] == EPOCH - timedelta(milliseconds=1)
    assert only["timestampType"] == (-1 if magic == 0 else 0)
