"""The figures of *Topics as tables*: a plan that the planner makes when it is drawn, and the kept run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise

from chapters.topics_as_tables.figures.recorded_stream import (
    Batch,
    Event,
    batches,
    checkpoint_file,
    events,
    kept,
    results,
)
from kafka_learn.drawing.svg import PALETTE, Canvas
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.spark.offsets import PartitionOffsets, to_json_object
from kafka_lite.spark.reading.planner import rate_limit

_BLUE, _ORANGE, _GREEN, _PURPLE, _RED, _TEAL, _BROWN, _GREY = PALETTE
_CHINESE = {
    "partition": "分区",
    "batch": "批次",
    "event time": "事件时间",
    "watermark": "水位线",
    "newest so far": "目前最新",
    "counted": "计入",
    "late": "太迟，丢弃",
    "double": "重复，丢弃",
    "flights": "趟航班",
}


def _say(words: str, language: str) -> str:
    return _CHINESE.get(words, words) if language == "zh" else words


# -- the plan of three micro-batches -----------------------------------------------------------------------------------

_CELL = 34.0
_BACKLOG = {TopicPartition("flights", 0): 7, TopicPartition("flights", 1): 3}
_LIMIT = 5


def planned_ends(limit: int = _LIMIT) -> Iterator[PartitionOffsets]:
    """Where the micro-batches of the experiment end, until nothing is left."""
    start = dict.fromkeys(_BACKLOG, 0)
    while start != _BACKLOG:
        start = rate_limit(limit, start, _BACKLOG)
        yield start


def plan_figure(language: str) -> str:
    """Ten records in two partitions, coloured by the micro-batch that reads them, and the offsets of each batch."""
    canvas = Canvas()
    left, right = 90.0, 90.0 + 7 * _CELL + 30
    starts = [dict.fromkeys(_BACKLOG, 0), *planned_ends()]
    for row, partition in enumerate(_BACKLOG):
        top = 8 + row * (_CELL + 14)
        canvas.text((0, top + _CELL / 2 + 4), f"{_say('partition', language)} {partition.partition}")
        for number, (start, end) in enumerate(pairwise(starts)):
            for offset in range(start[partition], end[partition]):
                at = (left + offset * _CELL, top)
                colour = PALETTE[number]
                canvas.box(at, (_CELL - 3, _CELL), fill=colour, opacity=0.25, stroke=colour, radius=3)
                canvas.text((at[0] + _CELL / 2 - 1.5, top + _CELL / 2 + 4), str(offset), anchor="middle")
    for number, end in enumerate(starts[1:]):
        y = 24 + number * 30
        canvas.box((right, y - 11), (14, 14), fill=PALETTE[number], opacity=0.25, stroke=PALETTE[number], radius=3)
        canvas.text((right + 22, y), f"offsets/{number}  {json.dumps(to_json_object(end))}")
    return canvas.svg(right + 330, 104, "the offsets of two partitions, by micro-batch")


# -- events, windows and the watermark ---------------------------------------------------------------------------------

_LEFT, _TOP, _EVENT, _EMPTY = 64.0, 30.0, 42.0, 22.0
_FIRST_MINUTE, _LAST_MINUTE = 9 * 60 + 30, 14 * 60 + 30
_BOTTOM = _TOP + _LAST_MINUTE - _FIRST_MINUTE


def _y(minute: int) -> float:
    return _TOP + _LAST_MINUTE - minute


def _clock(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02}"


def is_late(event: Event) -> bool:
    """Whether the event was behind the watermark of its batch."""
    watermark = batches()[event.batch].watermark
    return watermark is not None and event.minute < watermark


def is_double(event: Event) -> bool:
    """Whether the same flight was sent before."""
    return any(other.minute == event.minute and other.offset < event.offset for other in events())


def _columns() -> dict[int, tuple[float, float]]:
    """Where each batch's column begins and ends; one without events is narrow."""
    found, x = {}, _LEFT
    for batch in batches():
        width = batch.input_rows * _EVENT or _EMPTY
        found[batch.number] = (x, x + width)
        x += width
    return found


def watermark_figure(language: str) -> str:
    """Events in the order of their arrival and by event time, the windows, and the watermark below the newest event."""
    canvas, columns = Canvas(), _columns()
    right = max(end for _, end in columns.values())
    canvas.text((0, 14), _say("event time", language))
    for minute in range(10 * 60, _LAST_MINUTE, 60):
        canvas.line((_LEFT, _y(minute)), (right, _y(minute)), opacity=0.2)
        canvas.text((_LEFT - 8, _y(minute) + 4), _clock(minute), anchor="end")
    _draw_windows(canvas, columns, language)
    _draw_batches(canvas, columns, language)
    _draw_lines(canvas, columns, language)
    _draw_events(canvas, columns)
    _draw_legend(canvas, language)
    return canvas.svg(right + 110, _BOTTOM + 62, "events by arrival and event time, with windows and the watermark")


def _draw_windows(canvas: Canvas, columns: dict[int, tuple[float, float]], language: str) -> None:
    for first, (batch, count) in results().items():
        begin = min(columns[event.batch][0] for event in events() if first <= event.minute < first + 60)
        end = columns[batch][1]
        canvas.box((begin, _y(first + 60) + 2), (end - begin, 56), fill=_TEAL, opacity=0.12, stroke=_TEAL, radius=4)
        words = f"{count} {_say('flights', language)}"
        canvas.text((end - 6, _y(first) - 7), words, anchor="end", fill=_TEAL, bold=True)


