"""Drawings and tables of timestamps: where each format has them, how they change, how they find and retain messages.

As in ``log_drawings``, all of it is made by the broker's own classes and read from what they have made. Book 10.2.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from kafka_learn.drawing.graphviz_drawing import BLUE, GREEN, ORANGE, PLAIN, RED, Drawing, cell, new_graph, table
from kafka_lite.common.errors import ApiError
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_retention import deletable_segments
from kafka_lite.log.validation.log_validator import validate_and_assign_offsets
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.conversion import down_convert
from kafka_lite.record.default_record import decode_record
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.message_set import MessageAndOffset
from kafka_lite.record.record import MAGIC_V0, MAGIC_V1, MAGIC_V2, TimestampType
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.records import batches, records

NOON = 1_600_000_000_000
"""The hour that the examples begin at; they show seconds since."""
APPENDED = NOON + 60_000
"""When the broker appends: a minute later."""
SENT_S = (3, 9, 5)
"""The producers' timestamps, in seconds since noon: not in order."""
HOUR_MS = 3_600_000

Field = tuple[str, int, str]
"""Name, bytes, fill."""

_HEAD: list[Field] = [("offset", 8, ""), ("size", 4, ""), ("crc", 4, ""), ("magic", 1, PLAIN), ("attributes", 1, BLUE)]
LAYOUTS: dict[int, list[Field]] = {
    MAGIC_V0: [*_HEAD, ("key, value", 0, "")],
    MAGIC_V1: [*_HEAD, ("timestamp", 8, ORANGE), ("key, value", 0, "")],
    MAGIC_V2: [
        ("base offset", 8, ""),
        ("length, epoch", 8, ""),
        ("magic", 1, PLAIN),
        ("crc", 4, ""),
        ("attributes", 2, BLUE),
        ("", 4, ""),
        ("base timestamp", 8, ORANGE),
        ("max timestamp", 8, ORANGE),
        ("…, records with deltas", 0, ORANGE),
    ],
}


def sent(magic: int, codec: CompressionType = CompressionType.NONE, seconds: Sequence[float] = SENT_S) -> bytearray:
    """A set as a producer of that format sends it, with a record for each of the seconds since noon."""
    builder = MemoryRecordsBuilder(magic, codec)
    for number, second in enumerate(seconds):
        builder.append(NOON + int(1000 * second), b"key", b"value %d" % number)
    return bytearray(builder.build())


def appended(
    magic: int,
    codec: CompressionType = CompressionType.NONE,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    log_magic: int | None = None,
) -> bytes:
    """The same set as a log of ``log_magic`` (by default the producer's) stores it a minute after noon."""
    result = validate_and_assign_offsets(
        sent(magic, codec),
        offset=100,
        now_ms=APPENDED,
        magic=magic if log_magic is None else log_magic,
        timestamp_type=timestamp_type,
    )
    return bytes(result.records)


# -- where they are --------------------------------------------------------------------------------------------------


def draw_formats() -> Drawing:
    """The first bytes of a stored message of each format, with the fields that have to do with time marked."""
    graph = new_graph()
    rows = []
    for magic, layout in LAYOUTS.items():
        data = appended(magic)
        rows.append([cell(f"v{magic}", border=0), *_cells(data, layout)])
        rows.append([cell("", border=0), *(cell(name, border=0) for name, _, _ in layout)])
    for number, magic in enumerate(LAYOUTS):
        graph.node(f"v{magic}", table(rows[2 * number : 2 * number + 2]))
    for magic in (MAGIC_V1, MAGIC_V2):
        graph.edge(f"v{magic - 1}", f"v{magic}", style="invis")
    return Drawing(graph, "The heads of a stored message in formats v0, v1 and v2; v0 has no field for a time.")


def _cells(data: bytes, layout: Sequence[Field]) -> list[str]:
    cells, at = [], 0
    for _name, length, fill in layout:
        piece = data[at : at + length]
        halves = f"{piece[:4].hex(' ')}\n{piece[4:8].hex(' ')}" if length == 8 else piece.hex(" ")
        cells.append(cell(halves if 0 < length <= 8 else "…", fill=fill))
        at += length
    return cells


def formats_figure(language: str) -> str:
    """The heads of the three formats."""
    return draw_formats().svg(language)


# -- what becomes of them ----------------------------------------------------------------------------------------------


def stored_times(language: str) -> str:
    """A table: what is written where, and what a reader is told, for each format, codec and type."""
    head = {
        "en": ("format", "codec", "topic's type", "header: type", "header: largest", "inside", "a consumer is told"),
        "zh": ("格式", "压缩", "主题的时间戳类型", "头部：类型", "头部：最大值", "里面", "消费者得到"),
    }[language]
    rows = []
    for magic in LAYOUTS:
        for codec in (CompressionType.NONE, CompressionType.GZIP):
            for timestamp_type in (TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME):
                data = appended(magic, codec, timestamp_type)
                rows.append([f"v{magic}", codec.codec_name, _type_name(timestamp_type), *_stored(data)])
    return _markdown_table(head, rows)


def _stored(data: bytes) -> list[str]:
    stored = list(batches(data))
    types = {_type_name(batch.timestamp_type) for batch in stored}
    return [
        " ".join(sorted(types)),
        _times(batch.max_timestamp for batch in stored),
        " ".join(_inside(batch) for batch in stored) if stored[0].is_compressed or stored[0].magic == MAGIC_V2 else "",
        _times(record.timestamp for record in records(data)),
    ]


