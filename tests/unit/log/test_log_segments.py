"""The segments of a log, sorted by base offset: found by offset, added, replaced, removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments

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
