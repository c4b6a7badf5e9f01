"""The measurements of ``python -m chapters.ch09_streams.five_systems``, as a table and a chart. Book 9.3."""

from __future__ import annotations

import functools
import json
from typing import Any

from chapters.ch09_streams.five_systems.__main__ import KEPT
from chapters.ch09_streams.five_systems.lines import WORDS_IN_A_LINE
from kafka_learn.drawing.charts import BarChart, rounded


@functools.cache
def kept() -> dict[str, Any]:
    """The kept measurements."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def machine_line(language: str) -> str:
    """Where and when it was measured."""
    text = (
        "*Measured on {recorded}: {system}, {processors} processors, {python}, load average {load} before the start.*"
    )
    if language == "zh":
        text = "**测于 {recorded}：{system}，{processors} 个处理器，{python}，开始前的平均负载 {load}。**"
    return text.format(**kept()["machine"])


def times_table(language: str) -> str:
    """A row for each system."""
    lines = kept()["lines"]
    words = lines * WORDS_IN_A_LINE
    head = [
        "",
        "start, until 5 lines are counted",
        f"{lines:,} lines, {words:,} words",
        "one more line",
        "counts written",
    ]
    if language == "zh":
        head = ["", "启动和 5 行", f"{lines:,} 行，{words:,} 个单词", "再来一行", "写出的计数"]
    rows = [head, ["---", "--:", "--:", "--:", "--:"]]
    for system, times in kept()["systems"].items():
        measured = (f"{times['start_s']:.1f} s", f"{times['lines_s']:.1f} s", f"{rounded(times['one_more_ms'])} ms")
        rows.append([system, *measured, f"{times['written']:,.0f}"])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def one_more_figure(language: str) -> str:
    """How long a single line takes when all others are counted."""
    values = {system: times["one_more_ms"] for system, times in kept()["systems"].items()}
    title = {"en": "One more line (log scale)", "zh": "再来一行（对数刻度）"}[language]
    return BarChart(title, values, "ms", logarithmic=True).svg()