def _inside(batch: RecordBatch) -> str:
    """The timestamps as they are stored in a wrapper, or as deltas in a batch of v2."""
    if isinstance(batch, MessageAndOffset):
        return _times(message.max_timestamp for message in batch.inner_messages(batch.inner_data()))
    assert isinstance(batch, DefaultRecordBatch)
    data, position, deltas = batch.records_data(), 0, []
    for _ in range(batch.record_count):
        delta, *_, position = decode_record(data, position)
        deltas.append(f"{delta / 1000:+g}")
    return f"{_time(batch.base_timestamp)} {' '.join(deltas)}"


def _times(timestamps: object) -> str:
    return " ".join(_time(timestamp) for timestamp in timestamps)  # type: ignore[attr-defined]


def _time(timestamp: int) -> str:
    """Seconds since noon; -1 is no timestamp."""
    return str(timestamp) if timestamp < 0 else f"{(timestamp - NOON) / 1000:g}"


def _type_name(timestamp_type: TimestampType) -> str:
    if timestamp_type is TimestampType.NO_TIMESTAMP_TYPE:
        return "–"
    return "CreateTime" if timestamp_type is TimestampType.CREATE_TIME else "LogAppendTime"


def converted_times(language: str) -> str:
    """A table: producer's format, log's format, consumer's format, and the timestamps on the way."""
    head = {
        "en": ("producer", "log", "consumer", "CreateTime: stored", "read", "LogAppendTime: stored", "read"),
        "zh": ("生产者", "日志", "消费者", "CreateTime：存储", "读到", "LogAppendTime：存储", "读到"),
    }[language]
    rows = []
    for producer, log, consumer in ((0, 1, 1), (0, 2, 2), (1, 2, 2), (2, 1, 2), (2, 2, 1), (2, 2, 0), (2, 0, 2)):
        row = [f"v{producer}", f"v{log}", f"v{consumer}"]
        for timestamp_type in (TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME):
            stored = appended(producer, timestamp_type=timestamp_type, log_magic=log)
            converted = down_convert(stored, consumer)
            row += [_times(r.timestamp for r in records(stored)), _times(r.timestamp for r in records(converted))]
        rows.append(row)
    return _markdown_table(head, rows)


def refused_times(language: str) -> str:
    """A table: which timestamps ``message.timestamp.difference.max.ms`` of an hour lets through."""
    head = {"en": "timestamp", "zh": "时间戳"}[language]
    cases = (
        ("–2 h", -2 * HOUR_MS),
        ("–1 h", -HOUR_MS),
        ("0", 0),
        ("+1 h", HOUR_MS),
        ("+1 h 1 ms", HOUR_MS + 1),
        ("-1", None),
    )
    rows = []
    for magic, timestamp_type in (
        (MAGIC_V2, TimestampType.CREATE_TIME),
        (MAGIC_V2, TimestampType.LOG_APPEND_TIME),
        (MAGIC_V0, TimestampType.CREATE_TIME),
    ):
        outcomes = [_outcome(magic, timestamp_type, difference) for _, difference in cases]
        rows.append([f"v{magic}, {_type_name(timestamp_type)}", *outcomes])
    return _markdown_table([head, *(name for name, _ in cases)], rows)


def _outcome(magic: int, timestamp_type: TimestampType, difference_ms: int | None) -> str:
    builder = MemoryRecordsBuilder(magic)
    builder.append(-1 if difference_ms is None else NOON + difference_ms, b"key", b"value")
    try:
        validate_and_assign_offsets(
            builder.build(),
            offset=0,
            now_ms=NOON,
            magic=magic,
            timestamp_type=timestamp_type,
            timestamp_difference_max_ms=HOUR_MS,
        )
    except ApiError as failure:
        return f"`{failure.error.name}`"
    return "✓"


# -- what is kept by them ----------------------------------------------------------------------------------------------


def draw_retention(hours: Sequence[Sequence[int]], retention_h: int, looked_at_h: Sequence[int]) -> Drawing:
    """A segment for each list of its messages' times (h since noon), and which of them go at which hour.

    Green stays, red is deleted; orange would be old enough, but a segment before it is not.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = open_hourly_log(Path(folder) / "demo-0", hours)
        segments = list(log.segments)
        config = LogConfig({"retention.ms": str(retention_h * HOUR_MS)})
        rows = [[cell("hours", border=0), *(cell(" ".join(map(str, of)), fill=PLAIN) for of in hours)]]
        for hour in looked_at_h:
            now = NOON + hour * HOUR_MS
            gone = deletable_segments(segments, config, 0, now)
            row = [cell(f"at {hour} h", border=0)]
            for segment in segments:
                old = now - segment.largest_timestamp > config.retention_ms
                largest = (segment.largest_timestamp - NOON) // HOUR_MS
                row.append(cell(f"{largest} h", fill=RED if segment in gone else ORANGE if old else GREEN))
            rows.append(row)
        log.close()
    graph = new_graph()
    graph.node("retention", table(rows))
    return Drawing(
        graph, f"Which of {len(hours)} segments are deleted after {retention_h} hours, seen at several times."
    )


def open_hourly_log(directory: Path, hours: Sequence[Sequence[int]]) -> Log:
    """A log with a segment for each list of times (h since noon), a batch for each, an entry every other batch."""
    time = MockTime()
    config = LogConfig({"segment.index.bytes": "4096", "index.interval.bytes": "100"})
    log = Log(directory, config, 0, MockScheduler(time), time)
    for number, of_segment in enumerate(hours):
        if number:
            log.roll()
        for hour in of_segment:
            log.append_as_leader(sent(MAGIC_V2, seconds=[3600 * hour]), leader_epoch=0)
    return log


def retention_figure(language: str) -> str:
    """Retention of 24 hours where a producer's clock was 60 hours ahead for one message."""
    return draw_retention([[0, 2, 4], [5, 70, 8], [9, 10, 12], [14, 15, 16]], 24, [20, 30, 48, 96]).svg(language)


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
