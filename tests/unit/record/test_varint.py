"""Zig-zag varints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.record.record import InvalidRecordError
from kafka_lite.record.varint import MAX_VARLONG_BYTES, decode_varint, encode_varint, size_of_varint


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (63, "7e"),
        (-64, "7f"),
        (64, "8001"),
        (-65, "8101"),
        (8191, "fe7f"),
        (8192, "808001"),
        (2**31 - 1, "feffffff0f"),
        (-(2**31), "ffffffff0f"),
        (2**63 - 1, "feffffffffffffffff01"),
    ],
)
def test_known_encodings(value: int, encoded: str) -> None:
    assert encode_varint(value).hex() == encoded
    assert decode_varint(bytes.fromhex(encoded), 0, MAX_VARLONG_BYTES) == (value, len(encoded) // 2)


@given(st.integers(-(2**63), 2**63 - 1))
def test_round_trip_and_size(value: int) -> None:
    encoded = encode_varint(value)
    assert size_of_varint(value) == len(encoded)
    assert decode_varint(b"??" + encoded + b"??", 2, MAX_VARLONG_BYTES) == (value, 2 + len(encoded))


@pytest.mark.parametrize("data", [b"", b"\x80", b"\xff\xff"])
def test_a_truncated_varint_is_invalid(data: bytes) -> None:
    with pytest.raises(InvalidRecordError, match="cut short"):
        decode_varint(data, 0)


def test_a_varint_that_is_too_long_is_invalid() -> None:
    with pytest.raises(InvalidRecordError, match="longer than 5"):
        decode_varint(b"\x80" * 5 + b"\x00", 0)
    with pytest.raises(InvalidRecordError, match="longer than 10"):
        decode_varint(b"\x80" * 11, 0, MAX_VARLONG_BYTES)
