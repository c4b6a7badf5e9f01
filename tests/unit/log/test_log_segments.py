"""The segments of a log, sorted by base offset: found by offset, added, replaced, removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.log import log_segments
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.log.producers.aborted_txn import AbortedTxn

BASES = (0, 20, 45, 70)


class Directory:
    """Where segments are opened; it closes them at the end of the test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.opened: list[LogSegment] = []

    def segment(self, base_offset: int, suffix: str = "") -> LogSegment:
        config = LogConfig({"segment.index.bytes": 64})
        segment = LogSegment.open(self.path, base_offset, config, MockTime(), suffix)
        self.opened.append(segment)
        return segment


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Directory]:
    directory = Directory(tmp_path)
    yield directory
    for segment in directory.opened:
        segment.close()


@pytest.fixture
def segments(directory: Directory) -> LogSegments:
    segments = LogSegments()
    for base_offset in (45, 0, 70, 20):
        segments.add(directory.segment(base_offset))
    return segments


def bases(segments: object) -> list[int]:
    return [segment.base_offset for segment in segments]  # type: ignore[attr-defined]


def test_segments_are_sorted_however_they_were_added(segments: LogSegments) -> None:
    assert bases(segments) == list(BASES)
    assert (segments.first.base_offset, segments.active.base_offset, len(segments)) == (0, 70, 4)
    assert 45 in segments
    assert 46 not in segments


@pytest.mark.parametrize(
    ("offset", "found"), [(0, 0), (19, 0), (20, 20), (33, 20), (69, 45), (70, 70), (10**9, 70), (-1, None)]
)
def test_the_floor_is_the_segment_that_may_contain_an_offset(
    segments: LogSegments, offset: int, found: int | None
) -> None:
    segment = segments.floor(offset)
    assert (segment.base_offset if segment else None) == found


@pytest.mark.parametrize(
    ("offset", "found"), [(-1, BASES), (0, BASES), (19, BASES), (20, BASES[1:]), (69, BASES[2:]), (99, BASES[3:])]
)
def test_readers_continue_in_all_newer_segments(segments: LogSegments, offset: int, found: tuple[int, ...]) -> None:
    assert bases(segments.from_offset(offset)) == list(found)


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [(0, 20, [0]), (0, 21, [0, 20]), (30, 46, [20, 45]), (30, 30, []), (40, 30, []), (-1, 999, list(BASES))],
)
def test_a_range_of_offsets_is_in_some_segments(segments: LogSegments, start: int, end: int, found: list[int]) -> None:
    assert bases(segments.between(start, end)) == found


@pytest.mark.parametrize(("offset", "found"), [(0, [0, 20, 45]), (50, [45]), (70, []), (99, [])])
def test_the_active_segment_is_not_for_the_cleaner(segments: LogSegments, offset: int, found: list[int]) -> None:
    assert bases(segments.non_active_from(offset)) == found


def test_a_segment_of_the_same_base_offset_is_replaced(segments: LogSegments, directory: Directory) -> None:
    again = directory.segment(45, ".cleaned")
    segments.add(again)
    assert bases(segments) == list(BASES)
    assert segments.floor(45) is again


def test_a_cleaned_segment_takes_the_place_of_its_sources(segments: LogSegments, directory: Directory) -> None:
    cleaned = directory.segment(0, ".cleaned")
    segments.replace(cleaned, [segment for segment in segments if segment.base_offset in (0, 20, 45)])
    assert bases(segments) == [0, 70]
    assert segments.first is cleaned


def test_a_reader_keeps_the_segments_that_it_began_with(segments: LogSegments) -> None:
    reading = iter(segments)
    assert next(reading).base_offset == 0
    segments.remove(20)
    segments.clear()
    assert bases(reading) == [20, 45, 70]
    assert len(segments) == 0


# ---- aborted transactions --------------------------------------------------------------------------------------------

