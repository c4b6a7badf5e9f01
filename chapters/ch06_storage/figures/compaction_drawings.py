"""Drawings of log compaction: what stays, the offset map, the files of a replacement.

As in ``log_drawings`` each figure lets the broker's own classes work on a real log in a temporary folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from unittest.mock import patch

from chapters.ch06_storage.figures.log_drawings import FIRST_TIMESTAMP, Pair, example_log, markdown_table, record_set
from kafka_learn.drawing.graphviz_drawing import BLUE, GREEN, ORANGE, PLAIN, Drawing, cell, new_graph, table
from kafka_learn.drawing.state_machines import draw_states
from kafka_lite.common.rates.throttler import Throttler
from kafka_lite.common.time import MockTime
from kafka_lite.log.cleaning.cleaner import Cleaner
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.cleaning.log_to_clean import LogToClean
from kafka_lite.log.cleaning.skimpy_offset_map import SkimpyOffsetMap
from kafka_lite.log.log import Log
from kafka_lite.log.log_cleaning_state import VALID_PREVIOUS_STATES
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.record.record import Record
from kafka_lite.record.records import batches

COMPACTED = {"cleanup.policy": "compact", "segment.bytes": "220", "index.interval.bytes": "0"}
EXAMPLE: tuple[Pair, ...] = (
    (b"a", b"1"),
    (b"b", b"1"),
    (b"a", b"2"),
    (b"c", b"1"),
    (b"b", b"2"),
    (b"c", None),
    (b"a", b"3"),
    (b"d", b"1"),
)


def clean(
    log: Log, *, from_offset: int = 0, offset_map: SkimpyOffsetMap | None = None, time: MockTime | None = None
) -> int:
    """Compact a log as a cleaner thread would, up to its active segment; returns the next first dirty offset."""
    time = time or MockTime()
    cleaner = Cleaner(
        0, offset_map or SkimpyOffsetMap(24_000), CleanerConfig(), Throttler(float("inf"), time), time, lambda _: None
    )
    return cleaner.clean(LogToClean(log.topic_partition, log, from_offset, log.active_segment.base_offset))[0]


def append_pairs(log: Log, pairs: Iterable[Pair]) -> None:
    """One message per append, with a timestamp of its own."""
    for pair in pairs:
        log.append_as_leader(record_set(pair, timestamp=FIRST_TIMESTAMP + log.log_end_offset), leader_epoch=0)


def messages(log: Log) -> list[list[str]]:
    """Every message, ``offset: key=value``, by segment."""

    def text(record: Record) -> str:
        value = "null" if record.value is None else record.value.decode()
        return f"{record.offset}: {(record.key or b'').decode()}={value}"

    return [
        [text(record) for batch in segment.log.read(0, segment.size).batches() for record in batch.records()]
        for segment in log.segments
    ]


def draw_messages(log: Log, map_of: SkimpyOffsetMap | None = None) -> Drawing:
    """Every message of a log by segment, ``offset: key=value``; green are those that a map would keep."""
    names, cells = [], []
    for segment in log.segments:
        records = [r for batch in batches(segment.log.read(0, segment.size).to_bytes()) for r in batch.records()]
        active = " (active)" if segment is log.active_segment else ""
        names.append(cell(f"segment {segment.base_offset}{active}", columns=max(1, len(records)), border=0))
        for record in records:
            key, value = record.key or b"", record.value
            text = f"{record.offset}: {key.decode()}={'null' if value is None else value.decode()}"
            keep = map_of is not None and segment is not log.active_segment and record.offset >= map_of.get(key)
            cells.append(cell(text, fill=GREEN if keep else PLAIN))
        if not records:
            cells.append(cell("(empty)"))
    graph = new_graph()
    graph.node("messages", table([names, cells]))
    return Drawing(graph, f"The messages of {log.name}, by segment.")


class KeptMap(SkimpyOffsetMap):
    """An offset map that still knows what it held when it was cleared, for drawings."""

    last: SkimpyOffsetMap | None = None

    def clear(self) -> None:
        """Remember, then forget."""
        if self.size:
            self.last = SkimpyOffsetMap(self.slots * self.SLOT.size)
            self.last._memory[:] = self._memory[:]
            self.last._entries, self.last._latest_offset = self._entries, self._latest_offset
        super().clear()


def before_cleaning_figure(language: str) -> str:
    """A small compacted log before the cleaner comes, with what it will keep."""
    kept = KeptMap(24 * 16)
    with example_log(COMPACTED) as copy:  # a map is full only while a log is being cleaned
        append_pairs(copy, EXAMPLE)
        clean(copy, offset_map=kept)
    with example_log(COMPACTED) as log:
        append_pairs(log, EXAMPLE)
        return draw_messages(log, kept.last).svg(language)


def after_cleaning_figure(language: str) -> str:
    """The same after it."""
    with example_log(COMPACTED) as log:
        append_pairs(log, EXAMPLE)
        clean(log)
        return draw_messages(log).svg(language)


def draw_slots(keys: Sequence[bytes], slots: int) -> Drawing:
    """A map of few slots, filled with keys whose offsets are 0, 1, 2, …; each slot with its hash and offset."""
    offset_map = SkimpyOffsetMap(slots * SkimpyOffsetMap.SLOT.size)
    rows = [[cell("", border=0), *(cell(f"slot {n}", border=0) for n in range(slots))]]
    for offset, key in enumerate(keys):
        probes = offset_map._probes
        offset_map.put(key, offset)
        took = offset_map._probes - probes
        row = [cell(f"put {key.decode()} → {offset}: {took} probe{'s' if took > 1 else ''}", border=0)]
        for n in range(slots):
            key_hash, at = SkimpyOffsetMap.SLOT.unpack_from(offset_map._memory, n * SkimpyOffsetMap.SLOT.size)
            empty = key_hash == bytes(16)
            new = key_hash == offset_map._hash(key)
            text = "·" if empty else f"{key_hash[:2].hex()}… {at}"
            row.append(cell(text, fill=ORANGE if new else "" if empty else BLUE))
        rows.append(row)
    graph = new_graph()
    graph.node("slots", table(rows))
    return Drawing(graph, f"{len(keys)} keys in an offset map of {slots} slots.")


def slots_figure(language: str) -> str:
    """Five keys, one of them twice, in eight slots."""
    return draw_slots([b"a", b"b", b"c", b"d", b"a", b"e"], 8).svg(language)


def replacement_steps(language: str) -> str:
    """The files of a log at each step of a replacement, listed while it happens."""
    head = {"en": ["after", "files"], "zh": ["之后", "文件"]}[language]
    rows: list[list[str]] = []
    with example_log(COMPACTED) as log:
        append_pairs(log, EXAMPLE)
        change = LogSegment.change_file_suffixes

        def listed(segment: LogSegment, old_suffix: str, new_suffix: str) -> None:
            files = sorted(file.name.lstrip("0") for file in log.dir.iterdir() if ".log" in file.name)
            if not rows:
                rows.append(["`CleanedSegment.complete`", ", ".join(f"`{_zero(name)}`" for name in files)])
            change(segment, old_suffix, new_suffix)
            files = sorted(file.name.lstrip("0") for file in log.dir.iterdir() if ".log" in file.name)
            step = f"`{segment.base_offset}{old_suffix or '.log'}` → `{new_suffix or '.log'}`"
            rows.append([step, ", ".join(f"`{_zero(name)}`" for name in files)])

        with patch.object(LogSegment, "change_file_suffixes", listed):
            clean(log)
    return markdown_table(head, rows)


def _zero(name: str) -> str:
    return name if name[0].isdigit() else f"0{name}"


def cleaning_states_figure(language: str) -> str:
    """The states of a partition for the cleaner, from the table that it obeys."""
    return draw_states(VALID_PREVIOUS_STATES).svg(language)
