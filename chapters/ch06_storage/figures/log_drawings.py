"""Drawings of whole logs: their segments and offsets, what is read, recovered and deleted of them.

As in ``segment_drawings`` nothing is drawn by hand: each figure makes a real ``Log`` in a temporary folder, lets the
broker's own classes work on it, and draws what they have made of it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from kafka_learn.drawing.graphviz_drawing import GREEN, ORANGE, PLAIN, RED, Drawing, cell, new_graph, table
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.offset_checkpoint_file import RECOVERY_POINT_CHECKPOINT_FILE
from kafka_lite.log.files.file_log_input_stream import FileChannelRecordBatch
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.log_retention import deletable_segments
from kafka_lite.log.validation.log_validator import validate_and_assign_offsets
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import MAGIC_V2

FIRST_TIMESTAMP = 1_600_000_000_000
VALUE = b"x" * 40
"""So a batch of three has 200 bytes in format v2, less two for each record's short key."""
_SMALL = {"segment.bytes": "500", "segment.index.bytes": "4096", "index.interval.bytes": "150"}

Pair = tuple[bytes | None, bytes | None]


def record_set(*pairs: Pair, timestamp: int = FIRST_TIMESTAMP, magic: int = MAGIC_V2) -> bytearray:
    """A set of ``(key, value)`` pairs as a producer sends it: its offsets count from 0."""
    builder = MemoryRecordsBuilder(magic, CompressionType.NONE)
    for number, (key, value) in enumerate(pairs):
        builder.append(timestamp + number, key, value)
    return bytearray(builder.build())


