"""Messages of v0 and v1: wrappers and their inner messages, damaged ones, and those of old clients."""

from __future__ import annotations

import zlib

import pytest

from kafka_lite.common.errors import ApiError
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.message_set import MessageAndOffset, encode_message
from kafka_lite.record.record import CorruptRecordError, InvalidRecordError, TimestampType
from kafka_lite.record.records import batch_at, batches, records


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


@pytest.mark.parametrize("magic", [3, 5, 127, 128, 255])
def test_an_unknown_magic_is_corrupt(magic: int) -> None:
    data = bytearray(memory_records(1, CompressionType.NONE, [(b"k", bytes(100))]))
    data[16] = magic
    with pytest.raises(CorruptRecordError, match="magic"):
        batch_at(data, 0, len(data))


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


def test_a_message_byte_by_byte() -> None:
    data = encode_message(1, 7, 0, 258, b"k", None)
    assert (
        data.hex(" ", 1)
        == (
            "00 00 00 00 00 00 00 07 "  # offset
            "00 00 00 17 "  # size of the rest
            f"{zlib.crc32(data[16:]).to_bytes(4).hex(' ')} "
            "01 00 "  # magic, attributes
            "00 00 00 00 00 00 01 02 "  # timestamp
            "00 00 00 01 6b "  # key
            "ff ff ff ff"  # value: null
        )
    )
    old = encode_message(0, 7, 0, 258, b"k", None)
    assert old[18:] == data[26:], "v0 has no timestamp"


def test_an_offset_is_assigned_without_a_new_checksum() -> None:
    message = MessageAndOffset(bytearray(encode_message(1, 0, 0, 5, None, b"v")), 0, 35)
    message.set_last_offset(9)
    assert (message.base_offset, message.last_offset, message.next_offset) == (9, 9, 10)
    message.ensure_valid()


def test_the_brokers_time_is_written_with_a_new_checksum() -> None:
    data = bytearray(encode_message(1, 0, 0, 5, None, b"v"))
    before = MessageAndOffset(data, 0, len(data)).crc
    MessageAndOffset(data, 0, len(data)).set_max_timestamp(TimestampType.LOG_APPEND_TIME, 77)
    message = MessageAndOffset(data, 0, len(data))
    message.ensure_valid()
    assert message.crc != before
    assert (message.timestamp_type, message.max_timestamp) == (TimestampType.LOG_APPEND_TIME, 77)
    assert [record.timestamp for record in message.records()] == [77]


def test_v0_has_neither_time_nor_epoch() -> None:
    data = bytearray(encode_message(0, 0, 0, 5, None, b"v"))
    before = bytes(data)
    message = MessageAndOffset(data, 0, len(data))
    message.set_max_timestamp(TimestampType.LOG_APPEND_TIME, 77)
    message.set_partition_leader_epoch(3)
    assert data == before
    assert message.timestamp_type is TimestampType.NO_TIMESTAMP_TYPE
    assert message.max_timestamp == -1
