"""The fast scan returns, and rejects, exactly what the plain scan does: by columns, and record by record."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import example, given, settings

from kafka_lite.record import record_scan
from kafka_lite.record.default_record import encode_record
from kafka_lite.record.fast import scan
from kafka_lite.record.fast.alike import find_run
from kafka_lite.record.fast.scan import scan_records
from kafka_lite.record.record import Header, InvalidRecordError
from kafka_lite.record.record_scan import MAX_OUT_OF_ORDER, RecordScan
from tests.support.encoded_records import outcome, records_and_garbage
from tests.support.examples import examples


def both(data: bytes, record_count: int) -> tuple[Any, Any]:
    """The result of the fast scan (the same with and without its shortcut for runs), and that of the plain one."""
    found = outcome(scan_records, data, record_count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_COMPILED", True)
        assert outcome(scan_records, data, record_count) == found
    return found, outcome(record_scan.scan_records, data, record_count)


@settings(derandomize=True, max_examples=examples(600))
@given(records_and_garbage())
@example((encode_record(0, 0, b"k", b"v", (Header("h", b"value"),))[:-1], 1))  # the last header is truncated
@example((b"", 0))
@example((b"", -1))
def test_it_agrees_with_the_plain_scan(data_and_count: tuple[bytes, int]) -> None:
    found, expected = both(*data_and_count)
    assert found == expected


@settings(derandomize=True, max_examples=examples(300))
@given(records_and_garbage())
def test_a_run_equals_the_plain_scan_of_its_records(data_and_count: tuple[bytes, int]) -> None:
    data, count = data_and_count
    run = find_run(data, 0, 0, count)
    if run is not None:
        first_null_key = None if run.has_key else 0
        expected = RecordScan(run.min_timestamp_delta, run.max_timestamp_delta, True, first_null_key)
        assert record_scan.scan_records(data[: run.end], run.record_count) == expected


def test_any_byte_of_a_batch_of_equal_records_changed() -> None:
    records = [encode_record(index // 2, index, b"key", b"value", (Header("h", b"1"),)) for index in range(20)]
    intact = b"".join(records)
    for place in range(len(intact)):
        for byte in (0, 1, 2, 0x7E, 0x80, 0xFF, intact[place] ^ 2):
            found, expected = both(intact[:place] + bytes((byte,)) + intact[place + 1 :], len(records))
            assert found == expected, (place, byte)


@pytest.mark.parametrize("count", [63, 64, 65, 128, 8191, 8193, 20_000])
def test_long_runs_where_offset_deltas_grow_by_a_byte(count: int) -> None:
    data = b"".join(encode_record(index // 7, index, b"key", b"x" * 10, ()) for index in range(count))
    assert scan_records(data, count) == RecordScan(0, (count - 1) // 7, True, None)


@pytest.mark.parametrize("victim", [0, 1, 63, 64, 500, 8500, 9998, 9999])
def test_one_different_record_among_many_is_found(victim: int) -> None:
    pieces = [encode_record(3, index, b"key", b"x" * 10, ()) for index in range(10_000)]
    good = pieces[victim]
    pieces[victim] = encode_record(4000, victim, b"key", b"x" * 9, ())  # same length, but a larger timestamp
    assert scan_records(b"".join(pieces), 10_000).max_timestamp_delta == 4000
    pieces[victim] = encode_record(3, victim, None, b"x" * 13, ())
    assert scan_records(b"".join(pieces), 10_000).first_null_key == victim
    pieces[victim] = encode_record(3, victim ^ 1, b"key", b"x" * 10, ())
    assert not scan_records(b"".join(pieces), 10_000).offsets_are_consecutive
    pieces[victim] = good[:-1] + b"\x02"  # claims a header that does not exist
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
    found, expected = both(b"".join(pieces), 9000)
    assert found == expected
    assert isinstance(found, RecordScan)


def test_headers_of_all_lengths() -> None:
    randomly = random.Random(8)
    headers = [tuple(Header("h" * randomly.randrange(9), b"1") for _ in range(index % 4)) for index in range(500)]
    pieces = [encode_record(index // 5, index, b"key", b"value", headers[index]) for index in range(500)]
    found, expected = both(b"".join(pieces), 500)
    assert found == expected
    assert isinstance(found, RecordScan)


@pytest.mark.parametrize("size", [0, 7])
@pytest.mark.parametrize("wrong", [1, 50_000])
def test_a_large_batch_with_offsets_out_of_order_is_rejected(wrong: int, size: int) -> None:
    pieces = [encode_record(0, index, b"", b"x" * (index % (size + 1)), ()) for index in range(MAX_OUT_OF_ORDER)]
    pieces[wrong] = encode_record(0, wrong - 1, b"", b"", ())
    assert not scan_records(b"".join(pieces), MAX_OUT_OF_ORDER).offsets_are_consecutive
    pieces.append(encode_record(0, MAX_OUT_OF_ORDER, b"", b"", ()))
    found, expected = both(b"".join(pieces), MAX_OUT_OF_ORDER + 1)
    assert found == expected == (InvalidRecordError, "Offsets out of order in a batch of 100001 records")
