"""The scan by columns says exactly what decoding every record would say."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_lite.record import record_scan
from kafka_lite.record.default_record import decode_record, encode_record
from kafka_lite.record.record import Header, InvalidRecordError
from kafka_lite.record.record_scan import RecordScan
from kafka_lite.record.varint import encode_varint


def scan_records(data: bytes, record_count: int) -> RecordScan:
    """What both ways of scanning say: by columns wherever that is possible, and record by record (as when compiled)."""
    outcomes = []
    for worth_a_look in (0, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(record_scan, "_WORTH_A_LOOK", worth_a_look)
            outcomes.append(outcome(record_scan.scan_records, data, record_count))
    by_columns, one_by_one = outcomes
    assert by_columns == one_by_one
    return record_scan.scan_records(data, record_count)


def scan_by_decoding(data: bytes, record_count: int) -> RecordScan:
    position = 0
    deltas, offsets, keys = [], [], []
    for _ in range(record_count):
        delta, offset, key, _value, _headers, position = decode_record(data, position)
        deltas.append(delta)
        offsets.append(offset)
        keys.append(key)
    if position != len(data):
        raise InvalidRecordError("more bytes than records")
    return RecordScan(
        min(deltas), max(deltas), offsets == list(range(record_count)), keys.index(None) if None in keys else None
    )


def outcome(scan: object, data: bytes, record_count: int) -> object:
    try:
        return scan(data, record_count)
    except InvalidRecordError:
        return InvalidRecordError


# Records of a few shapes, so that there are runs, and runs that break off for every reason.
timestamp_deltas = st.sampled_from([0, 0, 0, 1, 63, 64, 500, 8191, 8192, -1, -65, 10**12, 2**60, -(2**60)])
fields = st.sampled_from([None, b"", b"k", b"key", b"x" * 63, b"x" * 64, b"y" * 100, b"z" * 9000])
some_headers = st.sampled_from(
    [(), (), (), (Header("h", b"1"),), (Header("g", b"2"),), (Header("h", None), Header("", b""))]
)
shapes = st.tuples(timestamp_deltas, fields, fields, some_headers, st.integers(1, 90))


def encode(content: list, wrong_offset_at: int | None = None) -> tuple[bytes, int]:
    pieces = []
    for delta, key, value, found_headers, repeat in content:
        for _ in range(repeat):
            offset = len(pieces) + (5 if len(pieces) == wrong_offset_at else 0)
            pieces.append(encode_record(delta, offset, key, value, found_headers))
    return b"".join(pieces), len(pieces)


@settings(deadline=None)
@given(content=st.lists(shapes, min_size=1, max_size=5), wrong_offset_at=st.none() | st.integers(0, 200))
def test_it_is_exact(content: list, wrong_offset_at: int | None) -> None:
    data, count = encode(content, wrong_offset_at)
    assert scan_records(data, count) == scan_by_decoding(data, count)


@settings(deadline=None, max_examples=300)
@given(
    content=st.lists(shapes, min_size=1, max_size=3),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=4),
    more=st.integers(-1, 1),
)
@example(content=[(0, b"k", b"v", (), 10)], changes=[(0.5, 1)], more=0)
def test_it_refuses_what_decoding_refuses(content: list, changes: list, more: int) -> None:
    data, count = encode(content)
    broken = bytearray(data)
    for place, byte in changes:
        broken[int(place * len(broken))] = byte
    wanted = outcome(scan_by_decoding, bytes(broken), count + more) if count + more else None
    if wanted is not None:
        assert outcome(scan_records, bytes(broken), count + more) == wanted


@pytest.mark.parametrize("count", [63, 64, 65, 128, 8191, 8193, 20_000])
def test_long_runs_over_the_places_where_offsets_grow(count: int) -> None:
    data = b"".join(encode_record(index // 7, index, b"key", b"x" * 10, ()) for index in range(count))
    assert scan_records(data, count) == RecordScan(0, (count - 1) // 7, True, None)


@pytest.mark.parametrize("victim", [0, 1, 63, 64, 500, 8500, 9998, 9999])
def test_one_bad_record_among_many_is_found(victim: int) -> None:
    pieces = [encode_record(3, index, b"key", b"x" * 10, ()) for index in range(10_000)]
    good = pieces[victim]
    pieces[victim] = encode_record(4000, victim, b"key", b"x" * 9, ())  # as long, but a larger timestamp
    assert scan_records(b"".join(pieces), 10_000).max_timestamp_delta == 4000
    pieces[victim] = encode_record(3, victim, None, b"x" * 13, ())
    assert scan_records(b"".join(pieces), 10_000).first_null_key == victim
    pieces[victim] = encode_record(3, victim ^ 1, b"key", b"x" * 10, ())
    assert not scan_records(b"".join(pieces), 10_000).offsets_are_consecutive
    pieces[victim] = good[:-1] + b"\x02"  # claims a header that is not there
    with pytest.raises(InvalidRecordError):
        scan_records(b"".join(pieces), 10_000)
    pieces[victim] = good.replace(b"\x06key", b"\x08key")  # a key that takes a byte of the value's length
    with pytest.raises(InvalidRecordError):
        scan_records(b"".join(pieces), 10_000)


def test_records_of_all_lengths() -> None:
    randomly = random.Random(7)
    pieces = [
        encode_record(randomly.randrange(300), index, None, randomly.randbytes(randomly.randrange(200)), ())
        for index in range(9000)
    ]
    data = b"".join(pieces)
    assert scan_records(data, 9000) == scan_by_decoding(data, 9000)


@pytest.mark.parametrize("length", [-1, 0, 1, 100])
def test_record_lengths_that_do_not_fit(length: int) -> None:
    with pytest.raises(InvalidRecordError):
        scan_records(encode_varint(length) + bytes(6), 1)


def test_a_count_above_the_records_is_noticed() -> None:
    data, count = encode([(0, b"k", b"v", (), 5)])
    with pytest.raises(InvalidRecordError):
        scan_records(data, count + 1)
    with pytest.raises(InvalidRecordError, match="bytes follow the 4 records"):
        scan_records(data, count - 1)


def test_headers_of_all_lengths() -> None:
    randomly = random.Random(8)
    pieces = [
        encode_record(
            index // 5,
            index,
            b"key",
            b"value",
            tuple(Header("h" * randomly.randrange(9), b"1") for _ in range(index % 4)),
        )
        for index in range(500)
    ]
    data = b"".join(pieces)
    assert scan_records(data, 500) == scan_by_decoding(data, 500)


@pytest.mark.parametrize("wrong", [1, 50, 99])
def test_only_so_many_records_may_be_out_of_order(wrong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [encode_record(0, index, b"key", b"x" * (index % 7), ()) for index in range(100)]
    pieces[wrong] = encode_record(0, wrong - 1, b"key", b"x", ())
    data = b"".join(pieces)
    monkeypatch.setattr(record_scan, "MAX_OUT_OF_ORDER", 100)
    assert not scan_records(data, 100).offsets_are_consecutive
    monkeypatch.setattr(record_scan, "MAX_OUT_OF_ORDER", 99)
    with pytest.raises(InvalidRecordError, match="out of order"):
        scan_records(data, 100)
