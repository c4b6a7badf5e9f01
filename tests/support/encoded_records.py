"""Encoded records of format v2 for property tests: usual, unusual and damaged ones, alone and in runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from kafka_lite.common.errors import ApiError
from kafka_lite.record.default_record import encode_record
from kafka_lite.record.record import Header

# Where a varint grows by a byte, and numbers that the fast loops leave to the plain ones.
_TIMESTAMP_DELTAS = st.sampled_from([0, 0, 1, 63, 64, 500, 8191, 8192, 2**20 - 1, 2**20, -1, -65, 2**60, -(2**60)])
_FIELDS = st.sampled_from([None, b"", b"k", b"key", b"x" * 63, b"x" * 64, b"y" * 100, b"z" * 8191, b"z" * 8192])
_HEADERS = st.sampled_from([
    (), (), (), (Header("h", b"1"),), (Header("g", b"2"),), (Header("h", None), Header("", b"")), (Header("é", b""),),
])  # fmt: skip
_REPEATS = st.sampled_from([1, 1, 2, 3, 20, 90])
_FIRST_OFFSET_DELTAS = st.sampled_from([0, 0, 0, 60, 8180, 2**20 - 5, 2**30])
_SHAPES = st.tuples(_TIMESTAMP_DELTAS, _FIELDS, _FIELDS, _HEADERS, _REPEATS)


def encode_runs(runs: list[tuple[Any, ...]], first_offset_delta: int = 0, wrong_at: int | None = None) -> list[bytes]:
    """The records of ``runs``, equal within a run; the one at ``wrong_at`` has an offset delta that is out of order."""
    pieces: list[bytes] = []
    for timestamp_delta, key, value, headers, repeat in runs:
        for _ in range(repeat):
            offset_delta = first_offset_delta + len(pieces) + (5 if len(pieces) == wrong_at else 0)
            pieces.append(encode_record(timestamp_delta, offset_delta, key, value, headers))
    return pieces


def record_pieces() -> st.SearchStrategy[list[bytes]]:
    """Complete records, some hundred at most."""
    runs = st.lists(_SHAPES, min_size=1, max_size=4)
    return st.builds(encode_runs, runs, _FIRST_OFFSET_DELTAS, st.none() | st.integers(0, 100))


def damaged(data: bytes, changes: list[tuple[float, int]], cut: float) -> bytes:
    """``data`` with a byte changed at some positions (from 0 to 1), and truncated at ``cut``."""
    broken = bytearray(data)
    for place, byte in changes:
        broken[int(place * len(broken))] = byte
    return bytes(broken[: round(cut * len(broken))])


def records_and_garbage() -> st.SearchStrategy[tuple[bytes, int]]:
    """Bytes and a record count for them: complete records, damaged records, and arbitrary bytes."""
    places = st.floats(0, 1, exclude_max=True)
    bytes_ = st.sampled_from([0, 1, 2, 0x7E, 0x7F, 0x80, 0xFF]) | st.integers(0, 255)
    changes = st.lists(st.tuples(places, bytes_), max_size=4)
    cuts = st.just(1.0) | st.just(1.0) | st.floats(0, 1)
    more = st.sampled_from([0, 0, 0, -1, 1])

    def of_records(pieces: list[bytes], changed: list[tuple[float, int]], cut: float, extra: int) -> tuple[bytes, int]:
        return damaged(b"".join(pieces), changed, cut), len(pieces) + extra

    return st.builds(of_records, record_pieces(), changes, cuts, more) | st.tuples(
        st.binary(max_size=60), st.integers(0, 5)
    )


def outcome(work: Callable[..., Any], *arguments: Any) -> Any:
    """The result of ``work``, or the error that it raises as type and message."""
    try:
        return work(*arguments)
    except ApiError as error:
        return type(error), str(error)
