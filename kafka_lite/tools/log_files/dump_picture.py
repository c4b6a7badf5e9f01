"""``kafka-lite dump-log --picture``: draws a segment's files, in colour or in ASCII.

Kafka 0.10.2: core/.../tools/DumpLogSegments.scala shows the same as lines · book 6.1.3
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from kafka_lite.log.files.file_log_input_stream import file_batches
from kafka_lite.log.index_entry import OffsetPosition, TimestampOffset
from kafka_lite.log.log_file_utils import INDEX_FILE_SUFFIX, TIME_INDEX_FILE_SUFFIX
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.log.time_index import TimeIndex
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import RECORD_BATCH_OVERHEAD
from kafka_lite.record.record import CorruptRecordError
from kafka_lite.record.record_batch import CODEC_MASK, RecordBatch
from kafka_lite.record.records import batch_at
from kafka_lite.tools.common import terminal
from kafka_lite.tools.log_files.dump_index import open_offset_index, open_time_index, used_entries
from kafka_lite.tools.log_files.log_file import LogFile
from kafka_lite.tools.log_files.segment_picture import (
    ASCII_PEN,
    UNICODE_PEN,
    Block,
    Segment,
    ascii_cells,
    bytes_per_column,
    draw,
)

BY_CODEC, BY_PRODUCER = "codec", "producer"

_CODECS = {codec.code: codec.codec_name for codec in CompressionType}
_CODEC_LETTERS = {"none": "=", "gzip": "g", "snappy": "s", "lz4": "l", "zstd": "z"}
_CODEC_COLOURS = {"none": "blue", "gzip": "magenta", "snappy": "green", "lz4": "cyan", "zstd": "yellow"}
_NO_PRODUCER = "no producer id"
_PRODUCER_COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "bright_cyan", "bright_green", "bright_yellow")

_ABOVE, _BELOW = "offset index", "time index"
_MARGIN = 14
"""Columns reserved for line names and positions."""


def print_picture(file: Path, colour_by: str) -> None:
    """Draw a ``.log`` file and the indexes beside it; missing indexes are omitted.

    Raises OSError, and CorruptRecordError if the file contains an invalid batch.
    """
    blocks: list[Block] = []
    broken: CorruptRecordError | None = None
    with LogFile(file) as log:
        try:
            blocks.extend(_blocks(log, colour_by))
        except CorruptRecordError as error:
            broken = error  # draw the valid part first
    segment = Segment(blocks, log.size_in_bytes, _offset_entries(file), _time_entries(file))
    kinds = list(dict.fromkeys(block.kind for block in blocks))
    if terminal.on_terminal():
        _print_rich(segment, kinds)
    else:
        _print_ascii(segment, kinds)
    if broken is not None:
        raise broken


def _offset_entries(file: Path) -> list[OffsetPosition]:
    index = file.with_suffix(INDEX_FILE_SUFFIX)
    return list(used_entries(open_offset_index(index))) if _has_entries(index, OffsetIndex.ENTRY.size) else []


def _time_entries(file: Path) -> list[TimestampOffset]:
    index = file.with_suffix(TIME_INDEX_FILE_SUFFIX)
    return list(used_entries(open_time_index(index))) if _has_entries(index, TimeIndex.ENTRY.size) else []


def _has_entries(index: Path, entry_size: int) -> bool:
    """False if a running broker has preallocated the index but written nothing: the zeros would count as one entry."""
    if not index.exists():
        return False
    with index.open("rb") as opened:
        begin = opened.read(2 * entry_size)
    return len(begin) <= entry_size or any(begin)


def _blocks(log: LogFile, colour_by: str) -> Iterator[Block]:
    for batch in file_batches(log, 0, log.size_in_bytes):
        begin = log.read(batch.position, min(RECORD_BATCH_OVERHEAD, batch.size_in_bytes))
        header = batch_at(begin, 0, len(begin))
        kind = _codec(header) if colour_by == BY_CODEC else _producer(header)
        yield Block(batch.position, batch.size_in_bytes, batch.last_offset, kind)


def _codec(header: RecordBatch) -> str:
    code = header.attributes & CODEC_MASK
    return _CODECS.get(code, f"codec {code}")


def _producer(header: RecordBatch) -> str:
    return f"producer {header.producer_id}" if header.has_producer_id else _NO_PRODUCER


def _title(segment: Segment, width: int) -> str:
    scale = bytes_per_column(segment.size_in_bytes, width)
    batches = f"{len(segment.blocks)} batch{'' if len(segment.blocks) == 1 else 'es'}"
    text = f"{batches}, {segment.size_in_bytes} bytes, {scale} bytes per column"
    if segment.blocks and scale > 2 * segment.size_in_bytes / len(segment.blocks):
        text += ": smaller batches are not all seen"
    entries = (
        f"{len(segment.offset_entries)} entries of the offset index, {len(segment.time_entries)} of the time index"
    )
    return f"{text}; {entries}"


def _margin(name: object) -> str:
    return f"{name:<{_MARGIN}}"


# ------------------------------------------------------------------------------------------------------------- plainly


def _print_ascii(segment: Segment, kinds: list[str]) -> None:
    width = max(20, shutil.get_terminal_size((100, 24)).columns - _MARGIN)
    letters = {kind: _letter(kind, number) for number, kind in enumerate(kinds)}
    print(_title(segment, width))
    for strip in draw(segment, width, ASCII_PEN):
        print()
        if strip.offset_marks:
            print(_margin(_ABOVE) + strip.offset_marks)
        print(_margin(strip.position) + ascii_cells(strip, letters.__getitem__))
        if strip.time_marks:
            print(_margin(_BELOW) + strip.time_marks)
    print()
    print("  ".join(f"{letter} {kind}" for kind, letter in letters.items()))


def _letter(kind: str, number: int) -> str:
    if kind == _NO_PRODUCER:
        return "="
    return _CODEC_LETTERS.get(kind) or chr(ord("a") + number % 26)


# ------------------------------------------------------------------------------------------------------- on a terminal


def _print_rich(segment: Segment, kinds: list[str]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    width = max(20, shutil.get_terminal_size().columns - _MARGIN)
    colours = {kind: _colour(kind, number) for number, kind in enumerate(kinds)}
    console.print(_title(segment, width), style="dim", soft_wrap=True)
    for strip in draw(segment, width, UNICODE_PEN):
        blocks = Text.assemble((_margin(strip.position), "dim"))
        for cell, run in groupby(strip.cells):
            character, colour = ("?", "red") if cell.kind is None else ("▐█"[not cell.begins], colours[cell.kind])
            blocks.append(character * len(list(run)), style=colour)
        console.print()
        if strip.offset_marks:
            console.print(Text.assemble((_margin(_ABOVE), "dim"), strip.offset_marks), soft_wrap=True)
        console.print(blocks, soft_wrap=True)
        if strip.time_marks:
            console.print(Text.assemble((_margin(_BELOW), "dim"), strip.time_marks), soft_wrap=True)
    console.print()
    legend = Text()
    for kind, colour in colours.items():
        legend.append("█ ", style=colour).append(f"{kind}   ")
    console.print(legend, soft_wrap=True)


def _colour(kind: str, number: int) -> str:
    if kind == _NO_PRODUCER:
        return "blue"
    return _CODEC_COLOURS.get(kind) or _PRODUCER_COLOURS[number % len(_PRODUCER_COLOURS)]
