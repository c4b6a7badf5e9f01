"""A segment drawn with characters: which batch is in which column, and where the marks of the indexes are."""

from __future__ import annotations

import pytest

from kafka_lite.log.index_entry import OffsetPosition, TimestampOffset
from kafka_lite.tools.log_files.segment_picture import (
    ASCII_PEN,
    MAX_STRIPS,
    Block,
    Segment,
    ascii_cells,
    bytes_per_column,
    clock_time,
    draw,
)


def segment(
    *sizes: int,
    kinds: str = "",
    trailing: int = 0,
    offsets: tuple[OffsetPosition, ...] = (),
    times: tuple[TimestampOffset, ...] = (),
) -> Segment:
    """Batches of these sizes, of one record each; ``kinds`` has a letter for each."""
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    blocks = [
        Block(start, size, number, kinds[number] if kinds else "x")
        for number, (start, size) in enumerate(zip(starts, sizes, strict=True))
    ]
    return Segment(blocks, sum(sizes) + trailing, offsets, times)


def drawn(drawing: Segment, width: int) -> list[str]:
    return [ascii_cells(strip, lambda kind: kind) for strip in draw(drawing, width, ASCII_PEN)]


def test_a_batch_is_as_wide_as_its_bytes() -> None:
    assert drawn(segment(4, 2, 3, kinds="abc"), 100) == ["|aaa|b|cc"]


def test_a_segment_fills_several_lines() -> None:
    assert drawn(segment(7, 8, kinds="ab"), 5) == ["|aaaa", "aa|bb", "bbbbb"]
    strips = draw(segment(7, 8), 5)
    assert [strip.position for strip in strips] == [0, 5, 10]


def test_a_large_segment_is_scaled_down() -> None:
    large = segment(*[1000] * 400)
    assert bytes_per_column(large.size_in_bytes, 50) == 1334
    strips = draw(large, 50)
    assert len(strips) == MAX_STRIPS
    assert all(len(strip.cells) <= 50 for strip in strips)


def test_the_last_batch_in_a_column_is_shown() -> None:
    sizes = [1] * (2 * 10 * MAX_STRIPS)  # two in each column
    assert drawn(segment(*sizes, kinds="ab" * (len(sizes) // 2)), 10) == ["|" * 10] * MAX_STRIPS
    first = draw(segment(*sizes, kinds="ab" * (len(sizes) // 2)), 10)[0]
    assert {cell.kind for cell in first.cells} == {"b"}


def test_trailing_bytes_that_are_no_batch_are_marked() -> None:
    assert drawn(segment(3, trailing=2, kinds="a"), 10) == ["|aa??"]
    assert drawn(segment(trailing=3), 10) == ["???"]
    assert drawn(segment(), 10) == []


def test_marks_are_at_the_start_of_batches() -> None:
    entries = (OffsetPosition(25, 10), OffsetPosition(26, 14))
    times = (TimestampOffset(1_500, 1),)
    (strip,) = draw(segment(10, 4, 20, offsets=entries, times=times), 40, ASCII_PEN)
    assert strip.offset_marks == "          v25 v26"
    assert strip.time_marks == "          ^00:00:01.500"
    assert [column for column, cell in enumerate(strip.cells) if cell.begins] == [0, 10, 14]


@pytest.mark.parametrize(
    ("positions", "line"),
    [
        ((0, 3), "v  v103"),
        ((0, 5), "v100 v105"),
        ((0, 1, 2), "vvv102"),
        ((7, 8), "       vv"),
    ],
)
def test_labels_leave_room_for_marks(positions: tuple[int, ...], line: str) -> None:
    entries = tuple(OffsetPosition(100 + position, position) for position in positions)
    (strip,) = draw(segment(*[1] * 10, offsets=entries), 10, ASCII_PEN)
    assert strip.offset_marks == line


def test_an_entry_beyond_the_end_of_the_log_is_not_drawn() -> None:
    entries, times = (OffsetPosition(9, 99),), (TimestampOffset(1, 99),)
    (strip,) = draw(segment(5, offsets=entries, times=times), 10)
    assert (strip.offset_marks, strip.time_marks) == ("", "")


def test_timestamps_out_of_range_are_shown_as_numbers() -> None:
    assert clock_time(1_600_000_000_250) == "12:26:40.250"
    assert clock_time(2**62) == str(2**62)