@contextmanager
def example_log(config: Mapping[str, str] | None = None) -> Iterator[Log]:
    """An empty log ``demo-0`` in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        log = open_log(Path(folder) / "demo-0", config)
        try:
            yield log
        finally:
            log.close()


def open_log(
    directory: Path,
    config: Mapping[str, str] | None = None,
    *,
    recovery_point: int = 0,
    had_clean_shutdown: bool = False,
) -> Log:
    """The log in a directory, with segments of 500 bytes unless the configuration says otherwise.

    What it gives to its scheduler is done only where that is told to: deleted files stay.
    """
    time = MockTime()
    return Log(
        directory,
        LogConfig({**_SMALL, **(config or {})}),
        recovery_point,
        MockScheduler(time),
        time,
        had_clean_shutdown=had_clean_shutdown,
    )


def fill(log: Log, sets: int, size: int = 3) -> None:
    """Append ``sets`` batches of ``size`` messages each."""
    for _ in range(sets):
        timestamp = FIRST_TIMESTAMP + 1000 * log.log_end_offset
        log.append_as_leader(record_set(*[(b"k", VALUE)] * size, timestamp=timestamp), leader_epoch=0)


# -- a log and its offsets -------------------------------------------------------------------------------------------


def draw_log(
    log: Log,
    marks: Mapping[str, int] | None = None,
    fill_of: Callable[[FileChannelRecordBatch], str] = lambda _: PLAIN,
    alt: str = "",
) -> Drawing:
    """Segments, their batches with offsets and positions, and below them the offsets in ``marks``.

    Without ``marks``: log start offset, recovery point, log end offset.
    """
    if marks is None:
        marks = {"log start": log.log_start_offset, "recovery point": log.recovery_point, "LEO": log.log_end_offset}
    names, cells, below = [], [], []
    left = dict(marks)
    for segment in log.segments:
        found = list(segment.log.batches_from())
        active = "\nactive" if segment is log.active_segment else ""
        names.append(cell(f"{segment.base_offset:020d}.log{active}", columns=max(1, len(found)), border=0))
        for batch in found:
            cells.append(cell(f"{_offsets(batch)}\nat {batch.position}", fill=fill_of(batch)))
            below.append(_mark_cell(left, batch.last_offset))
        if not found:
            cells.append(cell("(empty)"))
            below.append(cell("", border=0))
    names.append(cell("", border=0))
    cells.append(cell("next", border=0))
    below.append(_mark_cell(left, None))
    graph = new_graph()
    graph.node("log", table([names, cells, below]))
    return Drawing(graph, alt or f"{log.name}: {len(log.segments)} segments up to offset {log.log_end_offset}.")


def _mark_cell(left: dict[str, int], last_offset: int | None) -> str:
    """The marks below a batch with that last offset (None: below the end); they are taken out of ``left``."""
    here = [name for name, offset in left.items() if last_offset is None or offset <= last_offset]
    text = "\n".join(f"▲ {name} {left.pop(name)}" for name in here)
    return cell(text, border=0)


def _offsets(batch: FileChannelRecordBatch) -> str:
    first, last = batch.first_or_last_offset, batch.last_offset
    return str(last) if first == last else f"{first}–{last}"


def log_figure(language: str) -> str:
    """A log of three segments, of which the first one and a half are on disk for certain."""
    with example_log() as log:
        fill(log, 3)
        log.flush()
        fill(log, 3)
        log.maybe_increment_log_start_offset(3)

        def on_disk(batch: FileChannelRecordBatch) -> str:
            return GREEN if batch.last_offset < log.recovery_point else PLAIN

        return draw_log(log, fill_of=on_disk).svg(language)


# -- appending -------------------------------------------------------------------------------------------------------

_HEADER = (
    ("base offset", 8),
    ("length", 4),
    ("leader epoch", 4),
    ("magic", 1),
    ("crc", 4),
    ("attributes", 2),
    ("last delta", 4),
    ("base timestamp", 8),
    ("max timestamp", 8),
)


def draw_validation(timestamp_type: str = "CreateTime") -> Drawing:
    """The header of a v2 batch as the producer sent it, and as the log keeps it; what has changed is orange."""
    sent = record_set((b"k", VALUE), (b"k", VALUE), (b"k", VALUE))
    with example_log({"message.timestamp.type": timestamp_type}) as log:
        fill(log, 9)
        log.append_as_leader(bytearray(sent), leader_epoch=4)
        kept = log.active_segment.log.read(log.active_segment.size - len(sent), len(sent)).to_bytes()
    rows = [[cell("", border=0)], [cell("sent", border=0)], [cell("in the log", border=0)]]
    at = 0
    for name, length in _HEADER:
        before, after = sent[at : at + length], kept[at : at + length]
        rows[0].append(cell(name, border=0))
        rows[1].append(cell(_short_hex(before), fill=PLAIN))
        rows[2].append(cell(_short_hex(after), fill=ORANGE if before != after else PLAIN))
        at += length
    rows[0].append(cell("the rest", border=0))
    rows[1].append(cell(f"{len(sent) - at} bytes", fill=PLAIN))
    rows[2].append(cell("the same" if sent[at:] == kept[at:] else "other bytes", fill=PLAIN))
    graph = new_graph()
    graph.node("batch", table(rows))
    return Drawing(graph, "The header of a batch before and after its validation.")


def _short_hex(data: bytes | bytearray) -> str:
    text = data.hex()
    return f"…{text[-6:]}" if len(text) > 8 else text


def validation_figure(language: str) -> str:
    """The changes that an append makes to a batch."""
    return draw_validation().svg(language)


def ways_through_validation(language: str) -> str:
    """The batch sent, the format that the topic wants, and the outcome, as the validator itself says."""
    head = {
        "en": ["sent", "the topic wants", "bytes sent", "bytes kept", "rebuilt or recompressed"],
        "zh": ["发送的", "主题要求的", "发送字节", "保存字节", "重建或重新压缩"],
    }
    yes = {"en": ("no", "yes"), "zh": ("否", "是")}
    cases = [
        (2, CompressionType.NONE, 2, None),
        (2, CompressionType.GZIP, 2, None),
        (2, CompressionType.NONE, 2, CompressionType.GZIP),
        (2, CompressionType.GZIP, 1, None),
        (1, CompressionType.NONE, 2, None),
        (1, CompressionType.GZIP, 1, None),
        (0, CompressionType.GZIP, 0, None),
    ]
    rows = []
    for sent_magic, sent_codec, magic, codec in cases:
        builder = MemoryRecordsBuilder(sent_magic, sent_codec)
        for number in range(3):
            builder.append(FIRST_TIMESTAMP + number, b"k", VALUE)
        sent = builder.build()
        result = validate_and_assign_offsets(sent, offset=27, now_ms=FIRST_TIMESTAMP, magic=magic, target_codec=codec)
        wanted = f"v{magic}, {'producer' if codec is None else codec.name.lower()}"
        changed = yes[language][result.message_size_maybe_changed]
        rows.append(
            [f"v{sent_magic}, {sent_codec.name.lower()}", wanted, str(len(sent)), str(len(result.records)), changed]
        )
    return markdown_table(head[language], rows)


# -- reading ---------------------------------------------------------------------------------------------------------


def draw_reads(log: Log, reads: Sequence[tuple[str, int, int, int | None]]) -> Drawing:
    """One row for each read ``(name, start offset, max bytes, max offset)``: orange is what it gives."""
    found = [(segment, batch) for segment in log.segments for batch in segment.log.batches_from()]
    names = [cell("", border=0)]
    names += [
        cell(f"{s.base_offset:020d}.log", columns=sum(owner is s for owner, _ in found), border=0) for s in log.segments
    ]
    rows = [names]
    for name, start, size, max_offset in reads:
        data = log.read(start, size, max_offset, min_one_message=True)
        place = data.fetch_offset_metadata
        first, end = place.relative_position_in_segment, place.relative_position_in_segment + data.size_in_bytes
        row = [cell(name, border=0)]
        for segment, batch in found:
            here = segment.base_offset == place.segment_base_offset
            inside = here and first <= batch.position < end
            cut = inside and batch.position + batch.size_in_bytes > end
            row.append(cell(_offsets(batch), fill=RED if cut else ORANGE if inside else PLAIN))
        rows.append(row)
    graph = new_graph()
    graph.node("reads", table(rows))
    return Drawing(graph, "; ".join(name for name, *_ in reads))


def reads_figure(language: str) -> str:
    """Reads that end for different reasons."""
    with example_log() as log:
        fill(log, 6)
        size = log.segments.first.size // 2
        return draw_reads(
            log,
            [
                ("follower, from 0", 0, 100_000, None),
                ("consumer, from 7, HW 15", 7, 100_000, 15),
                ("consumer, from 13, HW 15", 13, 100_000, 15),
                ("from 0, one and a half batches", 0, size + size // 2, None),
                ("from 4, one byte", 4, 1, None),
            ],
        ).svg(language)


# -- managing --------------------------------------------------------------------------------------------------------


def retention_table(language: str) -> str:
    """The segments of one log that each reason would delete."""
    head = {"en": "retention", "zh": "设置"}[language]
    with example_log() as log:
        fill(log, 9)
        segments = tuple(log.segments)
        now_ms = FIRST_TIMESTAMP + 60_000
        enough = log.size - segments[0].size
        cases: list[tuple[str, dict[str, str], int]] = [
            ("retention.ms=45000", {"retention.ms": "45000"}, 0),
            *((f"retention.bytes={size}", {"retention.bytes": str(size)}, 0) for size in (enough, enough + 1)),
            ("log start offset 13", {"cleanup.policy": "compact"}, 13),
            ("retention.ms=0", {"retention.ms": "0"}, 0),
        ]
        rows = []
        for name, props, start in cases:
            config = LogConfig({"retention.ms": "-1", **props})
            gone = deletable_segments(segments, config, start, now_ms)
            rows.append([f"`{name}`", *("✗" if segment in gone else "" for segment in segments)])
        ages = [f"{s.base_offset}: {s.size} B, {(now_ms - s.largest_timestamp) // 1000} s" for s in segments]
    return markdown_table([head, *ages], rows)


def checkpoint_files(language: str) -> str:
    """The content of a log directory's files while the broker runs, and after a clean stop."""
    words = {"en": ("running, flushed once", "stopped"), "zh": ("运行中，刷盘过一次", "正常停止之后")}[language]
    time = MockTime()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        manager = LogManager([root], {}, LogConfig(_SMALL), MockScheduler(time), time)
        manager.startup()
        first, second = (manager.get_or_create_log(TopicPartition("demo", n)) for n in range(2))
        fill(first, 4)
        first.flush()
        fill(first, 1)
        fill(second, 2)
        manager.maintenance.checkpoint_recovery_point_offsets()
        running = _listing(root)
        manager.shutdown()
        stopped = _listing(root)
    return "\n".join(f"{word}:\n\n```text\n{text}\n```\n" for word, text in zip(words, (running, stopped), strict=True))


