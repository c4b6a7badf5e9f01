"""Every field type on the wire: bytes drawn by hand, read and written; and the bytes that are refused."""

from __future__ import annotations

import struct
import uuid
from typing import Any

import pytest

from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.protocol import wire_types
from kafka_lite.protocol.schema import (
    Message,
    Struct,
    array,
    boolean,
    bytes_,
    float64,
    int8,
    int16,
    int32,
    int64,
    nested,
    records_,
    string,
    uuid_,
)
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.varint import read_unsigned_varint, unsigned_varint
from kafka_lite.protocol.versions import NO_VERSIONS, Versions
from kafka_lite.protocol.wire_types import Array, Field, Primitive, RawTaggedField, Sized, StructType, minimum_size

PLAIN, COMPACT = 0, 1
"""The two versions of the messages below."""


class Bool(Message, versions="0-1", flexible="1"):
    value: bool = boolean()


class Int8(Message, versions="0-1", flexible="1"):
    value: int = int8()


class Int16(Message, versions="0-1", flexible="1"):
    value: int = int16()


class Int32(Message, versions="0-1", flexible="1"):
    value: int = int32()


class Int64(Message, versions="0-1", flexible="1"):
    value: int = int64()


class Float64(Message, versions="0-1", flexible="1"):
    value: float = float64()


class Uuid(Message, versions="0-1", flexible="1"):
    value: uuid.UUID = uuid_()


class String(Message, versions="0-1", flexible="1"):
    value: str = string()


class NullableString(Message, versions="0-1", flexible="1"):
    value: str | None = string(nullable="0+", default=None)


class Bytes(Message, versions="0-1", flexible="1"):
    value: bytes = bytes_()


class NullableBytes(Message, versions="0-1", flexible="1"):
    value: bytes | None = bytes_(nullable="0+", default=None)


class Records(Message, versions="0-1", flexible="1"):
    value: Any = records_()


class Numbers(Message, versions="0-1", flexible="1"):
    value: list[int] = array(int32)


class NullableNumbers(Message, versions="0-1", flexible="1"):
    value: list[int] | None = array(int32, nullable="0+", default=None)


class Strings(Message, versions="0-1", flexible="1"):
    value: list[str] = array(string)


class Uuids(Message, versions="0-1", flexible="1"):
    value: list[uuid.UUID] = array(uuid_)


class Pair(Struct):
    name: str = string()
    number: int = int16()


class Pairs(Message, versions="0-1", flexible="1"):
    value: list[Pair] = array(Pair)


class OnePair(Message, versions="0-1", flexible="1"):
    value: Pair = nested(Pair)


DIGITS = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
DIGITS_HEX = "00112233445566778899aabbccddeeff"

# Class, value, its bytes in version 0, and in version 1 without the count of tagged fields at the end.
DRAWN = [
    (Bool, True, "01", "01"),
    (Bool, False, "00", "00"),
    (Int8, 127, "7f", "7f"),
    (Int8, -128, "80", "80"),
    (Int16, 0x0102, "0102", "0102"),
    (Int16, -1, "ffff", "ffff"),
    (Int32, 0x01020304, "01020304", "01020304"),
    (Int32, -(2**31), "80000000", "80000000"),
    (Int64, 0x0102030405060708, "0102030405060708", "0102030405060708"),
    (Int64, -2, "fffffffffffffffe", "fffffffffffffffe"),
    (Float64, 1.5, "3ff8000000000000", "3ff8000000000000"),
    (Float64, -0.0, "8000000000000000", "8000000000000000"),
    (Uuid, DIGITS, DIGITS_HEX, DIGITS_HEX),
    (Uuid, ZERO_UUID, "00" * 16, "00" * 16),
    (String, "", "0000", "01"),
    (String, "ab", "0002 6162", "03 6162"),
    (String, "\u4e2d", "0003 e4b8ad", "04 e4b8ad"),
    (String, "x" * 200, "00c8" + "78" * 200, "c901" + "78" * 200),
    (NullableString, None, "ffff", "00"),
    (NullableString, "", "0000", "01"),
    (Bytes, b"", "00000000", "01"),
    (Bytes, b"\0\xff", "00000002 00ff", "03 00ff"),
    (NullableBytes, None, "ffffffff", "00"),
    (NullableBytes, b"x", "00000001 78", "02 78"),
    (Records, None, "ffffffff", "00"),
    (Records, b"", "00000000", "01"),
    (Records, b"batch", "00000005 6261746368", "06 6261746368"),
    (Numbers, [], "00000000", "01"),
    (Numbers, [1, -1], "00000002 00000001 ffffffff", "03 00000001 ffffffff"),
    (NullableNumbers, None, "ffffffff", "00"),
    (NullableNumbers, [], "00000000", "01"),
    (Strings, ["a", ""], "00000002 0001 61 0000", "03 02 61 01"),
    (Uuids, [DIGITS], "00000001" + DIGITS_HEX, "02" + DIGITS_HEX),
    (Pairs, [Pair(name="a", number=5)], "00000001 0001 61 0005", "02 02 61 0005 00"),
    (OnePair, Pair(name="a", number=5), "0001 61 0005", "02 61 0005 00"),
]


