"""One record of format v2: it is read as written, and inconsistent bytes are rejected."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.record.default_record import (
    decode_offset_delta,
    decode_partial_record,
    decode_record,
    decode_records,
    encode_record,
    with_timestamp_delta,
)
from kafka_lite.record.record import Header, InvalidRecordError
from kafka_lite.record.varint import encode_varint

deltas = st.sampled_from([0, 1, 63, 64, 8191, 8192, 1 << 20, 1 << 30, -1, -(1 << 30)])
fields = st.none() | st.sampled_from([0, 1, 62, 63, 64, 65, 8190, 8192, 70_000]).map(lambda size: b"x" * size)
headers = st.lists(st.builds(Header, st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=3).map(tuple)
parts = st.tuples(deltas, deltas, fields, fields, headers)

Parts = tuple[int, int, bytes | None, bytes | None, tuple[Header, ...]]


@settings(derandomize=True)
@given(parts)
def test_an_encoded_record_is_decoded(record: Parts) -> None:
    encoded = encode_record(*record)
    assert decode_record(b"??" + encoded + b"??", 2) == (*record, 2 + len(encoded))


@settings(derandomize=True)
@given(parts)
def test_a_partial_record_has_neither_value_nor_headers(record: Parts) -> None:
    timestamp_delta, offset_delta, key, value, _headers = record
    encoded = encode_record(*record)
    expected = (timestamp_delta, offset_delta, key, value is not None, 2 + len(encoded))
    assert decode_partial_record(b"??" + encoded + b"??", 2) == expected


@pytest.mark.parametrize("cut", range(1, 8))
def test_a_partial_record_that_ends_before_its_value_is_rejected(cut: int) -> None:
    body = encode_record(5, 6, b"key", b"", ())[1:][:cut]
    with pytest.raises(InvalidRecordError):
        decode_partial_record(encode_varint(len(body)) + body, 0)


def test_a_record_byte_by_byte() -> None:
    encoded = encode_record(100, 1, b"k", None, (Header("h", b"!"),))
    assert encoded.hex(" ") == "18 00 c8 01 02 02 6b 01 02 02 68 02 21"


@settings(derandomize=True)
@given(parts, deltas)
def test_another_timestamp_delta_changes_nothing_else(record: Parts, delta: int) -> None:
    changed = with_timestamp_delta(encode_record(*record), delta)
    assert decode_record(changed, 0) == (delta, *record[1:], len(changed))


@settings(derandomize=True)
@given(parts)
def test_the_offset_delta_can_be_read_alone(record: Parts) -> None:
    encoded = encode_record(*record)
    assert decode_offset_delta(encoded + b"next", 0) == (record[1], len(encoded))


@pytest.mark.parametrize("length", [-1, 0])
def test_a_record_without_a_length_cannot_be_skipped(length: int) -> None:
    with pytest.raises(InvalidRecordError, match=f"Record of {length} bytes"):
        decode_offset_delta(encode_varint(length) + bytes(6), 0)


def test_decoding_a_list_ends_before_the_first_malformed_record() -> None:
    good, bad = encode_record(0, 0, b"k", b"v", ()), encode_varint(500)
    assert decode_records(good + good + bad, 0, 10) == decode_records(good + good, 0, 2)
    with pytest.raises(InvalidRecordError, match="Record of 500 bytes, 0 are left"):
        decode_records(good + bad, len(good), 10)


def _record(body: bytes) -> bytes:
    return encode_varint(len(body)) + body


_NULL = encode_varint(-1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (encode_varint(0) + bytes(9), "Record of 0 bytes"),
        (encode_varint(20) + bytes(9), "Record of 20 bytes, 9 are left"),
        (_record(b"\0\0\0" + encode_varint(9) + b"key"), "Field of 9 bytes"),
        (_record(b"\0\0\0" + _NULL + encode_varint(9) + b"value"), "Field of 9 bytes"),
        (_record(b"\0\0\0" + _NULL + _NULL + encode_varint(-1)), "claims -1 headers"),
        (_record(b"\0\0\0" + _NULL + _NULL + encode_varint(100)), "claims 100 headers"),
        (_record(b"\0\0\0" + _NULL + _NULL + encode_varint(1) + _NULL + _NULL), "Header without a key"),
        (_record(b"\0\0\0" + _NULL + _NULL + b"\0" + b"rest"), "ends 4 bytes off"),
    ],
)
def test_inconsistent_records_are_rejected(data: bytes, message: str) -> None:
    with pytest.raises(InvalidRecordError, match=message):
        decode_record(data, 0)
