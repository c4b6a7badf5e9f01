"""Any records through any format and codec and back; corrupt bytes are always detected."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import increment_sequence
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder, memory_records
from kafka_lite.record.record import CorruptRecordError, Header, InvalidRecordError, Record, TimestampType
from kafka_lite.record.records import batches, records
from tests.support.examples import examples

FORMATS = [(magic, codec) for magic in (0, 1, 2) for codec in CompressionType if magic == 2 or codec.name != "ZSTD"]

maybe_bytes = st.none() | st.binary(max_size=80)

timestamps = st.integers(-1, 2**62)

headers = st.lists(st.builds(Header, st.text(max_size=5), maybe_bytes), max_size=3)

contents = st.lists(
    st.tuples(timestamps, maybe_bytes, maybe_bytes, headers, st.integers(1, 300)), min_size=1, max_size=12
)


@settings(max_examples=examples(60), deadline=None)
@given(content=contents, magic_and_codec=st.sampled_from(FORMATS), base_offset=st.integers(0, 2**40))
def test_round_trip(content: list, magic_and_codec: tuple, base_offset: int) -> None:
    magic, codec = magic_and_codec
    builder = MemoryRecordsBuilder(magic, codec, base_offset=base_offset)
    expected = []
    offset = base_offset
    for timestamp, key, value, found_headers, gap in content:
        wanted_headers = tuple(found_headers) if magic == 2 else ()
        builder.append(timestamp, key, value, wanted_headers, offset)
        kind = TimestampType.CREATE_TIME if magic else TimestampType.NO_TIMESTAMP_TYPE
        expected.append(Record(offset, timestamp if magic else -1, kind, key, value, wanted_headers))
        # Inner offsets of v1 with gaps would be read relative to the last one: compaction rebuilds them the same way.
        offset += gap
    data = builder.build()
    if codec is CompressionType.NONE:
        assert len(data) == builder.estimated_size_in_bytes
    assert list(records(memoryview(data))) == expected
    for batch in batches(data):
        assert batch.is_valid()
    last = list(batches(data))[-1]
    assert last.last_offset == expected[-1].offset
    assert next(iter(batches(data))).base_offset == base_offset
    assert max(batch.max_timestamp for batch in batches(data)) == max(record.timestamp for record in expected)


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_a_flipped_bit_after_the_offset_is_detected(magic: int, codec: CompressionType) -> None:
    data = memory_records(magic, codec, [(b"key", b"value"), (None, b"x" * 20)], timestamp=1_700_000_000_000)
    first = next(batches(data))
    outside_crc = range(12, 16) if magic == 2 else range(0)  # the broker assigns the leader epoch, too
    for position in range(8, first.size_in_bytes):
        if position in outside_crc:
            continue
        for bit in range(8):
            broken = bytearray(data[: first.size_in_bytes])
            broken[position] ^= 1 << bit
            assert not _looks_whole(bytes(broken)), f"bit {bit} of byte {position}"


def _looks_whole(data: bytes) -> bool:
    try:
        found = list(batches(data))
        for batch in found:
            batch.ensure_valid()
    except CorruptRecordError:
        return False
    return sum(batch.size_in_bytes for batch in found) == len(data)


@settings(max_examples=examples(300), deadline=None)
@given(data=st.data(), magic_and_codec=st.sampled_from(FORMATS))
def test_corrupt_bytes_raise_only_api_errors(data: st.DataObject, magic_and_codec: tuple) -> None:
    magic, codec = magic_and_codec
    broken = bytearray(memory_records(magic, codec, [(b"key", b"value" * 5), (None, None)]))
    for _ in range(data.draw(st.integers(1, 6))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    error = _error_of_reading(broken)
    assert error in (None, Errors.CORRUPT_MESSAGE, Errors.INVALID_RECORD, Errors.UNSUPPORTED_COMPRESSION_TYPE)


def _error_of_reading(data: bytearray) -> Errors | None:
    try:
        for batch in batches(data):
            batch.is_valid()
            _ = batch.base_offset, batch.last_offset, batch.timestamp_type, batch.compression, batch.record_count
            for _record in batch.records(max_bytes=1 << 16):
                pass
    except ApiError as error:
        return error.error
    return None


@given(st.binary(max_size=120))
def test_arbitrary_bytes_raise_only_api_errors(data: bytes) -> None:
    with contextlib.suppress(ApiError):
        list(records(data))


def test_only_idempotent_producers_have_an_id() -> None:
    for producer_id, has_one in [(-1, False), (0, True), (5, True)]:
        builder = MemoryRecordsBuilder(producer_id=producer_id, producer_epoch=0, base_sequence=0)
        builder.append(1, b"k", b"v")
        assert next(batches(builder.build())).has_producer_id == has_one


def test_setters_write_to_the_buffer_and_keep_the_checksum_valid() -> None:
    for magic in (1, 2):
        data = bytearray(memory_records(magic, CompressionType.GZIP, [(b"a", b"1"), (b"b", b"2")], timestamp=5))
        batch = next(batches(data))
        batch.set_last_offset(101)
        batch.set_partition_leader_epoch(7)
        batch.set_max_timestamp(TimestampType.LOG_APPEND_TIME, 99)
        again = next(batches(bytes(data)))
        assert again.is_valid()
        assert (again.base_offset, again.last_offset, again.max_timestamp) == (100, 101, 99)
        assert again.partition_leader_epoch == (7 if magic == 2 else -1)
        assert {record.timestamp for record in again.records()} == {99}
        assert again.compression is CompressionType.GZIP
        again_writable = next(batches(data))
        again_writable.set_max_timestamp(TimestampType.CREATE_TIME, 5)
        assert {record.timestamp for record in again_writable.records()} == {5}


def test_views_share_the_memory() -> None:
    data = bytearray(memory_records(2, CompressionType.NONE, [(b"k", b"v")]))
    batch = next(batches(data))
    data[-2] ^= 0xFF
    assert not batch.is_valid()


def test_a_wrong_record_count_is_invalid() -> None:
    data = bytearray(memory_records(2, CompressionType.NONE, [(b"a", b"1"), (b"b", b"2")]))
    for count, complaint in ((1, "bytes follow"), (3, "cut short"), (2**31 - 1, "cut short")):
        data[57:61] = count.to_bytes(4, "big")
        with pytest.raises(InvalidRecordError, match=complaint):
            list(records(data))


def test_sequences_wrap_around() -> None:
    assert increment_sequence(2**31 - 1, 1) == 0
    assert increment_sequence(2**31 - 2, 5) == 3
