"""Any records through any format and codec and back; corrupt bytes are always detected."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import DefaultRecordBatch, increment_sequence
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder, memory_records
from kafka_lite.record.record import CorruptRecordError, Header, InvalidRecordError, Record, TimestampType
from kafka_lite.record.records import batch_at, batch_size, batches, records, valid_bytes

FORMATS = [(magic, codec) for magic in (0, 1, 2) for codec in CompressionType if magic == 2 or codec.name != "ZSTD"]

maybe_bytes = st.none() | st.binary(max_size=80)
timestamps = st.integers(-1, 2**62)
headers = st.lists(st.builds(Header, st.text(max_size=5), maybe_bytes), max_size=3)
contents = st.lists(
    st.tuples(timestamps, maybe_bytes, maybe_bytes, headers, st.integers(1, 300)), min_size=1, max_size=12
)


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=300, deadline=None)
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


def test_iteration_ends_at_an_incomplete_batch() -> None:
    whole = memory_records(2, CompressionType.NONE, [(b"k", b"v")])
    for cut in range(1, len(whole)):
        assert valid_bytes(whole + whole[:cut]) == len(whole)
    assert valid_bytes(whole * 3) == 3 * len(whole)


@pytest.mark.parametrize("size", [0, 13, -1, -(2**31)])
def test_an_impossible_size_is_corrupt(size: int) -> None:
    data = bytes(8) + size.to_bytes(4, "big", signed=True) + bytes(30)
    with pytest.raises(CorruptRecordError, match="less than the minimum"):
        list(batches(data))


def test_sizes_above_the_limit_are_corrupt() -> None:
    data = memory_records(2, CompressionType.NONE, [(b"k", bytes(200))])
    assert batch_size(data, 0, len(data)) == len(data)
    with pytest.raises(CorruptRecordError, match="exceeds"):
        list(batches(data, max_message_bytes=100))


def test_a_key_or_value_of_another_length_than_the_message_is_corrupt() -> None:
    message = memory_records(1, CompressionType.NONE, [(b"key", b"value")])
    at_value = len(message) - len(b"value")
    for length, said in [
        (4, "1 bytes follow the value"),
        (6, "Key or value of 6 bytes in 5"),
        (-2, "Key or value of -2"),
    ]:
        data = message[: at_value - 4] + length.to_bytes(4, "big", signed=True) + message[at_value:]
        with pytest.raises(CorruptRecordError, match=said):
            next(batches(data)).key_and_value()  # type: ignore[attr-defined]
    cut = message[: at_value - 2]
    cut = cut[:8] + (len(cut) - 12).to_bytes(4, "big") + cut[12:]
    with pytest.raises(CorruptRecordError, match="ends before the length"):
        next(batches(cut)).key_and_value()  # type: ignore[attr-defined]


def test_only_idempotent_producers_have_an_id() -> None:
    for producer_id, has_one in [(-1, False), (0, True), (5, True)]:
        builder = MemoryRecordsBuilder(producer_id=producer_id, producer_epoch=0, base_sequence=0)
        builder.append(1, b"k", b"v")
        assert next(batches(builder.build())).has_producer_id == has_one


@pytest.mark.parametrize("magic", [3, 5, 127, 128, 255])
def test_an_unknown_magic_is_corrupt(magic: int) -> None:
    data = bytearray(memory_records(1, CompressionType.NONE, [(b"k", bytes(100))]))
    data[16] = magic
    with pytest.raises(CorruptRecordError, match="magic"):
        batch_at(data, 0, len(data))


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


def test_wrappers_of_old_librdkafka_with_offset_zero() -> None:
    wrapper = next(batches(bytearray(memory_records(1, CompressionType.GZIP, [(None, b"a"), (None, b"b")]))))
    wrapper.set_last_offset(0)
    assert [record.offset for record in wrapper.records()] == [0, 1]


def test_a_wrapper_offset_below_the_inner_ones_is_invalid() -> None:
    data = memory_records(1, CompressionType.GZIP, [(None, b"a"), (None, b"b"), (None, b"c")])
    wrapper = next(batches(bytearray(data)))
    wrapper.set_last_offset(1)
    with pytest.raises(InvalidRecordError, match="Wrapper offset 1"):
        list(wrapper.records())


def _wrapper(inner: bytes, codec: CompressionType = CompressionType.GZIP) -> bytes:
    from kafka_lite.record.compression import compress
    from kafka_lite.record.message_set import encode_message

    return encode_message(1, 0, codec.code, 5, None, compress(codec, inner, 1))


@pytest.mark.parametrize(
    ("inner", "complaint"),
    [
        (b"", "holds no messages"),
        (memory_records(0, CompressionType.NONE, [(None, b"x")]), "holds one of magic 0"),
        (memory_records(1, CompressionType.GZIP, [(None, b"x")]), "codec 1"),
        (memory_records(1, CompressionType.NONE, [(None, b"x")])[:-1], "are left"),
        (memory_records(1, CompressionType.NONE, [(None, b"x")]) + b"12345", "ends with 5 bytes"),
    ],
)
def test_a_wrapper_with_invalid_content_is_rejected(inner: bytes, complaint: str) -> None:
    with pytest.raises(ApiError, match=complaint):
        list(records(_wrapper(inner)))


def test_a_wrapper_without_a_value_and_one_with_zstd() -> None:
    from kafka_lite.record.message_set import encode_message

    with pytest.raises(InvalidRecordError, match="without a value"):
        list(records(encode_message(1, 0, 1, 5, None, None)))
    with pytest.raises(ApiError, match="zstd"):
        list(records(_wrapper(memory_records(1, CompressionType.NONE, [(None, b"x")]), CompressionType.ZSTD)))


def test_a_wrong_record_count_is_invalid() -> None:
    data = bytearray(memory_records(2, CompressionType.NONE, [(b"a", b"1"), (b"b", b"2")]))
    for count, complaint in ((1, "bytes follow"), (3, "cut short"), (2**31 - 1, "cut short")):
        data[57:61] = count.to_bytes(4, "big")
        with pytest.raises(InvalidRecordError, match=complaint):
            list(records(data))


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


def test_sequences_wrap_around() -> None:
    assert increment_sequence(2**31 - 1, 1) == 0
    assert increment_sequence(2**31 - 2, 5) == 3


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
