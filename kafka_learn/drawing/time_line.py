"""A recorded run as a time line: the work of each thread, the items in each queue, the phases of each request.

::

    time_line(run).svg()

A long gap without events, such as a long poll, is cut from the axis and marked.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from rich.table import Table
from rich.text import Text

from kafka_learn.both_languages import with_chinese_twin
from kafka_learn.drawing.notebook_run import run_output, with_chinese_run
from kafka_learn.drawing.playable_figure import PlayableFigure
from kafka_learn.drawing.run_steps import Changes, PlayedStep
from kafka_learn.drawing.run_words import duration, lane_name, phrase, word
from kafka_learn.drawing.sequence_diagram import RICH_COLOURS
from kafka_learn.drawing.svg import BACKGROUND, PALETTE, Canvas, text_width
from kafka_learn.recording.recorded_run import CallSpan, Kind, RecordedRun, thread_names

WIDTH = 900
LABELS = 196
MARGIN = 8
"""Left of the axis: half of the number of its first tick."""
ROW = 19
GAP = 7
AXIS = 26
FONT = 12.0
MAX_DEPTH = 7
BREAK_FRACTION = 0.25
"""A gap longer than this fraction of the run is cut out."""
BREAK_WIDTH = 34.0
RICH_WIDTH = 60
PHASES = ("request_queue", "local", "remote", "throttle", "response_queue", "response_send")


@dataclass(frozen=True)
class Span:
    """A span of time, in ns; ``depth`` is the number of spans around it."""

    start_ns: int
    end_ns: int
    label: str
    depth: int = 0
    colour: str = PALETTE[0]
    hollow: bool = False
    source: str = ""
    """The line with which it begins, see ``Event.source``."""


@dataclass
class Lane:
    """One line of the figure; its height in rows is the depth of its spans."""

    label: str
    spans: list[Span] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """Height in rows."""
        return 1 + max((span.depth for span in self.spans), default=0)


class Axis:
    """Maps time to a position: linear, except that every long gap has the same small width."""

    def __init__(self, times_ns: Iterable[int], width: float) -> None:
        self.times = sorted({0, *times_ns})
        total = max(self.times[-1], 1)
        self.breaks = [
            (start, end) for start, end in itertools.pairwise(self.times) if end - start > total * BREAK_FRACTION
        ]
        linear = total - sum(end - start for start, end in self.breaks)
        self._scale = (width - BREAK_WIDTH * len(self.breaks)) / max(linear, 1)

    def x(self, time_ns: float) -> float:
        """The position of a time; 0 is the start of the axis."""
        place, at = 0.0, 0.0
        for start, end in self.breaks:
            if time_ns <= start:
                break
            place += (start - at) * self._scale
            place += BREAK_WIDTH * min((time_ns - start) / (end - start), 1)
            at = end
        return place + max(time_ns - at, 0) * self._scale if time_ns >= at else place

    def ticks(self, least_px: float) -> list[int]:
        """Round times at least ``least_px`` apart, none of them in a gap."""
        least_ns = least_px / self._scale
        step = next(
            unit * factor
            for unit in (10**power for power in range(3, 12))
            for factor in (1, 2, 5)
            if unit * factor >= least_ns
        )
        starts = [0, *(end for _, end in self.breaks)]
        ends = [*(start for start, _ in self.breaks), self.times[-1]]
        found: list[int] = []
        for start, end in zip(starts, ends, strict=True):
            found += range(-(-start // step) * step, end + 1, step)
        return found


class TimeLine:
    """Draws the lanes of a run."""

    def __init__(self, run: RecordedRun, lanes: list[Lane], language: str = "en") -> None:
        self.lanes = lanes
        self.chinese: Callable[[], str] | None = None
        self.chinese_run: Callable[[], PlayableFigure] | None = None
        self._run = run
        self._language = language
        self._axis = Axis((event.time_ns for event in run), WIDTH - LABELS - 12)
        self._canvas = Canvas()
        self._legend_left = 0.0
        spans = [(number, span) for number, lane in enumerate(lanes) for span in lane.spans]
        self._in_order = sorted(spans, key=lambda found: found[1].start_ns)
        self._steps = {id(span): step for step, (_, span) in enumerate(self._in_order)}

    # ── SVG ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def svg(self) -> str:
        """The time line as one ``<svg>`` element."""
        self._canvas, self._legend_left = Canvas(), 0.0
        top = self._draw_legend() + 8
        self._draw_names(top)
        return self._canvas.svg(WIDTH, self._draw_lanes(top) + AXIS, self.alt)

    def playable(self) -> PlayableFigure:
        """The time line for a page that keeps the lanes' names in sight and plays the spans in their order.

        A step's place is where the next one begins.
        """
        self._canvas, self._legend_left = Canvas(), float(LABELS)
        top = self._draw_legend() + 8
        height = self._draw_lanes(top) + AXIS
        left = LABELS - MARGIN
        body = self._canvas.svg(WIDTH - left, height, self.alt, origin=(left, 0))
        self._canvas = Canvas()
        self._draw_names(top)
        names = [lane.label for lane in self.lanes]
        return PlayableFigure(self._canvas.svg(left, height, ", ".join(names)), body, "x", names, self._played_steps())

    def _played_steps(self) -> list[PlayedStep]:
        changes = Changes(self._run, language=self._language)
        times = [event.time_ns for event in self._run]
        starts = [*(span.start_ns for _, span in self._in_order[1:]), times[-1] + 1]
        return [
            PlayedStep(
                _in_words(self.lanes[lane], span), [lane], self._x(min(next_start, times[-1])), span.source,
                changes.until(bisect_left(times, next_start)),
            )
            for (lane, span), next_start in zip(self._in_order, starts, strict=True)
        ]  # fmt: skip

    def _draw_names(self, top: float) -> None:
        y = top
        for number, lane in enumerate(self.lanes):
            with self._canvas.group(lanes=number):
                self._canvas.text((0, y + ROW - 6), lane.label, size=FONT)
            y += lane.depth * ROW + GAP
            self._canvas.line((0, y - GAP / 2), (LABELS - MARGIN, y - GAP / 2), opacity=0.15)

    def _draw_lanes(self, top: float) -> float:
        """Everything but the names and the legend; returns where it ends, without the words of the axis."""
        bottom = top + sum(lane.depth * ROW + GAP for lane in self.lanes)
        self._draw_axis(top, bottom)
        y = top
        for number, lane in enumerate(self.lanes):
            for span in lane.spans:
                self._draw_span(number, span, y)
            y += lane.depth * ROW + GAP
            self._canvas.line((LABELS - MARGIN, y - GAP / 2), (WIDTH, y - GAP / 2), opacity=0.15)
        return bottom

    @property
    def alt(self) -> str:
        """The figure in one sentence."""
        title = word(self._run.title, self._language)
        labels = ", ".join(lane.label for lane in self.lanes)
        return f"{word('Time line', self._language)}: {title}, {duration(self._axis.times[-1])}. {labels}."

    def _x(self, time_ns: float) -> float:
        return LABELS + self._axis.x(time_ns)

    def _draw_legend(self) -> float:
        """The legend of the phases, if there are any; returns its height."""
        x = self._legend_left
        for phase in _phases_of(self._run):
            label = word(phase, self._language)
            self._canvas.box((x, 4), (10, 10), fill=_phase_colour(phase), opacity=0.75, radius=2)
            self._canvas.text((x + 14, 13), label, size=FONT)
            x += text_width(label, FONT) + 30
        return 20.0 if x > self._legend_left else 0.0

    def _draw_axis(self, top: float, bottom: float) -> None:
        for tick in self._axis.ticks(72):
            x = self._x(tick)
            self._canvas.line((x, top), (x, bottom + 3), opacity=0.25, dash="1 3")
            self._canvas.text((x, bottom + 15), f"{tick / 1e6:g}", size=FONT, anchor="middle", opacity=0.8)
        self._canvas.text((LABELS - 8, bottom + 15), "ms", size=FONT, anchor="end", opacity=0.8)
        for start, end in self._axis.breaks:
            middle = (self._x(start) + self._x(end)) / 2
            self._canvas.box((self._x(start) + 2, top), (BREAK_WIDTH - 4, bottom - top), fill="#8a8a8a", opacity=0.12)
            for offset in (-2, 2):
                self._canvas.line((middle + offset - 2, bottom + 5), (middle + offset + 2, bottom - 5))
            self._canvas.text((middle, bottom + 25), f"⋯ {duration(end - start)}", size=FONT, anchor="middle")

    def _draw_span(self, lane: int, span: Span, y: float) -> None:
        x, end = self._x(span.start_ns), self._x(span.end_ns)
        width, top = max(end - x, 1.5), y + span.depth * ROW
        title = f"{self.lanes[lane].label}: {span.label}, {duration(span.end_ns - span.start_ns)}"
        with self._canvas.group(title, step=self._steps[id(span)], lanes=lane):
            self._canvas.box((x, top), (width, ROW - 2), fill=BACKGROUND)
            dash = "2 2" if span.hollow else ""
            opacity = 0.08 if span.hollow else 0.4
            self._canvas.box(
                (x, top), (width, ROW - 2), fill=span.colour, stroke=span.colour, opacity=opacity, dash=dash
            )
            # Without its class if there is no room for it; empty if there is no room for the method either.
            names = (span.label, span.label.rpartition(".")[2])
            fitting = next((name for name in names if text_width(name, FONT) + 6 <= width), "")
            self._canvas.text((x + 3, top + ROW - 6), fitting, size=FONT)

    # ── the terminal ──────────────────────────────────────────────────────────────────────────────────────────────

    def to_rich(self) -> Table:
        """The lanes as a table of bars, for the terminal."""
        axis = Axis(self._axis.times, RICH_WIDTH - 1)
        table = Table(title=f"{self._run.title} ({duration(axis.times[-1])})", box=None, header_style="bold")
        table.add_column("", no_wrap=True)
        table.add_column("", no_wrap=True, width=RICH_WIDTH)
        table.add_column("")
        for number, lane in enumerate(self.lanes):
            for depth in range(lane.depth):
                spans = [span for span in lane.spans if span.depth == depth]
                bar = [" "] * RICH_WIDTH
                for span in spans:
                    first, last = int(axis.x(span.start_ns)), int(axis.x(span.end_ns))
                    bar[first : last + 1] = ("░" if span.hollow else "█") * (last + 1 - first)
                names = ", ".join(f"{span.label} {duration(span.end_ns - span.start_ns)}" for span in spans)
                colour = RICH_COLOURS[number % len(RICH_COLOURS)]
                table.add_row("" if depth else lane.label, Text("".join(bar[:RICH_WIDTH]), style=colour), names)
        return table

    def in_words(self) -> list[str]:
        """The spans in words: lane, label, start time, duration."""
        return [_in_words(lane, span) for lane in self.lanes for span in lane.spans]

    def text(self) -> str:
        """The spans in words, one line each."""
        return "\n".join(self.in_words())

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return run_output(self)


def _in_words(lane: Lane, span: Span) -> str:
    return f"{lane.label}: {span.label}, {span.start_ns / 1e6:.2f} ms + {duration(span.end_ns - span.start_ns)}"


@with_chinese_run
@with_chinese_twin
def time_line(
    run: RecordedRun, *, hide: Sequence[str] = (), threads: Sequence[str] = (), language: str = "en"
) -> TimeLine:
    """Draw a run against time. ``hide`` omits events (see ``matches``); ``threads`` selects threads by their names in
    the figure.
    """
    shown = run.without(*hide) if hide else run
    names = thread_names(shown.threads)
    lanes = _phase_lanes(shown, language)
    for number, thread in enumerate(shown.threads):
        if not threads or names[thread] in threads:
            spans = _thread_spans(shown, thread, PALETTE[number % len(PALETTE)], language)
            lanes.append(Lane(lane_name(names[thread], language), spans))
    return TimeLine(shown, [*lanes, *_queue_lanes(shown, language)], language)


# ── lanes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _phases_of(run: RecordedRun) -> list[str]:
    """The phases with a duration above 0, in order."""
    lasted = {name for event in run if event.kind is Kind.PHASES for name, length in event.detail.items() if length}
    return [phase for phase in PHASES if f"{phase}_ms" in lasted]


def _phase_colour(phase: str) -> str:
    return PALETTE[PHASES.index(phase) % len(PALETTE)]


def _phase_lanes(run: RecordedRun, language: str) -> list[Lane]:
    """One lane per request; the phases are consecutive and end when the request ended.

    If a handler returns some time after handing over the response, its local time overlaps the response's phases. Only
    the part before them is drawn.
    """
    lanes = []
    for event in run:
        if event.kind is not Kind.PHASES:
            continue
        lengths = {phase: round(event.detail.get(f"{phase}_ms", 0) * 1e6) for phase in PHASES}
        total = round(event.detail.get("total_ms", 0) * 1e6)
        lengths["local"] -= min(max(sum(lengths.values()) - total, 0), lengths["local"])
        start = event.time_ns - sum(lengths.values())
        lane = Lane(event.what)
        for phase, length in lengths.items():
            if length:
                lane.spans.append(
                    Span(max(start, 0), start + length, word(phase, language), colour=_phase_colour(phase))
                )
            start += length
        lanes.append(lane)
    return sorted(lanes, key=lambda lane: lane.spans[0].start_ns if lane.spans else 0)


def _thread_spans(run: RecordedRun, thread: str, colour: str, language: str) -> list[Span]:
    """The turns of a thread, with its calls above them."""
    end_ns = run.events[-1].time_ns
    spans = []
    for turn in run.turns():
        if turn.thread == thread:
            first, last = run.events[turn.first], run.events[turn.last]
            client = run.is_client(thread)
            begun = [event for event in run if event.thread == thread and event.kind is Kind.PUT] if client else [first]
            said = (phrase(str(event.detail.get("thing", event.what)), language) for event in begun)
            label = ", ".join(dict.fromkeys(said))
            spans.append(Span(first.time_ns, last.time_ns, label, 0, colour, client, first.source))
    spans += [
        Span(
            call.begin.time_ns,
            _end_ns(call, end_ns),
            f"{call.begin.who}.{call.begin.what}",
            call.depth + 1,
            colour,
            source=call.begin.source,
        )
        for call in run.calls()
        if call.begin.thread == thread and call.depth < MAX_DEPTH
    ]
    return spans


def _end_ns(call: CallSpan, otherwise: int) -> int:
    return call.end.time_ns if call.end is not None else otherwise


def _queue_lanes(run: RecordedRun, language: str) -> list[Lane]:
    """One lane per queue: how long items waited in it."""
    lanes: dict[str, Lane] = {}
    for pair in run.hand_overs():
        if pair.take is not None and pair.take.who == pair.put.who:
            lane = lanes.setdefault(pair.put.what, Lane(word(pair.put.what, language)))
            label = phrase(str(pair.put.detail.get("thing", "")), language)
            depth = sum(span.end_ns > pair.put.time_ns for span in lane.spans)
            lane.spans.append(
                Span(pair.put.time_ns, pair.take.time_ns, label, depth, PALETTE[-1], True, pair.put.source)
            )
    return list(lanes.values())
