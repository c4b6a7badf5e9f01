"""A recorded run as a sequence diagram: SVG for pages and notebooks, ``rich`` for the terminal.

::

    sequence_diagram(run, lanes=["producer", "Processor", "Log"]).svg()

Time runs downwards, one step per row, with the step's number and time on the left. Each thread has a colour. Solid
arrows are calls, dashed ones pass a queue or the network, boxes show files and states. A bar on a lane is a thread at
work; a dotted bar is an item waiting in a queue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rich.table import Table
from rich.text import Text

from kafka_learn.both_languages import with_chinese_twin
from kafka_learn.drawing.notebook_run import run_output, with_chinese_run
from kafka_learn.drawing.playable_figure import PlayableFigure
from kafka_learn.drawing.run_steps import Changes, PlayedStep
from kafka_learn.drawing.run_words import duration, lane_name, word
from kafka_learn.drawing.sequence_layout import Bar, Layout, Step, StepKind, lay_out
from kafka_learn.drawing.svg import BACKGROUND, PALETTE, Canvas, shorten, text_width
from kafka_learn.recording.recorded_run import RecordedRun, thread_names

WIDTH = 900
"""The width of a page's column on a screen 1280 pixels wide."""
GUTTER = 92
ROW = 27
HEADING = 12.0
LABEL = 12.5
SMALL = 12.0
BAR = 8
SLOT = 5
PAUSE = 18
PAUSE_FRACTION = 0.3
"""A pause between steps longer than this fraction of the run is marked between two rows."""
MIRROR_FROM = 18
"""From this many steps on, the lanes' names are repeated below the figure."""
RICH_COLOURS = ("blue", "dark_orange3", "green", "magenta", "red", "cyan", "yellow", "white")

_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-. ]")