@pytest.mark.parametrize(("message", "value", "plain", "compact"), DRAWN)
def test_a_value_has_the_drawn_bytes(message: Any, value: object, plain: str, compact: str) -> None:
    assert message(value=value).encode(PLAIN) == bytes.fromhex(plain)
    assert message(value=value).encode(COMPACT) == bytes.fromhex(compact) + b"\0"


@pytest.mark.parametrize(("message", "value", "plain", "compact"), DRAWN)
def test_the_drawn_bytes_are_read_to_their_end(message: Any, value: object, plain: str, compact: str) -> None:
    for version, data in ((PLAIN, bytes.fromhex(plain)), (COMPACT, bytes.fromhex(compact) + b"\0")):
        decoded, position = message.decode_from(b"??" + data + b"more", 2, version)
        assert decoded.value == value
        assert position == 2 + len(data)


@pytest.mark.parametrize(("message", "value", "plain", "compact"), DRAWN)
def test_bytes_that_end_too_early_are_refused(message: Any, value: object, plain: str, compact: str) -> None:
    for version, data in ((PLAIN, bytes.fromhex(plain)), (COMPACT, bytes.fromhex(compact) + b"\0")):
        for length in range(min(len(data), 40)):
            with pytest.raises(SchemaError, match=f"{message.__name__} v{version}"):
                message.decode(data[:length], version)


def test_every_byte_but_zero_is_true() -> None:
    assert Bool.decode(b"\x02", PLAIN).value is True
    assert Bool.decode(b"\xff", PLAIN).value is True


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_numbers_beyond_their_type_are_refused(bits: int) -> None:
    message: Any = {8: Int8, 16: Int16, 32: Int32, 64: Int64}[bits]
    for value in (2 ** (bits - 1) - 1, -(2 ** (bits - 1))):
        assert message.decode(message(value=value).encode(PLAIN), PLAIN).value == value
    for value in (2 ** (bits - 1), -(2 ** (bits - 1)) - 1):
        with pytest.raises(SchemaError, match=rf"Int{bits} v0: .*message\.value"):
            message(value=value).encode(PLAIN)


@pytest.mark.parametrize(
    ("message", "plain", "compact"),
    [(String, "ffff", "00"), (Bytes, "ffffffff", "00"), (Numbers, "ffffffff", "00"), (Pairs, "ffffffff", "00")],
)
def test_null_is_refused_where_the_type_has_none(message: Any, plain: str, compact: str) -> None:
    for version, data in ((PLAIN, plain), (COMPACT, compact + "00")):
        with pytest.raises(SchemaError, match="value is null, or has the length -1"):
            message.decode(bytes.fromhex(data), version)
        with pytest.raises(SchemaError, match=f"{message.__name__} v{version}"):
            message(value=None).encode(version)


@pytest.mark.parametrize("message", [NullableString, NullableBytes, Records, NullableNumbers])
def test_any_negative_length_is_null_where_null_is_allowed(message: Any) -> None:
    lowest = b"\x80\x00" if message is NullableString else b"\x80\x00\x00\x00"
    assert message.decode(lowest, PLAIN).value is None


@pytest.mark.parametrize(
    ("message", "data", "claimed"),
    [
        (String, "0003 6162", 3),
        (NullableString, "7fff 6162", 0x7FFF),
        (Bytes, "00000003 6162", 3),
        (NullableBytes, "7fffffff 6162", 0x7FFFFFFF),
        (Records, "00000003 6162", 3),
        (Numbers, "00000001 6162", 1),
        (NullableNumbers, "7fffffff 6162", 0x7FFFFFFF),
        (Strings, "00000002 6162", 2),
        (Uuids, "00000001 6162", 1),
        (Pairs, "00000001 6162", 1),
    ],
)
def test_a_length_beyond_the_end_is_refused_before_anything_is_read(message: Any, data: str, claimed: int) -> None:
    with pytest.raises(SchemaError, match=f"value claims {claimed}, with 2 bytes left in the frame"):
        message.decode(bytes.fromhex(data), PLAIN)


def test_a_compact_length_beyond_the_end_is_refused() -> None:
    for message in (String, NullableString, Bytes, NullableBytes, Records):
        with pytest.raises(SchemaError, match="value claims 3, with 2 bytes left in the frame"):
            message.decode(bytes.fromhex("04 6162"), COMPACT)
    for message in (Numbers, Strings, Uuids, Pairs):
        with pytest.raises(SchemaError, match="value claims 254, with 1 bytes left in the frame"):
            message.decode(bytes.fromhex("ff01 00"), COMPACT)


# ---- Variable-length integers ----------------------------------------------------------------------------------------

VARINTS = [
    (0, "00"),
    (1, "01"),
    (127, "7f"),
    (128, "8001"),
    (300, "ac02"),
    (16_383, "ff7f"),
    (16_384, "808001"),
    (2_097_151, "ffff7f"),
    (2_097_152, "80808001"),
    (268_435_455, "ffffff7f"),
    (268_435_456, "8080808001"),
    (0x7FFF_FFFF, "ffffffff07"),
]


