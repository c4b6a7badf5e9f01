"""Fetched records are measured without being decoded."""

from __future__ import annotations

import pytest

from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import MAGIC_V0, MAGIC_V1, MAGIC_V2, CorruptRecordError


def records(magic: int, codec: CompressionType, base_offset: int = 5) -> bytes:
    builder = MemoryRecordsBuilder(magic, codec, base_offset=base_offset)
    for number in range(3):
        builder.append(1_500_000_000_000, b"k", b"v%d" % number)
    return builder.build()


@pytest.mark.parametrize("magic", [MAGIC_V0, MAGIC_V1, MAGIC_V2])
def test_a_truncated_batch_does_not_count(magic: int) -> None:
    whole, cut = records(magic, CompressionType.GZIP), records(magic, CompressionType.GZIP, base_offset=8)[:-1]
    fetched = FetchedRecords(whole + cut)
    assert fetched.size_in_bytes == len(whole) + len(cut)
    assert (fetched.valid_bytes, fetched.next_offset) == (len(whole), 8)
    assert [batch.next_offset for batch in fetched.batches()] == [8]


@pytest.mark.parametrize("magic", [MAGIC_V0, MAGIC_V1])
def test_without_a_codec_each_message_is_a_batch(magic: int) -> None:
    whole = records(magic, CompressionType.NONE)
    fetched = FetchedRecords(whole[:-1])
    assert (fetched.valid_bytes, fetched.next_offset) == (len(whole) * 2 // 3, 7)
    assert [batch.next_offset for batch in fetched.batches()] == [6, 7]


@pytest.mark.parametrize("data", [b"", b"\0" * 16, records(MAGIC_V1, CompressionType.NONE)[:20]])
def test_no_complete_batch(data: bytes) -> None:
    fetched = FetchedRecords(data)
    assert (fetched.valid_bytes, fetched.next_offset, list(fetched.batches())) == (0, None, [])


def test_an_impossible_size_is_corrupt() -> None:
    with pytest.raises(CorruptRecordError, match="less than the minimum"):
        _ = FetchedRecords(b"\0" * 40).valid_bytes


@pytest.mark.parametrize("magic", [-1, 3])
def test_a_last_batch_of_unknown_magic_is_corrupt(magic: int) -> None:
    data = bytearray(records(MAGIC_V2, CompressionType.NONE))
    data[16:17] = magic.to_bytes(1, "big", signed=True)
    with pytest.raises(CorruptRecordError, match="magic"):
        _ = FetchedRecords(data).next_offset


def test_a_last_batch_that_is_shorter_than_its_header_is_corrupt() -> None:
    data = bytearray(records(MAGIC_V2, CompressionType.NONE)[:40])
    data[8:12] = (40 - 12).to_bytes(4, "big")
    with pytest.raises(CorruptRecordError, match="smaller than its header"):
        _ = FetchedRecords(data).next_offset
