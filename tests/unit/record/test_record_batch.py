"""A batch has the same questions in every format: offsets, codec, timestamps, checksum, producer."""

from __future__ import annotations

import pytest

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import CorruptRecordError, TimestampType
from kafka_lite.record.record_batch import OFFSET_AND_LENGTH, RecordBatch, sized_view
from kafka_lite.record.records import batches


def batch(magic: int, compression: CompressionType = CompressionType.GZIP, count: int = 3) -> RecordBatch:
    builder = MemoryRecordsBuilder(magic, compression, base_offset=10)
    for number in range(count):
        builder.append(100 + number, b"k", b"v%d" % number)
    (found,) = batches(bytearray(builder.build()))
    return found


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_offsets_codec_and_records_are_those_that_were_built(magic: int) -> None:
    found = batch(magic)
    assert (found.base_offset, found.last_offset, found.next_offset) == (10, 12, 13)
    assert (found.compression, found.is_compressed) == (CompressionType.GZIP, True)
    assert found.record_count == (3 if magic == 2 else None), "a wrapper does not say how many it has"
    assert [record.value for record in found.records()] == [b"v0", b"v1", b"v2"]
    assert found.max_timestamp == (-1 if magic == 0 else 102)
    assert found.timestamp_type is (TimestampType.NO_TIMESTAMP_TYPE if magic == 0 else TimestampType.CREATE_TIME)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_every_format_begins_with_offset_and_size(magic: int) -> None:
    found = batch(magic)
    offset, size = OFFSET_AND_LENGTH.unpack_from(found.view)
    assert offset == (10 if magic == 2 else 12), "a wrapper has the offset of its last message"
    assert size + OFFSET_AND_LENGTH.size == found.size_in_bytes == len(found.view)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_assigned_offsets_keep_the_checksum_valid(magic: int) -> None:
    found = batch(magic, CompressionType.NONE, 1) if magic == 0 else batch(magic)
    found.set_last_offset(50)
    found.set_partition_leader_epoch(4)
    assert found.last_offset == 50
    assert found.base_offset == (50 if magic == 0 else 48)
    found.ensure_valid()
    assert found.partition_leader_epoch == (4 if magic == 2 else -1)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_changed_byte_fails_the_checksum(magic: int) -> None:
    found = batch(magic)
    assert found.is_valid()
    found.view[-1] ^= 1
    assert not found.is_valid()
    with pytest.raises(CorruptRecordError, match=f"stored crc = {found.crc}, computed crc = .*magic {magic}"):
        found.ensure_valid()


@pytest.mark.parametrize("magic", [0, 1])
def test_old_formats_know_no_producer(magic: int) -> None:
    found = batch(magic)
    assert (found.producer_id, found.producer_epoch, found.base_sequence) == (-1, -1, -1)
    assert (found.has_producer_id, found.is_transactional, found.is_control) == (False, False, False)


def test_an_unknown_codec_is_corrupt() -> None:
    found = batch(2, CompressionType.NONE)
    found.attributes = 7
    with pytest.raises(CorruptRecordError):
        _ = found.compression


def test_a_view_of_the_whole_buffer_is_the_buffer() -> None:
    view = memoryview(b"0123456789")
    assert sized_view(view, 0, 10) is view
    assert sized_view(view, 2, 3) == b"234"
    assert sized_view(b"0123", 0, 4).obj == b"0123"
