"""Drawings of a log segment and its indexes, made from the objects themselves.

Everything here reads real ``LogSegment``, ``OffsetIndex`` and ``TimeIndex`` objects; the example segments are written
to a temporary folder by the same classes that the broker uses.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_learn.drawing.graphviz_drawing import BLUE, GREEN, ORANGE, PLAIN, RED, Drawing, cell, new_graph, table
from kafka_lite.common.time import MockTime
from kafka_lite.log.abstract_index import AbstractIndex, IndexSearchType
from kafka_lite.log.log_append_info import analyze_and_validate_records
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import MAGIC_V1

FIRST_TIMESTAMP = 1_600_000_000_000


@contextmanager
def example_segment(
    base_offset: int = 20,
    messages: int = 12,
    timestamp_of: Callable[[int], int] = lambda number: FIRST_TIMESTAMP + 1000 * number,
) -> Iterator[LogSegment]:
    """A segment in message format v1 (the book's), one message of 101 bytes per append, an entry every 200 bytes."""
    config = LogConfig({"index.interval.bytes": "200", "segment.index.bytes": "4096", "segment.bytes": "2048"})
    with tempfile.TemporaryDirectory() as folder:
        segment = LogSegment.open(Path(folder), base_offset, config, MockTime())
        for number in range(messages):
            append_message(segment, base_offset + number, timestamp_of(number))
        try:
            yield segment
        finally:
            segment.close()


def append_message(segment: LogSegment, offset: int, timestamp: int) -> None:
    """Append one message with a value of 63 bytes, as ``Log`` would."""
    builder = MemoryRecordsBuilder(MAGIC_V1, CompressionType.NONE, base_offset=offset)
    builder.append(timestamp, b"key%d" % (offset % 10), b"x" * 61 + b"-%d" % (offset % 10))
    records = builder.build()
    segment.append(analyze_and_validate_records(records), records)


# -- a segment and what points into it -------------------------------------------------------------------------------


def draw_segment(segment: LogSegment, *, highlight: int | None = None, timestamps: bool = False) -> Drawing:
    """The three files of a segment, its batches with offset, position and, if asked, timestamp.

    ``highlight`` is an offset whose way through the index and the log is marked.
    """
    shown = list(segment.log.batches_from())
    graph = new_graph()
    start = segment.offset_index.lookup(highlight) if highlight is not None else None
    name = f"{segment.base_offset:020d}"
    cells = [cell(f"{name}\n.log, {segment.size} bytes", border=0)]
    for batch in shown:
        fill = PLAIN
        if start is not None and highlight is not None and start.position <= batch.position:
            fill = ORANGE if batch.last_offset == highlight else BLUE if batch.last_offset < highlight else PLAIN
        text = f"{_offset_range(batch.first_or_last_offset, batch.last_offset)}\nat {batch.position}"
        text += f"\nt={batch.max_timestamp % 100_000:05d}" if timestamps else ""
        cells.append(cell(text, fill=fill, port=f"p{batch.position}"))
    graph.node("log", table([cells]))
    _draw_offset_index(graph, segment, start, name)
    _draw_time_index(graph, segment, {batch.last_offset: batch.position for batch in shown}, name)
    return Drawing(
        graph, f"The files of segment {segment.base_offset}: entries of both indexes point at batches of the log."
    )


def _draw_offset_index(graph: Any, segment: LogSegment, start: object, name: str) -> None:
    index = segment.offset_index
    entries = [index.entry(n) for n in range(index.entries)]
    if not entries:
        return
    cells = [
        cell(f"{e.offset - segment.base_offset} → {e.position}", fill=GREEN if e == start else "", port=f"e{n}")
        for n, e in enumerate(entries)
    ]
    used = f"{name}.index, {index.size_in_bytes} of {index.max_index_size} bytes used"
    title = cell(used, columns=len(cells), border=0)
    graph.node("index", table([[title], cells]))
    for n, entry in enumerate(entries):
        style = {"penwidth": "2.5"} if entry == start else {}
        graph.edge(f"index:e{n}:s", f"log:p{entry.position}:n", **style)


def _draw_time_index(graph: Any, segment: LogSegment, positions: dict[int, int], name: str) -> None:
    index = segment.time_index
    entries = [index.entry(n) for n in range(index.entries)]
    if not entries:
        return
    cells = [
        cell(f"t={entry.timestamp % 100_000:05d} → {entry.offset - segment.base_offset}", port=f"t{n}")
        for n, entry in enumerate(entries)
    ]
    title = cell(f"{name}.timeindex, {index.size_in_bytes} bytes used", columns=len(cells), border=0)
    graph.node("timeindex", table([cells, [title]]))
    for n, entry in enumerate(entries):
        graph.edge(f"log:p{positions[entry.offset]}:s", f"timeindex:t{n}:n", dir="back", style="dashed")


def _offset_range(first: int, last: int) -> str:
    return str(last) if first == last else f"{first}–{last}"


# -- binary search ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SearchStep:
    """One turn of the binary search: the range that is left, the entry that was looked at, whether it may stay."""

    lo: int
    hi: int
    mid: int
    not_greater: bool


def record_search(index: AbstractIndex[Any], target: int) -> tuple[int, list[SearchStep]]:
    """Run the index's own search and write down which entries it read; returns the slot and the turns of the loop."""
    probes: list[int] = []
    parse_entry = index._parse_entry

    def recording(n: int) -> Any:
        probes.append(n)
        return parse_entry(n)

    index._parse_entry = recording  # type: ignore[method-assign]
    try:
        slot = index._index_slot_for(target, IndexSearchType.KEY)
    finally:
        del index._parse_entry
    steps, lo, hi = [], 0, index.entries - 1
    for mid in probes[1:]:  # the first look only makes sure that there is an entry to find
        not_greater = parse_entry(mid)[IndexSearchType.KEY] <= target
        steps.append(SearchStep(lo, hi, mid, not_greater))
        lo, hi = (mid, hi) if not_greater else (lo, mid - 1)
    return slot, steps


def draw_search(index: OffsetIndex, target: int) -> Drawing:
    """One row for each turn: orange is looked at, grey is out, green is the result."""
    slot, steps = record_search(index, target)
    entries = [index.entry(n) for n in range(index.entries)]
    rows = [[cell(f"offset {target}?", border=0), *(cell(f"slot {n}", border=0) for n in range(len(entries)))]]
    for number, step in enumerate(steps, 1):
        row = [cell(f"{number}: lo {step.lo} mid {step.mid} hi {step.hi}", border=0)]
        for n, entry in enumerate(entries):
            looked_at = n == step.mid
            sign = ("≤" if step.not_greater else ">") if looked_at else ""
            fill = ORANGE if looked_at else "" if step.lo <= n <= step.hi else PLAIN
            row.append(cell(f"{entry.offset}{sign}", fill=fill))
        rows.append(row)
    result = [cell(str(entry.offset), fill=GREEN if n == slot else PLAIN) for n, entry in enumerate(entries)]
    rows.append([cell(f"result: slot {slot}", border=0), *result])
    graph = new_graph()
    graph.node("search", table(rows))
    return Drawing(graph, f"Binary search for offset {target}: {len(steps)} steps lead to slot {slot}.")


# -- bytes -------------------------------------------------------------------------------------------------------------


def draw_bytes(data: bytes, fields: list[tuple[str, int]]) -> Drawing:
    """Bytes with the names of their fields: ``fields`` are pairs of name and length."""
    top, bottom, at = [], [], 0
    for number, (name, length) in enumerate(fields):
        piece = data[at : at + length]
        text = piece.hex(" ") if length <= 8 else f"{piece[:3].hex(' ')} … ({length} bytes)"
        top.append(cell(text, fill=BLUE if number % 2 else PLAIN))
        bottom.append(cell(name, border=0))
        at += length
    graph = new_graph()
    graph.node("bytes", table([top, bottom]))
    return Drawing(graph, f"{at} bytes: " + ", ".join(f"{name} {length}" for name, length in fields))


# -- the figures of the chapter's page --------------------------------------------------------------------------------


def segment_figure(language: str) -> str:
    """The three files of a small segment."""
    with example_segment() as segment:
        return draw_segment(segment).svg(language)


def lookup_figure(language: str) -> str:
    """How offset 27 is found: the nearest entry, then the log."""
    with example_segment() as segment:
        return draw_segment(segment, highlight=27).svg(language)


def time_figure(language: str) -> str:
    """Timestamps that go back and forth, and what the time index makes of them."""
    seconds = (1, 4, 2, 6, 5, 3, 10, 9, 8, 7, 12, 11)
    with example_segment(timestamp_of=lambda number: FIRST_TIMESTAMP + 1000 * seconds[number]) as segment:
        return draw_segment(segment, timestamps=True).svg(language)


def search_figure(language: str) -> str:
    """The turns of a binary search over nine entries."""
    with example_segment(messages=20) as segment:
        return draw_search(segment.offset_index, 33).svg(language)


def entry_figure(language: str) -> str:
    """The first two entries of a real index, byte for byte."""
    with example_segment() as segment:
        segment.offset_index.flush()
        data = segment.offset_index.file.read_bytes()[:16]
    return draw_bytes(data, [("offset 22-20", 4), ("position", 4), ("offset 24-20", 4), ("position", 4)]).svg(language)


def crash_figure(language: str) -> str:
    """The index file of a segment that is being written, beside the same after a clean close."""
    with example_segment(messages=6) as segment:
        index = segment.offset_index
        entries = [index.entry(n) for n in range(index.entries)]
        used = [cell(f"{entry.offset - 20} → {entry.position}", fill=GREEN) for entry in entries]
        open_size = index.file.stat().st_size
        segment.on_become_inactive_segment()
        closed_size = index.file.stat().st_size
        zero = [cell("0 → 0", fill=RED), cell("0 → 0", fill=RED), cell("… zeros", fill=RED)]
        rows = [[cell(f"open, or killed: {open_size} bytes", border=0), *used, *zero]]
        rows.append([cell(f"closed cleanly: {closed_size} bytes", border=0), *used])
        graph = new_graph()
        graph.node("files", table(rows))
        return Drawing(graph, "A preallocated index ends in zeros; a closed one has been trimmed.").svg(language)
