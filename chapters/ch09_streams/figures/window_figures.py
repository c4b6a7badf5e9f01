"""Figures of windows, sessions, late data and joins of streams: one row for each record, in the order of arrival.

What the rows say comes from runs of a TopologyTestDriver. Book 9.2.3, 9.2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kafka_learn.drawing.svg import PALETTE, Canvas, text_width
from kafka_lite.common.serdes import Serde, Serdes
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.windows import TimeWindows, Windows
from kafka_lite.streams.state.session_store import SessionStore
from kafka_lite.streams.topology_test_driver import TopologyTestDriver
from kafka_lite.streams.windowed import Windowed

_BLUE, _ORANGE, _GREEN, _PURPLE, _RED, _TEAL, _BROWN, _GREY = PALETTE
_CHINESE = {
    "time": "时间",
    "arrival": "到达",
    "late": "迟到",
    "sent": "发送",
    "clicks": "点击",
    "views": "浏览",
    "nothing": "不发送",
    "starts over": "从头开始",
}
STRING: Serde[str] = Serdes.string()
MINUTE = 60_000

HOPPING_TIMES = (6, 12, 3, 27, 14)
HOPPING = TimeWindows.of(10).advance_by(5)
KEPT_MINUTES = (5, 7, 5, 8, 5)
KEPT = TimeWindows.of(MINUTE).until(2 * MINUTE)
SESSION_TIMES = (0, 3, 9, 20, 6)
SESSIONS = SessionWindows.with_gap(5)
JOINED = (("clicks", "A", 10), ("views", "1", 13), ("views", "2", 20), ("clicks", "B", 16), ("views", "3", 8))
JOIN = JoinWindows.of(5)


def _say(words: str, language: str) -> str:
    return _CHINESE.get(words, words) if language == "zh" else words


# ── the runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────

Count = tuple[int, int, int]
"""Start and end of a window or session, and its count."""


def _stream(builder: KStreamBuilder, topic: str) -> KStream[str, str]:
    return builder.stream(topic, key_serde=STRING, value_serde=STRING)


def counts_in_windows(times: Sequence[int], windows: Windows) -> list[list[Count]]:
    """For each record of a key, the windows that it changes, with their new counts."""
    found: list[list[Count]] = []

    def note(key: Windowed[str], count: int | None) -> None:
        assert count is not None, "windows are never deleted"
        found[-1].append((key.window.start, key.window.end, count))

    builder = KStreamBuilder()
    _stream(builder, "in").group_by_key(STRING, STRING).count("Counts", windows).foreach(note)
    with TopologyTestDriver(builder, key_serde=STRING, value_serde=STRING) as driver:
        for time in times:
            found.append([])
            driver.pipe_input("in", "k", "x", timestamp=time)
    return found


def sessions_after_each(times: Sequence[int], windows: SessionWindows) -> list[list[Count]]:
    """For each record of a key, the sessions that the store has after it."""
    found = []
    builder = KStreamBuilder()
    _stream(builder, "in").group_by_key(STRING, STRING).count("Counts", windows)
    with TopologyTestDriver(builder, key_serde=STRING, value_serde=STRING) as driver:
        store = driver.state_store("Counts")
        assert isinstance(store, SessionStore)
        for time in times:
            driver.pipe_input("in", "k", "x", timestamp=time)
            sessions: list[tuple[Windowed[str], Any]] = list(store.fetch("k"))
            found.append([(session.window.start, session.window.end, count) for session, count in sessions])
    return found


def joined_values(records: Sequence[tuple[str, str, int]], windows: JoinWindows) -> list[list[str]]:
    """For each record (topic, value, time) of a key, what the inner join of clicks and views sends."""
    builder = KStreamBuilder()
    clicks, views = _stream(builder, "clicks"), _stream(builder, "views")
    joined = clicks.join(views, lambda click, view: f"{click}+{view}", windows=windows)
    joined.to("out", STRING, STRING)
    found = []
    with TopologyTestDriver(builder, key_serde=STRING, value_serde=STRING) as driver:
        for topic, value, time in records:
            driver.pipe_input(topic, "k", value, timestamp=time)
            found.append([record.value for record in iter(lambda: driver.read_output("out"), None)])
    return found


# ── the drawing ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Bar:
    start: float
    end: float
    words: str
    colour: str
    is_gone: bool = False
    lane: int = 0


@dataclass(frozen=True)
class _Row:
    """A record: its time, what is drawn beside it, and a remark on the right."""

    name: str
    time: float
    colour: str
    bars: Sequence[_Bar]
    says: str = ""


_LEFT, _TOP, _LANE, _GAP = 92.0, 34.0, 22.0, 12.0


def _draw(rows: Sequence[_Row], last: int, step: int, width: float, label: str, language: str) -> str:
    """Rows from top to bottom, time from left to right, up to ``last``, with a line at every ``step``."""
    canvas, scale = Canvas(), width / last
    heights = [(1 + max((bar.lane for bar in row.bars), default=0)) * _LANE + _GAP for row in rows]
    bottom = _TOP + sum(heights)
    canvas.text((0, 14), _say("arrival", language), opacity=0.7)
    for time in range(0, last + 1, step):
        x = _LEFT + time * scale
        canvas.line((x, _TOP - 8), (x, bottom), opacity=0.18)
        canvas.text((x, 14), str(time), anchor="middle", opacity=0.7)
    canvas.text((_LEFT + width + 12, 14), _say("time", language), opacity=0.7)
    y = _TOP
    for row, height in zip(rows, heights, strict=True):
        canvas.text((0, y + 15), row.name)
        for bar in row.bars:
            _draw_bar(canvas, bar, row.time, scale, y)
        x = _LEFT + row.time * scale
        canvas.line((x, y - 3), (x, y + height - _GAP), stroke=row.colour, width=3)
        canvas.text((_LEFT + width + 12, y + 15), row.says, fill=row.colour)
        y += height
    right = max(text_width(row.says) for row in rows)
    return canvas.svg(_LEFT + width + 24 + max(right, 40), bottom + 4, label)


def _draw_bar(canvas: Canvas, bar: _Bar, time: float, scale: float, y: float) -> None:
    x, top = _LEFT + bar.start * scale, y + bar.lane * _LANE
    size = (max((bar.end - bar.start) * scale, 8), _LANE - 4)
    canvas.box((x, top), size, fill=bar.colour, opacity=0 if bar.is_gone else 0.2, stroke=bar.colour,
               radius=3, dash="3 3" if bar.is_gone else "")  # fmt: skip
    is_hidden = abs((bar.start + bar.end) / 2 - time) * scale < 12  # by the line at the record's time
    middle = x + size[0] / (4 if is_hidden else 2)
    if text_width(bar.words) <= size[0] - 6:
        canvas.text((middle, top + 13), bar.words, anchor="middle", bold=not bar.is_gone, halo=True)
    else:
        canvas.text((x + size[0] + 5, top + 13), bar.words, bold=not bar.is_gone, halo=True)


def _is_late(times: Sequence[int], number: int) -> bool:
    return times[number] < max(times[: number + 1])


def _colour_of(times: Sequence[int], number: int) -> str:
    return _ORANGE if _is_late(times, number) else _BLUE


def _remark(times: Sequence[int], number: int, language: str) -> str:
    return _say("late", language) if _is_late(times, number) else ""


def windows_over_time(language: str) -> str:
    """Hopping windows: for each record, the windows that it changes and their new counts."""
    rows = []
    for number, counts in enumerate(counts_in_windows(HOPPING_TIMES, HOPPING)):
        colour = _colour_of(HOPPING_TIMES, number)
        bars = [
            _Bar(start, end, str(count), colour, lane=lane) for lane, (start, end, count) in enumerate(sorted(counts))
        ]
        time = HOPPING_TIMES[number]
        rows.append(_Row(f"t = {time}", time, colour, bars, _remark(HOPPING_TIMES, number, language)))
    return _draw(rows, 35, 5, 490, "records, and the windows whose counts they change", language)


def kept_windows(language: str) -> str:
    """Windows of a minute that are kept for two: a late record finds its window, and a later one does not."""
    rows = []
    for number, counts in enumerate(counts_in_windows([minute * MINUTE for minute in KEPT_MINUTES], KEPT)):
        ((start, end, count),) = counts
        minute = start // MINUTE
        is_lost = minute in KEPT_MINUTES[:number] and count == 1
        colour = _RED if is_lost else _colour_of(KEPT_MINUTES, number)
        remark = _say("starts over", language) if is_lost else _remark(KEPT_MINUTES, number, language)
        bars = [_Bar(minute, end // MINUTE, str(count), colour)]
        rows.append(_Row(f"{minute}:30", minute + 0.5, colour, bars, remark))
    return _draw(rows, 10, 1, 490, "records in windows of a minute that are kept for two minutes", language)


def sessions_merging(language: str) -> str:
    """The sessions in the store after each record; those that a record has replaced are dashed."""
    rows: list[_Row] = []
    before: list[Count] = []
    for number, sessions in enumerate(sessions_after_each(SESSION_TIMES, SESSIONS)):
        colour = _colour_of(SESSION_TIMES, number)
        bars = [
            _Bar(start, end, str(count), _GREY if (start, end, count) in before else colour)
            for start, end, count in sessions
        ]
        gone = [session for session in before if session not in sessions]
        bars += [_Bar(start, end, "", _GREY, is_gone=True, lane=1) for start, end, _ in gone]
        time = SESSION_TIMES[number]
        rows.append(_Row(f"t = {time}", time, colour, bars, _remark(SESSION_TIMES, number, language)))
        before = sessions
    return _draw(rows, 30, 5, 490, "records, and the sessions of the store after each of them", language)


def join_with_late_data(language: str) -> str:
    """Each record with the range of time in which it looks for the other stream's, and what the join sends."""
    rows = []
    for (topic, value, time), results in zip(JOINED, joined_values(JOINED, JOIN), strict=True):
        colour = _BLUE if topic == "clicks" else _PURPLE
        bar = _Bar(time - JOIN.before_ms, time + JOIN.after_ms, value, colour)
        remark = " ".join(results) or _say("nothing", language)
        rows.append(_Row(f"{_say(topic, language)} {value}", time, colour, [bar], remark))
    return _draw(rows, 30, 5, 420, "clicks and views, the times in which they meet, and what is sent", language)
