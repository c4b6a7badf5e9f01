"""Draws the figures of a run's report as SVG: how the run went, and what it found.

With matplotlib · book 2.3
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pipeline.view.query_progress import (
    Progress,
    batch_duration_ms,
    by_query,
    instant_ms,
    state_rows,
    watermark_ms,
)
from pipeline.weather_chart import AIRPORTS

# Okabe and Ito's palette, which is colour-blind safe.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_INK, _FAINT, _GRID = "#222222", "#666666", "#e6e6e6"
_WIDTH_INCHES = 11.5

Sample = Mapping[str, Any]
"""A row of ``samples.jsonl``: what the replay had done at a moment."""


@dataclass(frozen=True)
class RunningTime:
    """Seconds of running since the first start, without the pauses between a kill and the next start.

    ``spans`` are the first and the last moment of each start, ms since the epoch.
    """

    spans: Sequence[tuple[int, int]]

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> RunningTime:
        """The spans of the samples of each start."""
        spans: dict[int, tuple[int, int]] = {}
        for sample in samples:
            first, _ = spans.get(sample["start"], (sample["time_ms"], 0))
            spans[sample["start"]] = (first, sample["time_ms"])
        return cls(list(spans.values()))

    def seconds(self, time_ms: int) -> float:
        """The running time at a moment."""
        return sum(min(max(time_ms - first, 0), last - first) for first, last in self.spans) / 1000

    def restarts(self) -> list[float]:
        """When it was started again."""
        return [self.seconds(first) for first, _ in self.spans[1:]]


def draw_run(names: Sequence[str], batches: Sequence[Progress], samples: Sequence[Sample]) -> str:
    """Clock and watermarks, records and lag, durations of batches, rows of state: an SVG element.

    ``names`` are those of the queries in the order of the legend.
    """
    running = RunningTime.of(samples)
    figure = _figure(6.6)
    grid = figure.subplots(2, 2, sharex=True).flatten()
    of_name = by_query(batches)
    queries = {name: of_name[name] for name in names}
    times = {
        name: [running.seconds(instant_ms(batch["timestamp"])) for batch in of_query]
        for name, of_query in queries.items()
    }
    _draw_clock(grid[0], queries, times, samples, running)
    _draw_records(grid[1], queries, samples, running)
    for axes, title, value in (
        (grid[2], "Duration of each batch, seconds", lambda batch: batch_duration_ms(batch) / 1000),
        (grid[3], "Rows of state", state_rows),
    ):
        for index, (name, of_query) in enumerate(queries.items()):
            values = [value(batch) for batch in of_query]
            axes.plot(times[name], values, color=_COLORS[index], linewidth=1.4, marker=".", label=name)
        _finish(axes, title)
        axes.set_xlabel("seconds of running", color=_FAINT)
    for axes in grid:
        for restart in running.restarts():
            axes.axvline(restart, color=_INK, linewidth=1, linestyle=(0, (4, 3)))
    handles, labels = grid[2].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False, fontsize=10)
    return _svg(figure)


def draw_delays(delays: pd.DataFrame) -> str:
    """Flights and their mean delay by hour and airport, from the table ``delays``: an SVG element."""
    figure = _figure(4.6)
    grid = figure.subplots(2, 1, sharex=True)
    for index, (origin, name) in enumerate(AIRPORTS.items()):
        rows = delays[delays["origin"] == origin].sort_values("window_start")
        for axes, column in zip(grid, ("mean_delay", "flights"), strict=True):
            axes.plot(rows["window_start"], rows[column], color=_COLORS[index], linewidth=1.8, marker=".", label=name)
    _finish(grid[0], "Mean departure delay, minutes")
    _finish(grid[1], "Flights per hour")
    _date_axis(grid[1].xaxis)
    grid[1].set_xlabel("scheduled departure, UTC", color=_FAINT)
    grid[0].legend(frameon=False, ncols=len(AIRPORTS), fontsize=10)
    return _svg(figure)


def _draw_clock(
    axes: Any, queries: Mapping[str, Sequence[Progress]], times: Mapping[str, Sequence[float]],
    samples: Sequence[Sample], running: RunningTime,
) -> None:  # fmt: skip
    last_ms = max((sample["clock_ms"] for sample in samples), default=0)
    axes.plot(
        [running.seconds(sample["time_ms"]) for sample in samples],
        [datetime.fromtimestamp(sample["clock_ms"] / 1000, UTC) for sample in samples],
        color=_FAINT, linewidth=3, alpha=0.4,
    )  # fmt: skip
    for index, (name, of_query) in enumerate(queries.items()):
        marks = [(second, watermark_ms(batch)) for second, batch in zip(times[name], of_query, strict=True)]
        # The closing events move the watermark by days: beyond the replay's end it says nothing.
        known = [(second, mark) for second, mark in marks if mark is not None and mark <= last_ms]
        instants = [datetime.fromtimestamp(mark / 1000, UTC) for _, mark in known]
        axes.step([second for second, _ in known], instants, where="post", color=_COLORS[index], linewidth=1.4)
    _finish(axes, "Event time: the replay (grey) and the watermarks behind it", from_zero=False)
    _date_axis(axes.yaxis)


def _draw_records(axes: Any, names: Iterable[str], samples: Sequence[Sample], running: RunningTime) -> None:
    seconds = [running.seconds(sample["time_ms"]) for sample in samples]
    axes.plot(seconds, [sample["send_rate"] for sample in samples], color=_FAINT, linewidth=3, alpha=0.4)
    for index, name in enumerate(names):
        lags = [sample["lag"].get(name) for sample in samples]  # None, without a batch or a broker, is a gap
        axes.plot(
            seconds, [math.nan if count is None else count for count in lags], color=_COLORS[index], linewidth=1.4
        )
    _finish(axes, "Records sent per second (grey), and lag in records")


def _figure(height_inches: float) -> Figure:
    figure = Figure(figsize=(_WIDTH_INCHES, height_inches), facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _finish(axes: Any, title: str, *, from_zero: bool = True) -> None:
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=_INK)
    axes.grid(axis="y", color=_GRID)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_FAINT)
    axes.tick_params(axis="both", length=0, labelcolor=_INK, labelsize=9)
    axes.set_axisbelow(True)
    if from_zero:
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
        axes.yaxis.set_major_locator(MaxNLocator(5))


def _date_axis(axis: Any) -> None:
    locator = AutoDateLocator(tz=UTC, maxticks=8)
    axis.set_major_locator(locator)
    axis.set_major_formatter(ConciseDateFormatter(locator, tz=UTC))


def _svg(figure: Figure) -> str:
    """The figure as an element for HTML, without the XML declaration."""
    out = io.StringIO()
    figure.savefig(out, format="svg")
    text = out.getvalue()
    return text[text.index("<svg") :]
