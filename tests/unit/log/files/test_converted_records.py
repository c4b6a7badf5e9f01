"""Records in an older format: as many batches as one response may cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.log.files.converted_records import (
    MAX_CONVERTED_BYTES,
    MAX_EXPANDED_BYTES,
    begins_with_newer,
    converted_records,
)
from kafka_lite.log.files.file_message_set import FileMessageSet
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.conversion import down_convert
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record_batch import MAGIC_POSITION
from kafka_lite.record.records import batches

NONE, GZIP, ZSTD = CompressionType.NONE, CompressionType.GZIP, CompressionType.ZSTD
NOW = 1_700_000_000_000


def batch(
    base_offset: int, count: int, codec: CompressionType = NONE, value: bytes = b"value", magic: int = 2
) -> bytes:
    builder = MemoryRecordsBuilder(magic, codec, base_offset=base_offset)
    for _ in range(count):
        builder.append(NOW, b"key", value)
    return builder.build()


def converted(directory: Path, data: bytes, *, first_offset: int = 0, size: int | None = None) -> bytes:
    file = FileMessageSet(directory / "0.log")
    file.append(data)
    return converted_records(file.read(0, len(data) if size is None else size), 1, first_offset)


def test_a_batch_that_is_cut_off_is_left_out(tmp_path: Path) -> None:
    data = batch(0, 3) + batch(3, 200)
    assert converted(tmp_path, data + batch(203, 3), size=len(data) + 30) == down_convert(data, 1)


def test_a_response_ends_after_a_megabyte(tmp_path: Path) -> None:
    whole, third = batch(0, 1, value=bytes(MAX_CONVERTED_BYTES)), batch(2, 1)
    assert converted(tmp_path, whole + batch(1, 1) + third) == down_convert(whole, 1)
    (tmp_path / "0.log").unlink()
    half = batch(0, 1, value=bytes(MAX_CONVERTED_BYTES // 2)) + batch(1, 1, value=bytes(MAX_CONVERTED_BYTES // 2))
    assert converted(tmp_path, half + third) == down_convert(half, 1)


def test_a_response_ends_after_four_megabytes_that_were_compressed_well(tmp_path: Path) -> None:
    """Their conversion is work, and memory, though hardly anything is sent."""
    bombs = [batch(number, 1, GZIP, value=bytes(MAX_EXPANDED_BYTES // 2)) for number in range(3)]
    assert converted(tmp_path, b"".join(bombs)) == down_convert(b"".join(bombs[:2]), 1)


@pytest.mark.parametrize("size", [12, 17, 60, 200])
def test_an_incomplete_first_batch_becomes_the_start_of_a_message_of_a_known_format(tmp_path: Path, size: int) -> None:
    data = batch(7, 1, value=b"x" * 500)
    sent = converted(tmp_path, data, first_offset=7, size=size)
    if size <= MAGIC_POSITION:
        assert sent == b""
    else:
        assert sent == data[:12] + bytes(size - 12)  # offset, size, and a magic that the consumer knows


@pytest.mark.parametrize(("magic", "newest", "newer"), [(2, 1, True), (2, 2, False), (1, 0, True), (0, 0, False)])
def test_begins_with_newer_needs_the_magic_byte(tmp_path: Path, magic: int, newest: int, newer: bool) -> None:
    file = FileMessageSet(tmp_path / "0.log")
    file.append(batch(0, 1, magic=magic))
    assert begins_with_newer(file.read(0, MAGIC_POSITION + 1), newest) is newer
    assert not begins_with_newer(file.read(0, MAGIC_POSITION), newest), "the magic byte is missing"


def test_records_before_the_fetch_offset_are_left_out(tmp_path: Path) -> None:
    data = batch(0, 3) + batch(3, 3) + batch(6, 3)
    sent = converted(tmp_path, data, first_offset=4)
    assert sent == down_convert(data, 1, 4)
    assert next(batches(sent)).last_offset == 4


def test_batches_of_old_formats_are_sent_unchanged(tmp_path: Path) -> None:
    old = batch(0, 3, magic=1) + batch(3, 1, GZIP, magic=1)
    data = old + batch(4, 2)
    sent = converted(tmp_path, data)
    assert sent.startswith(old)
    assert sent == down_convert(data, 1)


def test_zstd_cannot_be_down_converted(tmp_path: Path) -> None:
    with pytest.raises(ApiError) as refused:
        converted(tmp_path, batch(0, 3, ZSTD))
    assert refused.value.error is Errors.UNSUPPORTED_COMPRESSION_TYPE


def test_the_response_ends_before_a_batch_that_cannot_be_converted(tmp_path: Path) -> None:
    good = batch(0, 1, value=b"x" * 500)
    assert converted(tmp_path, good + batch(1, 300, ZSTD, value=b"x" * 500)) == down_convert(good, 1)


@pytest.mark.parametrize("codec", [NONE, GZIP])
def test_small_batches_come_all(tmp_path: Path, codec: CompressionType) -> None:
    data = b"".join(batch(10 * number, 10, codec) for number in range(50))
    assert converted(tmp_path, data) == down_convert(data, 1)


def test_without_records_there_is_nothing(tmp_path: Path) -> None:
    assert converted(tmp_path, batch(0, 3), first_offset=3) == b""