def _listing(root: Path) -> str:
    """The files of a log directory, and what its checkpoint of recovery points says."""
    rows = []
    for path in sorted(root.iterdir()):
        inside = ", ".join(sorted(f.name for f in path.iterdir() if f.suffix == ".log")) if path.is_dir() else ""
        rows.append(f"{path.name}/   {inside}" if path.is_dir() else path.name)
        if path.name == RECOVERY_POINT_CHECKPOINT_FILE:
            rows += [f"    {line}" for line in path.read_text(encoding="utf-8").splitlines()]
    return "\n".join(rows)


def draw_recovery(damage: Callable[[Path], object]) -> Drawing:
    """A log of six batches that was never closed, damaged, and what is left of it when it is opened again.

    ``damage`` gets the folder of the log.
    """
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "demo-0"
        killed = open_log(directory)
        fill(killed, 6)
        written = [(segment.base_offset, batch) for segment in killed.segments for batch in segment.log.batches_from()]
        damage(directory)
        with quiet("kafka_lite.log"):
            recovered = open_log(directory)
        left = {batch.last_offset for segment in recovered.segments for batch in segment.log.batches_from()}
        bases = {segment.base_offset for segment in recovered.segments}
        before = [cell("written", border=0), *(cell(_offsets(batch), fill=PLAIN) for _, batch in written)]
        after = [cell(f"recovered: LEO {recovered.log_end_offset}", border=0)]
        for base, batch in written:
            fill_color = GREEN if batch.last_offset in left else RED if base in bases else ORANGE
            after.append(cell(_offsets(batch), fill=fill_color))
        graph = new_graph()
        graph.node("recovery", table([before, after]))
        return Drawing(graph, f"After recovery the log ends at offset {recovered.log_end_offset}.")


def flip_a_bit(file: Path, position: int) -> None:
    """Damage one byte of a file."""
    data = bytearray(file.read_bytes())
    data[position] ^= 1
    file.write_bytes(data)


def recovery_figure(language: str) -> str:
    """A bit flips in the second of three segments."""
    return draw_recovery(lambda folder: flip_a_bit(folder / f"{6:020d}.log", 250)).svg(language)


def torn_figure(language: str) -> str:
    """Half of the last batch has reached the disk."""

    def tear(folder: Path) -> None:
        file = folder / f"{12:020d}.log"
        file.write_bytes(file.read_bytes()[:-70])

    return draw_recovery(tear).svg(language)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of a page."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