def _draw_batches(canvas: Canvas, columns: dict[int, tuple[float, float]], language: str) -> None:
    canvas.text((0, _BOTTOM + 18), _say("batch", language))
    for number, (begin, end) in columns.items():
        canvas.line((begin, _TOP), (begin, _BOTTOM + 6), opacity=0.12)
        canvas.text(((begin + end) / 2, _BOTTOM + 18), str(number), anchor="middle")


def _draw_lines(canvas: Canvas, columns: dict[int, tuple[float, float]], language: str) -> None:
    """The newest event time so far, and the watermark: an hour below it and a batch later."""
    newest, steps = 0, []
    for event, x in zip(events(), _event_positions(columns), strict=True):
        before, newest = newest or event.minute, max(newest, event.minute)
        steps += [(x - _EVENT / 2, _y(before)), (x - _EVENT / 2, _y(newest)), (x + _EVENT / 2, _y(newest))]
    last = max(end for _, end in columns.values())
    canvas.path([*steps, (last, steps[-1][1])], stroke=_GREY, dash="4 3")
    canvas.text((last + 6, steps[-1][1] + 4), _say("newest so far", language), fill=_GREY)
    marks = [(columns[batch.number], batch.watermark) for batch in batches() if batch.watermark is not None]
    points = [(x, _y(watermark)) for (begin, end), watermark in marks for x in (begin, end)]
    canvas.path(points, stroke=_ORANGE, width=2.5)
    canvas.text((last + 6, points[-1][1] + 4), _say("watermark", language), fill=_ORANGE, bold=True)


def _event_positions(columns: dict[int, tuple[float, float]]) -> Iterator[float]:
    """The x of each event: side by side in the column of its batch."""
    for batch in batches():
        inside = [event for event in events() if event.batch == batch.number]
        yield from (columns[batch.number][0] + (place + 0.5) * _EVENT for place in range(len(inside)))


def _draw_events(canvas: Canvas, columns: dict[int, tuple[float, float]]) -> None:
    for event, x in zip(events(), _event_positions(columns), strict=True):
        colour = _RED if is_late(event) else _PURPLE if is_double(event) else _BLUE
        with canvas.group(f"offset {event.offset}, {_clock(event.minute)}"):
            _dot(canvas, (x, _y(event.minute)), colour, filled=colour is _BLUE)
            canvas.text((x, _y(event.minute) - 9), _clock(event.minute), size=12, anchor="middle", halo=True)


def _dot(canvas: Canvas, at: tuple[float, float], colour: str, *, filled: bool) -> None:
    fill, opacity = (colour, 1.0) if filled else ("none", 1.0)
    canvas.box((at[0] - 5, at[1] - 5), (10, 10), fill=fill, opacity=opacity, stroke=colour, radius=5)


def _draw_legend(canvas: Canvas, language: str) -> None:
    x = _LEFT
    for colour, words in ((_BLUE, "counted"), (_RED, "late"), (_PURPLE, "double")):
        _dot(canvas, (x + 5, _BOTTOM + 44), colour, filled=colour is _BLUE)
        canvas.text((x + 16, _BOTTOM + 48), _say(words, language))
        x += 150


# -- tables of the kept run --------------------------------------------------------------------------------------------


def progress_table(language: str) -> str:
    """The report of each batch of the kept run."""
    heads = {
        "en": ("batch", "rows", "watermark", "too late", "ids kept", "windows kept", "until offset"),
        "zh": ("批次", "行数", "水位线", "太迟", "保留的编号", "保留的窗口", "读到偏移量"),
    }
    rows = [_progress_row(batch) for batch in batches()]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads[language], ["--:"] * 7, *rows))


def _progress_row(batch: Batch) -> list[str]:
    watermark = "" if batch.watermark is None else _clock(batch.watermark)
    windows, ids = batch.state_rows
    late = str(sum(batch.dropped_by) or "")
    return [str(batch.number), str(batch.input_rows), watermark, late, str(ids), str(windows), str(batch.end_offset)]


def checkpoint_listing(language: str) -> str:
    """Files of the kept checkpoint, opened; of the settings, only the one that decides about state is shown."""
    shown = ["metadata", "offsets/4", "commits/4", "offsets/5"]
    del language
    parts = [f"── {name}\n{_shortened(checkpoint_file(name))}" for name in shown]
    names = sorted(name for name in kept()["checkpoint"] if name.startswith("state/0/0/5."))
    parts += [f"── {name}\n{checkpoint_file(name)}" for name in names]
    return "```text\n" + "\n".join(parts) + "\n```"


def _shortened(text: str) -> str:
    return "\n".join(_shortened_line(line) for line in text.splitlines())


def _shortened_line(line: str) -> str:
    if '"conf"' not in line:
        return line
    loaded = json.loads(line)
    name = "spark.sql.shuffle.partitions"
    inside = json.dumps(loaded["conf"][name])
    rest = {key: value for key, value in loaded.items() if key != "conf"}
    return f'{json.dumps(rest)[:-1]}, "conf": {{"{name}": {inside}, …}}}}'


def replay_table(language: str) -> str:
    """The content of table and topic before the commit was taken away, and after the query had run again."""
    before, after = kept()["before"], kept()["after"]
    heads = {"en": ("", "before", "after the replay"), "zh": ("", "之前", "重放之后")}
    table = ("table" if language == "en" else "表", *(_folders(each["table"]) for each in (before, after)))
    ids = [(f"`{name}`", f"× {before['topic'][name]}", f"× {count}") for name, count in after["topic"].items()]
    rows = [table, *ids]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads[language], ["---"] * 3, *rows))


def _folders(names: list[str]) -> str:
    return " ".join(
        f"`{name}`" for name in sorted(names, key=lambda name: int(name.partition("=")[2] or -1)) if name[0] != "_"
    )
