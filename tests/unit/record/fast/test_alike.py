"""Runs of records that are alike: where a run ends, and what is told of its records."""

from __future__ import annotations

import pytest

from kafka_lite.record.default_record import encode_record
from kafka_lite.record.fast.alike import Run, find_run
from kafka_lite.record.record import Header


def encoded(count: int, first: int = 0, key: bytes | None = b"k", value: bytes = b"v", step: int = 0) -> bytes:
    records = [encode_record(number * step, first + number, key, value, ()) for number in range(count)]
    return b"".join(records)


def test_equal_lengths_make_a_run() -> None:
    data = encoded(50)
    assert find_run(data, 0, 0, 50) == Run(50, len(data), 0, 0, True)
    assert find_run(encoded(50, key=None), 0, 0, 50) == Run(50, len(encoded(50, key=None)), 0, 0, False)


def test_a_run_is_no_longer_than_asked() -> None:
    data = encoded(50)
    size = len(data) // 50
    assert find_run(data, 0, 0, 20) == Run(20, 20 * size, 0, 0, True)
    assert find_run(data, 20 * size, 20, 50) == Run(30, len(data), 0, 0, True)


def test_a_single_record_is_no_run() -> None:
    assert find_run(encoded(1), 0, 0, 1) is None
    assert find_run(encoded(1) + encoded(1, 1, value=b"longer"), 0, 0, 2) is None


@pytest.mark.parametrize("odd", [1, 7, 30])
def test_a_run_ends_before_a_record_of_another_length(odd: int) -> None:
    data = encoded(odd) + encoded(1, odd, value=b"longer") + encoded(10, odd + 1)
    run = find_run(data, 0, 0, odd + 11)
    assert (run.record_count if run else None) == (odd if odd > 1 else None)


def test_a_run_ends_where_offset_deltas_get_longer() -> None:
    data = encoded(100)
    run = find_run(data, 0, 0, 100)
    assert run is not None
    assert run.record_count == 64, "the zig-zag of 64 has two bytes"
    rest = find_run(data, run.end, 64, 36)
    assert rest is not None
    assert (rest.record_count, rest.end) == (36, len(data))


def test_records_with_other_offsets_are_no_run() -> None:
    assert find_run(encoded(10, first=5), 0, 0, 10) is None
    swapped = encoded(1) + encoded(1, 2) + encoded(1, 1)
    assert find_run(swapped, 0, 0, 3) is None


@pytest.mark.parametrize("step", [1, -1, 3])
def test_the_extremes_of_the_timestamp_deltas_are_exact(step: int) -> None:
    run = find_run(encoded(20, step=step), 0, 0, 20)
    assert run is not None
    deltas = [number * step for number in range(run.record_count)]
    assert (run.min_timestamp_delta, run.max_timestamp_delta) == (min(deltas), max(deltas))


def test_headers_of_the_same_lengths_are_part_of_a_run() -> None:
    data = b"".join(encode_record(0, n, b"k", b"v", (Header("h", b"%d" % (n % 10)),)) for n in range(20))
    run = find_run(data, 0, 0, 20)
    assert run is not None
    assert run.record_count == 20


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff" * 20, b"\x0c" + bytes(5)])
def test_bytes_that_are_no_record_are_no_run(data: bytes) -> None:
    assert find_run(data, 0, 0, 10) is None
