"""Batches of kafka-python and aiokafka are read by us, and ours by them."""

from __future__ import annotations

import warnings

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords as AiokafkaRecords

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches, records

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its schemas by a deprecated function
    from kafka.record.memory_records import MemoryRecords as KafkaPythonRecords
    from kafka.record.memory_records import MemoryRecordsBuilder as KafkaPythonBuilder

FORMATS = [(magic, codec) for magic in (0, 1, 2) for codec in CompressionType if magic == 2 or codec.name != "ZSTD"]
# kafka-python reads snappy only with another library installed; aiokafka knows no lz4 of format v0.
KAFKA_PYTHON_FORMATS = [(magic, codec) for magic, codec in FORMATS if codec is not CompressionType.SNAPPY]
AIOKAFKA_FORMATS = [(magic, codec) for magic, codec in FORMATS if (magic, codec) != (0, CompressionType.LZ4)]
CONTENT = [
    (1_700_000_000_000, b"key-a", b"value" * 40, [("h1", b"x"), ("h2", None)]),
    (1_700_000_000_007, None, b"no key", []),
    (1_699_999_999_000, b"key-b", None, []),
    (1_700_000_100_000, b"", b"", [("", b"")]),
]


def content_of(magic: int) -> list[tuple]:
    return [
        (timestamp if magic else None, key, value, headers if magic == 2 else [])
        for timestamp, key, value, headers in CONTENT
    ]


def ours(magic: int, codec: CompressionType) -> bytes:
    builder = MemoryRecordsBuilder(magic, codec, base_offset=0)
    for timestamp, key, value, headers in content_of(magic):
        builder.append(-1 if timestamp is None else timestamp, key, value, headers)
    return builder.build()


def assert_ours_reads(data: bytes, magic: int, codec: CompressionType) -> None:
    for batch in batches(data):
        assert batch.is_valid()
        assert (batch.magic, batch.compression) == (magic, codec)
    found = [
        (record.timestamp if magic else None, record.key, record.value, [tuple(header) for header in record.headers])
        for record in records(data)
    ]
    assert found == content_of(magic)
    assert [record.offset for record in records(data)] == [0, 1, 2, 3]


@pytest.mark.parametrize(("magic", "codec"), KAFKA_PYTHON_FORMATS)
def test_kafka_python_reads_our_batches(magic: int, codec: CompressionType) -> None:
    theirs = KafkaPythonRecords(ours(magic, codec))
    found = []
    while theirs.has_next():
        batch = theirs.next_batch()
        assert batch.validate_crc()
        found += [(record.timestamp, record.key, record.value, list(record.headers)) for record in batch]
    assert [(*rest, [tuple(header) for header in headers]) for *rest, headers in found] == content_of(magic)


@pytest.mark.parametrize(("magic", "codec"), KAFKA_PYTHON_FORMATS)
def test_we_read_batches_of_kafka_python(magic: int, codec: CompressionType) -> None:
    builder = KafkaPythonBuilder(magic, codec.code, 1 << 20)
    for timestamp, key, value, headers in content_of(magic):
        builder.append(timestamp, key, value, headers)
    builder.close()
    assert_ours_reads(bytes(builder.buffer()), magic, codec)


@pytest.mark.parametrize(("magic", "codec"), AIOKAFKA_FORMATS)
def test_aiokafka_reads_our_batches(magic: int, codec: CompressionType) -> None:
    theirs = AiokafkaRecords(ours(magic, codec))
    found = []
    while theirs.has_next():
        batch = theirs.next_batch()
        assert batch.validate_crc()
        found += [(record.timestamp, record.key, record.value, list(record.headers)) for record in batch]
    assert found == content_of(magic)


@pytest.mark.parametrize(("magic", "codec"), AIOKAFKA_FORMATS)
def test_we_read_batches_of_aiokafka(magic: int, codec: CompressionType) -> None:
    if magic == 2:
        modern = DefaultRecordBatchBuilder(2, codec.code, 0, -1, -1, -1, 1 << 20)
        for offset, (timestamp, key, value, headers) in enumerate(content_of(magic)):
            modern.append(offset, timestamp, key, value, headers)
        data = bytes(modern.build())
    else:
        legacy = LegacyRecordBatchBuilder(magic, codec.code, 1 << 20)
        for offset, (timestamp, key, value, _headers) in enumerate(content_of(magic)):
            legacy.append(offset, timestamp, key, value)
        data = bytes(legacy.build())
    assert_ours_reads(data, magic, codec)
