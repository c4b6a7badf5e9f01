"""The fast decoder reads, and refuses, exactly what the plain one does."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_lite.record import default_record
from kafka_lite.record.default_record import encode_record
from kafka_lite.record.fast.decode import decode_records
from kafka_lite.record.record import Header
from tests.support.encoded_records import outcome, records_and_garbage


@settings(derandomize=True, max_examples=500)
@given(records_and_garbage(), st.sampled_from([1, 7, 10_000]))
@example((encode_record(0, 0, b"k", b"v", (Header("h", b"value"),))[:-1], 1), 7)  # the last header is cut short
def test_it_agrees_with_the_plain_decoder(data_and_count: tuple[bytes, int], limit: int) -> None:
    data, _ = data_and_count
    position = 0
    while position < len(data):
        found = outcome(decode_records, data, position, limit)
        assert found == outcome(default_record.decode_records, data, position, limit)
        if not isinstance(found, list):
            break
        *_, position = found[-1]


def test_every_byte_of_a_record_changed_to_every_value() -> None:
    records = [
        encode_record(5, 70, b"key", b"value", ()),
        encode_record(5, 71, None, b"v" * 70, (Header("h", b"1"),)),
        encode_record(70, 9000, b"", None, ()),
    ]
    for record in records:
        for place in range(len(record)):
            for byte in range(256):
                data = record[:place] + bytes((byte,)) + record[place + 1 :] + records[0]
                expected = outcome(default_record.decode_records, data, 0, 2)
                assert outcome(decode_records, data, 0, 2) == expected, (record, place, byte)


def test_records_of_all_sizes() -> None:
    randomly = random.Random(7)
    pieces = [
        encode_record(
            randomly.randrange(-5, 300),
            index,
            None if index % 3 else randomly.randbytes(randomly.randrange(70)),
            None if index % 7 == 0 else randomly.randbytes(randomly.randrange(200)),
            tuple(Header("h" * randomly.randrange(9), b"1") for _ in range(index % 4)),
        )
        for index in range(9000)
    ]
    data = b"".join(pieces)
    assert decode_records(data, 0, 9000) == default_record.decode_records(data, 0, 9000)


@pytest.mark.parametrize("limit", [0, -1])
def test_none_are_read_if_none_are_asked_for(limit: int) -> None:
    assert decode_records(b"garbage", 0, limit) == default_record.decode_records(b"garbage", 0, limit) == []
