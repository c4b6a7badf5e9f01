"""What is validated before the locks is the same, byte for byte, as what is validated under them."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.validation.log_validator import LogValidator
from kafka_lite.log.validation.prepared_records import (
    LONG_BYTES,
    MIN_PREPARED_BYTES,
    PreparedRecords,
    is_long,
    prepare,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.message_set import encode_message

NOW_MS = 1_700_000_000_000
CLIENT = AppendOrigin.CLIENT
CODECS = [CompressionType.NONE, CompressionType.GZIP, CompressionType.LZ4]


def records(magic: int, codec: CompressionType, size: int = 50, count: int = 3_000) -> bytes:
    values = [(b"k%d" % number, bytes([number % 251]) * size) for number in range(count)]
    return memory_records(magic, codec, values, timestamp=NOW_MS - 5)


def properties(result: Any) -> dict[str, Any]:
    names = {name for name in dir(result) if not name.startswith("_")} - {"records", "batch"}
    return {name: getattr(result, name) for name in names if not callable(getattr(result, name))}


@pytest.mark.parametrize("settings", [{}, {"message.timestamp.type": "LogAppendTime"}, {"compression.type": "lz4"}])
@pytest.mark.parametrize("to_magic", ["0.10.0", "0.11.0"])
@pytest.mark.parametrize(("magic", "codec"), list(itertools.product([0, 1, 2], CODECS)))
def test_prepared_records_are_those_of_an_append(
    magic: int, codec: CompressionType, to_magic: str, settings: dict[str, str]
) -> None:
    config = LogConfig({"message.format.version": to_magic, "max.message.bytes": 10_000_000, **settings})
    data = records(magic, codec)
    prepared = prepare(bytearray(data), config, NOW_MS, CLIENT)
    assert isinstance(prepared, PreparedRecords)
    assert prepared.now_ms == NOW_MS
    found = prepared.at(90, 4)
    expected = LogValidator.for_log(config).validate(bytearray(data), 90, NOW_MS, 4, CLIENT)
    assert bytes(found.records) == bytes(expected.records)
    assert properties(found) == properties(expected)
    assert (found.batch is None) is (expected.batch is None)
    if found.batch is not None and expected.batch is not None:
        assert (found.batch.base_offset, found.batch.partition_leader_epoch) == (90, 4)


def test_without_timestamps_no_offset_has_the_largest_one() -> None:
    config = LogConfig({"message.format.version": "0.11.0"})
    prepared = prepare(bytearray(records(0, CompressionType.GZIP)), config, NOW_MS, CLIENT)
    assert isinstance(prepared, PreparedRecords)
    assert prepared.at(7, 1).offset_of_max_timestamp == -1


def test_sets_of_the_oldest_format_are_left_to_the_append() -> None:
    data = bytearray(records(0, CompressionType.GZIP))
    assert prepare(data, LogConfig({"message.format.version": "0.9.0"}), NOW_MS, CLIENT) is data


def test_what_is_refused_is_refused_before_the_locks() -> None:
    corrupt = bytearray(records(2, CompressionType.GZIP))
    corrupt[-1] ^= 1
    with pytest.raises(ApiError) as caught:
        prepare(corrupt, LogConfig(), NOW_MS, CLIENT)
    assert caught.value.error is Errors.CORRUPT_MESSAGE


def wrapper(magic: int, size: int) -> bytes:
    return encode_message(magic, 0, 1, 1, None, gzip.compress(bytes(size)))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (records(2, CompressionType.NONE, 10, 10), False),
        (records(2, CompressionType.NONE, LONG_BYTES - 100, 1), False),
        (records(2, CompressionType.NONE, LONG_BYTES, 1), True),
        (records(2, CompressionType.GZIP, 4, 1000)[:2000], False),
        (records(2, CompressionType.GZIP, 50, 10_000), True),
        (records(2, CompressionType.LZ4, 50, 10_000), True),
        (records(2, CompressionType.SNAPPY, 50, 1_000), False),
        (records(2, CompressionType.ZSTD, 50, 3_000), True),
        (records(2, CompressionType.ZSTD, 1, 1), False),
        (records(1, CompressionType.NONE, 10, 100), False),
        (records(1, CompressionType.NONE, 100, LONG_BYTES // 100), True),
        (records(0, CompressionType.GZIP, 50, 1000), True),
        (wrapper(1, 100_000)[:MIN_PREPARED_BYTES], False),
        (b"", False),
    ],
)
def test_what_takes_long_is_prepared(data: bytes, expected: bool) -> None:
    assert is_long(data) is expected
    if data and not expected:
        assert prepare(data, LogConfig(), NOW_MS, CLIENT) is data


@pytest.fixture
def log(tmp_path: Path) -> Log:
    time = MockTime()
    return Log(tmp_path / "t-0", LogConfig({"max.message.bytes": 10_000_000}), 0, MockScheduler(time), time)


def test_a_log_appends_what_is_prepared_behind_what_has_come_meanwhile(log: Log) -> None:
    prepared = prepare(bytearray(records(2, CompressionType.GZIP)), log.config, NOW_MS, CLIENT)
    log.append_as_leader(bytearray(records(2, CompressionType.NONE, 5, 4)), 3)
    info = log.append_as_leader(prepared, 3)
    assert (info.first_offset, info.last_offset, info.last_leader_epoch, log.log_end_offset) == (4, 3003, 3, 3004)
    log.append_as_leader(bytearray(records(2, CompressionType.NONE, 5, 1)), 3)
    found = log.read(4, 1 << 20).records.to_bytes()
    assert int.from_bytes(found[:8], "big") == 4
