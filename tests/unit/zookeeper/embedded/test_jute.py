"""Records as bytes: golden bytes, round trips, and malformed bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.zookeeper.embedded.jute import Buffer, Int, JuteError, Long, Ustring, decode, encode
from kafka_lite.zookeeper.embedded.protocol import ACL, ANYONE, CreateRequest, Id, Stat

ints = st.integers(-(1 << 31), (1 << 31) - 1)
longs = st.integers(-(1 << 63), (1 << 63) - 1)


class Everything(NamedTuple):
    number: Int
    flag: bool
    big: Long
    name: Ustring
    data: Buffer
    acls: tuple[ACL, ...]
    names: list[Ustring]
    last: Int


everything = st.builds(
    Everything,
    ints,
    st.booleans(),
    longs,
    st.text(),
    st.none() | st.binary(),
    st.lists(st.builds(ACL, ints, st.builds(Id, st.text(), st.text()))).map(tuple),
    st.lists(st.text()),
    ints,
)


def test_a_create_request_byte_by_byte() -> None:
    request = CreateRequest("/a", b"xy", (ACL(31, ANYONE),), 1)
    expected = "00000002 2f61  00000002 7879  00000001 0000001f 00000005 776f726c64 00000006 616e796f6e65  00000001"
    assert encode(request) == bytes.fromhex(expected)
    assert decode(CreateRequest, encode(request)) == request


def test_null_has_the_length_minus_one() -> None:
    request = decode(CreateRequest, bytes.fromhex("ffffffff ffffffff ffffffff 00000000"))
    assert request == CreateRequest("", None, (), 0)
    assert encode(CreateRequest("", None, (), 0))[:8] == bytes.fromhex("00000000 ffffffff")


@given(everything)
def test_encoded_records_are_decoded(record: Everything) -> None:
    assert decode(Everything, encode(record)) == record


@given(everything)
def test_every_truncation_raises(record: Everything) -> None:
    data = encode(record)
    assert [end for end in range(len(data)) if is_decoded(data[:end])] == []


def is_decoded(data: bytes) -> bool:
    try:
        decode(Everything, data)
    except JuteError:
        return False
    return True


@given(st.binary(max_size=100))
def test_random_bytes_are_decoded_or_raise(data: bytes) -> None:
    try:
        record: Any = decode(Everything, data)
    except JuteError:
        return
    assert isinstance(record, Everything)


@pytest.mark.parametrize("count", [-2, 1 << 30, 5])
def test_a_vector_longer_than_its_bytes_allocates_nothing(count: int) -> None:
    with pytest.raises(JuteError, match="vector"):
        decode(CreateRequest, encode(Stat(*[0] * 11))[:8] + count.to_bytes(4, "big", signed=True) + bytes(4))


def test_a_string_that_is_not_utf8_raises() -> None:
    with pytest.raises(JuteError, match="UTF-8"):
        decode(Id, b"\0\0\0\1\xff\0\0\0\0")
