"""The fast decoder reads, and rejects, exactly what the plain decoder does."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_lite.record import default_record
from kafka_lite.record.default_record import encode_record
from kafka_lite.record.fast.decode import decode_partial_records, decode_records
from kafka_lite.record.record import Header
from tests.support.encoded_records import outcome, records_and_garbage
from tests.support.examples import examples

FAST_AND_PLAIN = [
    (decode_records, default_record.decode_records),
    (decode_partial_records, default_record.decode_partial_records),
]


@pytest.mark.parametrize(("fast", "plain"), FAST_AND_PLAIN)
@settings(derandomize=True, max_examples=examples(500))
@given(data_and_count=records_and_garbage(), limit=st.sampled_from([1, 7, 10_000]))
@example(  # the last header is truncated
    data_and_count=(encode_record(0, 0, b"k", b"v", (Header("h", b"value"),))[:-1], 1), limit=7
)
def test_it_agrees_with_the_plain_decoder(
    fast: Callable[..., Any], plain: Callable[..., Any], data_and_count: tuple[bytes, int], limit: int
) -> None:
    data, _ = data_and_count
    position = 0
    while position < len(data):
        found = outcome(fast, data, position, limit)
        assert found == outcome(plain, data, position, limit)
        if not isinstance(found, list):
            break
        *_, position = found[-1]


@pytest.mark.parametrize(("fast", "plain"), FAST_AND_PLAIN)
def test_every_byte_of_a_record_changed_to_every_value(fast: Callable[..., Any], plain: Callable[..., Any]) -> None:
    records = [
        encode_record(5, 70, b"key", b"value", ()),
        encode_record(5, 71, None, b"\xff" * 70, (Header("h", b"1"),)),
        encode_record(70, 9000, b"", None, ()),
    ]
    for record in records:
        for place in range(len(record)):
            for byte in range(256):
                data = record[:place] + bytes((byte,)) + record[place + 1 :] + records[0]
                assert outcome(fast, data, 0, 2) == outcome(plain, data, 0, 2), (record, place, byte)


@pytest.mark.parametrize(("fast", "plain"), FAST_AND_PLAIN)
def test_records_of_all_sizes(fast: Callable[..., Any], plain: Callable[..., Any]) -> None:
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
    assert fast(data, 0, 9000) == plain(data, 0, 9000)


@pytest.mark.parametrize("limit", [0, -1])
@pytest.mark.parametrize(("fast", "plain"), FAST_AND_PLAIN)
def test_a_limit_of_zero_decodes_nothing(fast: Callable[..., Any], plain: Callable[..., Any], limit: int) -> None:
    assert fast(b"garbage", 0, limit) == plain(b"garbage", 0, limit) == []