class SequenceDiagram:
    """Draws the layout of a run."""

    def __init__(self, run: RecordedRun, layout: Layout, language: str = "en") -> None:
        self.layout = layout
        self.chinese: Callable[[], str] | None = None
        self.chinese_run: Callable[[], PlayableFigure] | None = None
        self._run = run
        self._language = language
        self._threads = list(dict.fromkeys(step.thread for step in layout.steps))
        self._thread_names = {
            name: self._name(name if name in layout.lanes else short)
            for name, short in thread_names(self._threads).items()
        }
        lanes = max(len(layout.lanes), 1)
        self._step_width = min((WIDTH - GUTTER) / lanes, 170)
        self._width = GUTTER + self._step_width * lanes
        self._pauses = _pauses([step.event.time_ns for step in layout.steps])
        self._canvas = Canvas()
        self._headings = [_words(self._name(lane)) for lane in layout.lanes]
        self._head_height = 14 * max(map(len, self._headings), default=1) + 8
        self._legend_height = 22 * self._draw_legend()
        self._heads_end = self._legend_height + self._head_height
        self._top = self._heads_end + 14

    # ── SVG ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def svg(self) -> str:
        """The diagram as one ``<svg>`` element."""
        self._canvas = Canvas()
        self._draw_legend()
        self._draw_headings(self._legend_height)
        self._draw_rows()
        height = self._bottom + 4
        if len(self.layout.steps) >= MIRROR_FROM:
            self._draw_headings(self._bottom)
            height += self._head_height
        return self._canvas.svg(self._width, height, self.alt)

    def playable(self) -> PlayableFigure:
        """The diagram for a page that keeps the lanes' names in sight and plays the steps."""
        self._canvas = Canvas()
        self._draw_legend()
        self._draw_headings(self._legend_height)
        names = [self._name(lane) for lane in self.layout.lanes]
        heads = self._canvas.svg(self._width, self._heads_end + 1, ", ".join(names))
        self._canvas = Canvas()
        self._draw_rows()
        origin = (0, self._heads_end)
        rows = self._canvas.svg(self._width, self._bottom + 4 - self._heads_end, self.alt, origin=origin)
        return PlayableFigure(heads, rows, "y", names, self._played_steps())

    def _played_steps(self) -> list[PlayedStep]:
        layout = self.layout
        changes = Changes(layout.run, layout.hide, self._language)
        calls = {call.begin.number: call.begin for call in layout.run.calls()}
        ends = [*(step.index for step in layout.steps[1:]), len(layout.run)]
        return [
            PlayedStep(
                self._step_in_words(step), self._lanes_of(step), self._y(row),
                calls.get(step.event.number, step.event).source if step.kind is StepKind.RETURN else step.event.source,
                changes.until(end),
            )
            for row, (step, end) in enumerate(zip(layout.steps, ends, strict=True))
        ]  # fmt: skip

    def _lanes_of(self, step: Step) -> list[int]:
        """The numbers of the lanes that a step touches."""
        lanes = dict.fromkeys([step.source, step.target])
        return [self.layout.lanes.index(lane) for lane in lanes if lane in self.layout.lanes]

    @property
    def _bottom(self) -> float:
        return self._y(len(self.layout.steps) - 1) + 16

    def _draw_rows(self) -> None:
        for number, lane in enumerate(self.layout.lanes):
            x = self._x(lane)
            with self._canvas.group(lanes=number):
                self._canvas.line((x, self._heads_end), (x, self._bottom), dash="2 4", opacity=0.5)
        self._canvas.text((GUTTER - 12, self._top - 4), "ms", size=SMALL, anchor="end", opacity=0.7)
        for bar in self.layout.bars:
            self._draw_bar(bar)
        for row, length_ns in self._pauses.items():
            y = self._y(row) - ROW - PAUSE / 2 + 7
            self._canvas.text((GUTTER - 12, y + 3), f"⋯ {duration(length_ns)}", size=SMALL, anchor="end", opacity=0.9)
            self._canvas.line((GUTTER - 6, y), (self._width, y), dash="1 5", opacity=0.8)
        for number, step in enumerate(self.layout.steps):
            self._draw_step(number, step)

    @property
    def alt(self) -> str:
        """The diagram in one sentence."""
        kind, steps = word("Sequence diagram", self._language), word("steps", self._language)
        title = word(self._run.title, self._language)
        return f"{kind}: {title}. {len(self.layout.steps)} {steps}: {', '.join(map(self._name, self.layout.lanes))}."

    def _name(self, lane: str) -> str:
        return lane_name(lane, self._language)

    def _x(self, lane: str) -> float:
        return GUTTER + self._step_width * (self.layout.lanes.index(lane) + 0.5)

    def _y(self, row: float) -> float:
        pauses = sum(pause <= row for pause in self._pauses)
        return self._top + ROW * row + ROW * 0.6 + PAUSE * pauses

    def _colour(self, thread: str) -> str:
        return PALETTE[self._threads.index(thread) % len(PALETTE)] if thread in self._threads else PALETTE[-1]

    def _draw_legend(self) -> int:
        """The threads with their colours; returns the number of lines."""
        x, line = 0.0, 0
        for thread in self._threads:
            label = self._thread_names[thread]
            needed = text_width(label, SMALL) + 34
            if x and x + needed > self._width:
                x, line = 0.0, line + 1
            self._canvas.box((x, 4 + 22 * line), (10, 10), fill=self._colour(thread), opacity=0.75, radius=2)
            self._canvas.text((x + 15, 13 + 22 * line), label, size=SMALL)
            x += needed
        return line + 1

    def _draw_headings(self, y: float) -> None:
        for lane, words in enumerate(self._headings):
            with self._canvas.group(lanes=lane):
                self._draw_heading(self._x(self.layout.lanes[lane]), y, words)

    def _draw_heading(self, x: float, y: float, words: list[str]) -> None:
        width = self._step_width - 6
        self._canvas.box(
            (x - width / 2, y), (width, self._head_height), fill=BACKGROUND, stroke="currentColor", radius=4
        )
        first = y + self._head_height / 2 - 7 * len(words) + 11
        for number, part in enumerate(words):
            label = shorten(part, width - 2, HEADING)
            self._canvas.text((x, first + 14 * number), label, size=HEADING, anchor="middle", bold=True)

    def _draw_bar(self, bar: Bar) -> None:
        x = self._x(bar.lane) - BAR / 2 + SLOT * bar.slot
        top, bottom = self._y(bar.first_row), self._y(bar.last_row)
        colour = self._colour(bar.thread)
        what = word(bar.waiting, self._language) if bar.waiting else self._name(bar.lane)
        title = f"{what}: {self._thread_names.get(bar.thread, bar.thread)}"
        with self._canvas.group(title, lanes=self.layout.lanes.index(bar.lane)):
            self._canvas.box((x, top), (BAR, bottom - top), fill=BACKGROUND)
            if bar.waiting:
                self._canvas.box((x, top), (BAR, bottom - top), stroke="currentColor", dash="2 2")
            else:
                self._canvas.box((x, top), (BAR, bottom - top), fill=colour, stroke=colour, opacity=0.45)

    def _draw_step(self, number: int, step: Step) -> None:
        y = self._y(number)
        lanes = " ".join(map(str, self._lanes_of(step)))
        with self._canvas.group(f"{number + 1}. {self._step_in_words(step)}", step=number, lanes=lanes):
            self._canvas.text((0, y + 3), f"{number + 1:>2}", size=LABEL, bold=True)
            self._canvas.text((GUTTER - 12, y + 3), _ms(step), size=SMALL, anchor="end", opacity=0.7)
            if step.kind is StepKind.NOTE:
                self._draw_note(step, number)
            elif step.source == step.target:
                self._draw_loop(step, number)
            else:
                self._draw_arrow(step, number)

    def _edge(self, lane: str, row: float, thread: str, *, right: bool) -> float:
        """The x position where an arrow meets a lane: the outermost bar of its thread there, on the given side."""
        own = [
            bar.slot
            for bar in self.layout.bars
            if bar.lane == lane and bar.thread == thread and bar.first_row <= row <= bar.last_row
        ]
        if not own:
            return self._x(lane)
        return self._x(lane) + SLOT * max(own) + (BAR / 2 if right else -BAR / 2)

    def _draw_arrow(self, step: Step, row: int) -> None:
        y, colour = self._y(row), self._colour(step.thread)
        if step.source is None:  # the caller is not shown
            to_right, start = True, self._x(step.target) - self._step_width / 2
            self._canvas.box((start - 2.5, y - 2.5), (5, 5), fill=colour, radius=2.5)
        else:
            to_right = self._x(step.source) < self._x(step.target)
            start = self._edge(step.source, row, step.thread, right=to_right)
        end = self._edge(step.target, row, step.event.thread, right=not to_right)
        dashed = step.kind is not StepKind.CALL
        self._canvas.line((start, y), (end, y), stroke=colour, width=1.4, dash="5 3" if dashed else "")
        self._canvas.arrow_head((end, y), to_right=to_right, fill=colour, is_open=step.kind is StepKind.RETURN)
        self._draw_label(step, (start + end) / 2, y - 5)

    def _draw_loop(self, step: Step, row: int) -> None:
        """A call within one object: a loop on the right."""
        y, colour = self._y(row), self._colour(step.thread)
        x = self._edge(step.target, row, step.event.thread, right=True)
        dash = "5 3" if step.kind is StepKind.HAND_OVER else ""
        self._canvas.path([(x, y - 7), (x + 16, y - 7), (x + 16, y), (x, y)], stroke=colour, width=1.4, dash=dash)
        self._canvas.arrow_head((x, y), to_right=False, fill=colour)
        label = self._label(step)
        left, right = self._x(step.target) - BAR - GUTTER, self._width - x - 22
        if text_width(label, LABEL) <= right or right >= left:
            self._canvas.text((x + 22, y), shorten(label, right, LABEL), size=LABEL, halo=True)
        else:
            words = shorten(label, left, LABEL)
            self._canvas.text((GUTTER + left, y), words, size=LABEL, anchor="end", halo=True)

    def _draw_note(self, step: Step, row: int) -> None:
        y = self._y(row)
        label = self._fitting(step.label)
        width = text_width(label, LABEL) + 12
        x = self._x(step.target) + BAR + SLOT
        if x + width > self._width:
            x = max(self._x(step.target) - BAR - width, GUTTER)
        self._canvas.box((x, y - 10), (width, 17), fill=BACKGROUND)
        self._canvas.box((x, y - 10), (width, 17), fill="#8a8a8a", opacity=0.18, stroke="currentColor", radius=3)
        self._canvas.text((x + 6, y + 2.5), label, size=LABEL)

    def _draw_label(self, step: Step, middle: float, y: float) -> None:
        label = self._label(step)
        half = text_width(label, LABEL) / 2
        x = min(max(middle, GUTTER + half), self._width - half)
        self._canvas.text((x, y), label, size=LABEL, anchor="middle", halo=True)

    def _label(self, step: Step) -> str:
        times = f" ×{step.times}" if step.times > 1 else ""
        return self._fitting(step.label + times)

    def _fitting(self, label: str) -> str:
        return shorten(label, self._width - GUTTER - 8, LABEL)

    # ── words ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _step_in_words(self, step: Step) -> str:
        way = self._name(step.target)
        if step.source is not None and step.source != step.target:
            way = f"{self._name(step.source)} → {way}"
        return f"{way}: {self._label(step)} ({self._thread_names[step.thread]}, {_ms(step)} ms)"

    def in_words(self) -> list[str]:
        """The steps in words."""
        return [self._step_in_words(step) for step in self.layout.steps]

    def text(self) -> str:
        """The steps in words, one numbered line each."""
        return "\n".join(f"{number}. {words}" for number, words in enumerate(self.in_words(), 1))

    def to_rich(self) -> Table:
        """The steps as a table for the terminal."""
        table = Table(title=self._run.title, box=None, pad_edge=False, header_style="bold")
        table.add_column("", justify="right", style="bold")
        table.add_column("ms", justify="right", style="dim", no_wrap=True)
        table.add_column("from → to", no_wrap=True)
        table.add_column("what")
        for number, step in enumerate(self.layout.steps, 1):
            colour = RICH_COLOURS[self._threads.index(step.thread) % len(RICH_COLOURS)]
            way = Text(f"{step.source or ''} {_RICH_ARROWS[step.kind]} {step.target}".strip(), style=colour)
            table.add_row(str(number), _ms(step), way, Text(self._label(step)))
        return table

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return run_output(self)