@pytest.mark.parametrize(("value", "drawn"), VARINTS)
def test_varints_grow_by_a_byte_for_seven_bits(value: int, drawn: str) -> None:
    data = bytes.fromhex(drawn)
    assert unsigned_varint(value) == data
    assert read_unsigned_varint(b"?" + data + b"?", 1) == (value, 1 + len(data))


def test_a_longer_varint_than_needed_is_read_as_in_java() -> None:
    assert read_unsigned_varint(bytes.fromhex("8000"), 0) == (0, 2)
    assert read_unsigned_varint(bytes.fromhex("8180808000"), 0) == (1, 5)


def test_varints_beyond_an_int32_are_refused() -> None:
    with pytest.raises(SchemaError, match="the varint 2147483648 is beyond an int32"):
        read_unsigned_varint(bytes.fromhex("8080808008"), 0)
    with pytest.raises(SchemaError, match="more than five bytes"):
        read_unsigned_varint(bytes.fromhex("808080808000"), 0)


@pytest.mark.parametrize("length", range(5))
def test_a_varint_that_ends_too_early_is_an_index_error(length: int) -> None:
    with pytest.raises(IndexError):
        read_unsigned_varint(bytes.fromhex("ffffffff07")[:length], 0)


# ---- Declarations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (wire_types.BOOL, 1),
        (wire_types.INT8, 1),
        (wire_types.INT16, 2),
        (wire_types.INT32, 4),
        (wire_types.INT64, 8),
        (wire_types.FLOAT64, 8),
        (wire_types.UUID, 16),
    ],
)
def test_primitives_have_one_size(kind: Primitive, size: int) -> None:
    assert kind.size == struct.calcsize(f">{kind.code}") == size
    assert minimum_size(kind, 0, flexible=False) == minimum_size(kind, 0, flexible=True) == size


@pytest.mark.parametrize(
    ("kind", "plain"),
    [(wire_types.STRING, 2), (wire_types.BYTES, 4), (wire_types.RECORDS, 4), (Array(wire_types.INT64), 4)],
)
def test_the_smallest_of_a_sized_type_is_its_length(kind: Sized | Array, plain: int) -> None:
    assert minimum_size(kind, 0, flexible=False) == plain
    assert minimum_size(kind, 0, flexible=True) == 1


class Changing(Struct):
    always: int = int32()
    later: int = int64(versions="2+")
    tagged: str = string(versions="3+", tag=0)


def test_the_smallest_struct_has_the_plain_fields_of_the_version_and_a_count_of_tags() -> None:
    kind = StructType(Changing)
    assert [minimum_size(kind, version, flexible=False) for version in range(4)] == [4, 4, 12, 12]
    assert [minimum_size(kind, version, flexible=True) for version in range(4)] == [5, 5, 13, 13]


def test_records_are_found_at_any_depth() -> None:
    assert wire_types.has_records(wire_types.RECORDS)
    assert wire_types.has_records(Array(StructType(Records)))
    assert not wire_types.has_records(wire_types.BYTES)
    assert not wire_types.has_records(Array(StructType(Pair)))
    assert Records.HAS_RECORDS
    assert not Pairs.HAS_RECORDS


def test_a_field_is_plain_or_tagged_in_the_versions_that_have_it() -> None:
    field = Field(wire_types.INT8, versions=Versions.parse("1-5"), tag=3, tagged=Versions.parse("4+"))
    assert [version for version in range(8) if field.is_plain_in(version)] == [1, 2, 3]
    assert [version for version in range(8) if field.is_tagged_in(version)] == [4, 5]


def test_a_named_field_differs_in_its_name_only() -> None:
    field = Field(wire_types.STRING, nullable=NO_VERSIONS, default="d", ignorable=True)
    named = field.named("n")
    assert (named.name, field.name) == ("n", "")
    assert named == Field(wire_types.STRING, nullable=NO_VERSIONS, default="d", ignorable=True, name="n")


def test_lists_and_structs_have_a_new_default_for_each_message() -> None:
    numbers = Field(Array(wire_types.INT32), default=[])
    pair = Field(StructType(Pair))
    for field in (numbers, pair):
        assert field.has_mutable_default()
        assert field.new_default() == field.new_default()
        assert field.new_default() is not field.new_default()
    assert Pairs().value is not Pairs().value
    assert not Field(wire_types.INT32, default=7).has_mutable_default()
    assert Field(wire_types.INT32, default=7).new_default() == 7
    assert Field(Array(wire_types.INT32), default=None).new_default() is None


def test_unknown_tags_are_bytes_with_a_number() -> None:
    decoded = Int8.decode(bytes.fromhex("05 02 07 03 616263 80 01 00"), COMPACT)
    assert decoded.value == 5
    assert decoded.unknown_tagged_fields == (RawTaggedField(7, b"abc"), RawTaggedField(128, b""))