FIRST, SECOND, THIRD, LAST = (
    AbortedTxn(1, first_offset=2, last_offset=10, last_stable_offset=4),
    AbortedTxn(2, first_offset=5, last_offset=25, last_stable_offset=20),
    AbortedTxn(3, first_offset=21, last_offset=30, last_stable_offset=31),
    AbortedTxn(4, first_offset=50, last_offset=60, last_stable_offset=61),
)


IS_PLAIN = pytest.mark.skipif(
    not log_segments.__file__.endswith(".py"), reason="compiled code takes real segments only"
)


def indexed(base_offset: int, *entries: AbortedTxn, upper: int | None = None) -> Any:
    """A segment that is only its indexes; ``upper`` is the bound for 100 bytes after position 7."""
    return SimpleNamespace(
        base_offset=base_offset,
        txn_index=SimpleNamespace(entries=list(entries)),
        offset_index=SimpleNamespace(upper_bound_offset=lambda position: upper if position == 107 else -1),
    )


def with_aborted(*, upper: int | None = None) -> LogSegments:
    segments = LogSegments()
    for segment in (indexed(0, FIRST), indexed(20, SECOND, THIRD, upper=upper), indexed(45, LAST)):
        segments.add(segment)
    return segments


@IS_PLAIN
@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        (0, 2, []),
        (0, 3, [FIRST]),
        (10, 12, [FIRST, SECOND]),
        (11, 12, [SECOND]),
        (25, 26, [SECOND, THIRD]),
        (25, 21, [SECOND]),
        (26, 40, [THIRD]),
        (26, 50, [THIRD]),
        (26, 51, [THIRD, LAST]),
        (61, 99, []),
    ],
)
def test_aborted_transactions_that_overlap_a_range(start: int, end: int, found: list[AbortedTxn]) -> None:
    assert with_aborted().aborted_between(start, end) == found


@IS_PLAIN
def test_indexes_are_read_until_no_later_marker_can_concern_the_range() -> None:
    never_read = AbortedTxn(5, first_offset=3, last_offset=12, last_stable_offset=13)
    segments = LogSegments()
    segments.add(indexed(0, FIRST, never_read))
    assert segments.aborted_between(2, 4) == [FIRST], "its stable offset says that nothing before 4 is open"
    assert segments.aborted_between(2, 5) == [FIRST, never_read]


@IS_PLAIN
@pytest.mark.parametrize(
    ("segment", "start", "upper", "found"),
    [
        (20, 22, 24, [SECOND, THIRD]),
        (20, 26, 27, [THIRD]),
        (20, 26, 55, [THIRD, LAST]),
        (20, 22, None, [SECOND, THIRD]),  # the end of the segment
        (45, 50, None, [LAST]),  # the end of the log
    ],
)
def test_the_transactions_of_what_was_read(
    segment: int, start: int, upper: int | None, found: list[AbortedTxn]
) -> None:
    segments = with_aborted(upper=upper)
    if segment == 45:
        segments.add(indexed(45, LAST, upper=upper))
    assert segments.aborted_transactions(LogOffsetMetadata(start, segment, 7), 100, 99) == found


@IS_PLAIN
def test_without_an_index_entry_the_next_segment_or_the_log_is_the_end() -> None:
    beyond = AbortedTxn(6, first_offset=45, last_offset=46, last_stable_offset=47)
    segments = LogSegments()
    for each in (indexed(20), indexed(45, beyond), indexed(70)):
        segments.add(each)
    assert segments.aborted_transactions(LogOffsetMetadata(22, 20, 7), 100, 99) == []
    assert segments.aborted_transactions(LogOffsetMetadata(45, 45, 7), 100, 99) == [beyond]
    segments.remove(70)
    assert segments.aborted_transactions(LogOffsetMetadata(45, 45, 7), 100, 45) == []
    assert segments.aborted_transactions(LogOffsetMetadata(45, 45, 7), 100, 46) == [beyond]