_RICH_ARROWS = {StepKind.CALL: "─▶", StepKind.RETURN: "◁┄", StepKind.HAND_OVER: "┄▶", StepKind.NOTE: "▪"}


@with_chinese_run
@with_chinese_twin
def sequence_diagram(
    run: RecordedRun,
    *,
    lanes: Sequence[str] = (),
    hide: Sequence[str] = (),
    returns: str = "results",
    by: str = "objects",
    language: str = "en",
) -> SequenceDiagram:
    """Draw a run. For the options, and for ValueError, see ``lay_out``."""
    return SequenceDiagram(
        run, lay_out(run, lanes=lanes, hide=hide, returns=returns, by=by, language=language), language
    )


def _pauses(times_ns: list[int]) -> dict[int, int]:
    """The rows that follow a long pause, and the length of the pause (ns)."""
    total = max(times_ns, default=0)
    lengths = {row: times_ns[row] - times_ns[row - 1] for row in range(1, len(times_ns))}
    return {row: length for row, length in lengths.items() if length > total * PAUSE_FRACTION}


def _ms(step: Step) -> str:
    return f"{step.event.time_ns / 1e6:.2f}"


def _words(lane: str) -> list[str]:
    """The words of a lane's name, one per line: ``KafkaRequestHandler`` takes three lines."""
    return [word for word in _HUMPS.split(lane) if word]
