"""The bench's results as tables: medians, ratios and goals, for the site, for ``results.md`` and for the terminal.

The format of ``bench/results/results.json``, which ``make bench`` writes::

    {"measured": "2026-11-21T16:20:00+00:00", "environment": {"processors": 2, "Python": "3.11.7", …},
     "options": {"rounds": 3, …}, "notes": […],
     "sections": [{"name": "One request in flight",
                   "columns": ["kafka_lite", "Kafka 3.9.1"], "reference": "Kafka 3.9.1",
                   "figures": [{"workload": "ApiVersions", "figure": "p50, ms",
                                "goal": {"of": "ratio", "at_least": false, "bound": 1.0},
                                "samples": {"kafka_lite": [0.11, 0.12], "Kafka 3.9.1": [0.14, 0.13]}}],
                   "skipped": [{"workload": "…", "column": "kafka_lite", "reason": "…"}]}]}

Goals are judged for the columns ``kafka_lite`` and ``kafka_lite, compiled``, or for the first column if there is
neither. A ratio is a column's median divided by the reference's.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_learn.project import PROJECT_ROOT

RESULTS = PROJECT_ROOT / "bench" / "results" / "results.json"

PLAIN, COMPILED = "kafka_lite", "kafka_lite, compiled"
"""The columns of our own builds."""

_UNITS = {
    "messages/s": ("thousand messages/s", 1e-3),
    "messages/s per core": ("thousand messages/s per core", 1e-3),
    "requests/s": ("thousand requests/s", 1e-3),
}
"""Figures shown in a different unit from the stored one."""

_WORDS = {
    "workload": ("workload", "负载"),
    "figure": ("figure", "指标"),
    "ratio": ("ratio to {}", "与 {} 之比"),
    "goal": ("goal", "目标"),
    "of ratio": ("ratio", "比值"),
    "met": ("met", "达到"),
    "compiled": ("compiled", "编译后达到"),
    "plain": ("plain", "未编译时达到"),
    "not met": ("not met", "未达到"),
    "skipped": ("Not run", "未运行"),
    "measured": ("Measured", "测量时间"),
    "verdict": ("{met} of {all} goals are met.", "{all} 个目标中达到了 {met} 个。"),
    "verdict compiled": ("With the hot modules compiled: {met} of {all}.", "编译热点模块后：{all} 个中达到 {met} 个。"),
    "none": ("`make bench` has not been run here yet.", "这里还没有运行过 `make bench`。"),
    "reading": (
        "Rounds: {rounds}. Each cell is the median of the rounds, with the smallest and the largest in parentheses.",
        "共 {rounds} 轮。每格为各轮的中位数，括号内为最小值和最大值。",
    ),
}
"""English and Chinese."""

_CHINESE = {
    "Produce in batches, librdkafka": "批量生产，librdkafka",
    "Produce prebuilt batches, the broker is the limit": "生产预先构造的批次，瓶颈在 broker",
    "Produce in batches, Java": "批量生产，Java",
    "Consume from the page cache": "从页缓存消费",
    "One request in flight": "一次一个请求",
    "Requests": "请求",
    "End to end": "端到端",
    "Connections and partitions beside": "同时存在的连接与分区",
    "Start": "启动",
    "Many gigabytes, and kill -9": "大量数据与 kill -9",
    "A million timeouts": "一百万个超时任务",
    "Producers of Python, to kafka_lite": "Python 生产者，发往 kafka_lite",
    "Consumers of Python, from kafka_lite": "Python 消费者，读自 kafka_lite",
    "Spark's sources, from kafka_lite": "Spark 的数据源，读自 kafka_lite",
    "Streams, from and to kafka_lite": "流处理，读写 kafka_lite",
    "Groups": "消费组",
    "Transactions": "事务",
    "Producer ids": "生产者 id",
    "transactions/s": "个事务/秒",
    "Replication, three brokers": "复制，三个 broker",
    "Controller, three brokers": "控制器，三个 broker",
    "CPU of all brokers, ms/s": "所有 broker 的 CPU，ms/s",
    "ms a partition": "每个分区的 ms",
    "last step over an earlier one": "最后一步与之前一步之比",
    "first record of all, s": "所有成员收到第一条消息，s",
    "one partition each, s": "每个成员各得一个分区，s",
    "thousand messages/s": "千条消息/秒",
    "thousand messages/s per core": "千条消息/秒/核",
    "thousand requests/s": "千个请求/秒",
    "broker CPU, µs each": "broker CPU，每个 µs",
    "of that in the kernel, µs each": "其中在内核里，每个 µs",
    "client CPU, µs each": "客户端 CPU，每个 µs",
    "peak memory, MB": "内存峰值，MB",
    "throughput, share of that without": "吞吐量，占没有时的比例",
    "broker CPU, share of that without": "broker CPU，占没有时的比例",
    "read, per byte to recover": "每个待恢复字节的读取量",
    "processor time, µs each": "处理器时间，每个 µs",
    "tasks per outstanding task": "每个未到期任务所占的任务数",
}
"""Titles of sections and names of figures; those not listed are the same in both languages."""


@dataclass(frozen=True)
class ResultTable:
    """One section of the results as a table, with remarks on what was skipped."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    remarks: Sequence[str]


def results_page(language: str) -> str:
    """The results of the last full run, as Markdown, for a ``generated`` directive."""
    if not RESULTS.exists():
        return _word("none", language)
    return as_markdown(json.loads(RESULTS.read_text(encoding="utf-8")), language)


def as_markdown(document: Mapping[str, Any], language: str = "en") -> str:
    """The results as Markdown: environment and time, the number of goals met, and a table per section."""
    facts = ", ".join(f"{name} {value}" for name, value in document["environment"].items())
    parts = [f"{_word('measured', language)} {document['measured'][:16].replace('T', ' ')} UTC: {facts}."]
    parts += [f"**{note}**" for note in document["notes"]]
    reading = _word("reading", language).format(rounds=document["options"]["rounds"])
    parts.append(f"{verdict(document, language)} {reading}")
    for table in tables(document, language):
        parts += [f"## {table.title}", _markdown_table(table), *table.remarks]
    return "\n\n".join(parts)


def verdict(document: Mapping[str, Any], language: str = "en") -> str:
    """How many of the measured goals are met, by the plain package and by the compiled one."""
    said = [_count_met(document, "verdict", PLAIN, language)]
    if any(COMPILED in section["columns"] for section in document["sections"]):
        said.append(_count_met(document, "verdict compiled", COMPILED, language))
    return (" " if language == "en" else "").join(said)


def _count_met(document: Mapping[str, Any], words: str, wanted: str, language: str) -> str:
    judged = []
    for section in document["sections"]:
        ours = _ours(section["columns"])
        column = wanted if wanted in ours else ours[0]
        judged += [is_met(figure, column, section["reference"]) for figure in section["figures"]]
    known = [met for met in judged if met is not None]
    return _word(words, language).format(met=sum(known), all=len(known))


def tables(document: Mapping[str, Any], language: str = "en") -> list[ResultTable]:
    """One table per section."""
    return [section_table(section, language) for section in document["sections"]]


def section_table(section: Mapping[str, Any], language: str = "en", *, ranges: bool = True) -> ResultTable:
    """One row per figure of each workload; ``ranges`` adds the minimum and maximum of the rounds."""
    columns, reference = section["columns"], section["reference"]
    ours = _ours(columns)
    with_ratio = reference in columns and reference not in ours
    head = [_word("workload", language), _word("figure", language), *columns]
    head += [_word("ratio", language).format(reference)] if with_ratio else []
    with_goals = any(figure["goal"] for figure in section["figures"])
    head += [_word("goal", language), ""] if with_goals else []
    rows = []
    for figure in section["figures"]:
        unit, factor = _UNITS.get(figure["figure"], (figure["figure"], 1.0))
        row = [
            figure["workload"],
            _named(unit, language),
            *(_cell(figure["samples"].get(column), factor, ranges) for column in columns),
        ]
        row += [" / ".join(_number(ratio(figure, column, reference)) for column in ours)] if with_ratio else []
        row += [_goal(figure["goal"], language), _judgement(figure, ours, reference, language)] if with_goals else []
        rows.append(row)
    remarks = [
        f"{_word('skipped', language)}: {each['workload']}, {each['column']}: {each['reason']}."
        for each in section["skipped"]
    ]
    return ResultTable(_named(section["name"], language), head, rows, remarks)


def _ours(columns: Sequence[str]) -> list[str]:
    """The columns judged against the goals, in order."""
    return [column for column in columns if column in (PLAIN, COMPILED)] or list(columns[:1])


def ratio(figure: Mapping[str, Any], column: str, reference: str) -> float | None:
    """A column's median divided by the reference's; None if one is missing or not positive."""
    ours, theirs = figure["samples"].get(column), figure["samples"].get(reference)
    if not ours or not theirs or min(statistics.median(ours), statistics.median(theirs)) <= 0:
        return None
    return float(statistics.median(ours) / statistics.median(theirs))


def is_met(figure: Mapping[str, Any], column: str, reference: str) -> bool | None:
    """Whether a column meets the figure's goal; None if there is no goal or no value."""
    goal, ours = figure["goal"], figure["samples"].get(column)
    if not goal or not ours:
        return None
    found = statistics.median(ours) if goal["of"] == "value" else ratio(figure, column, reference)
    if found is None:
        return None
    return bool(found >= goal["bound"] if goal["at_least"] else found <= goal["bound"])


def _judgement(figure: Mapping[str, Any], ours: Sequence[str], reference: str, language: str) -> str:
    """``met``, ``not met``, or the one build that meets the goal."""
    judged = {column: met for column in ours if (met := is_met(figure, column, reference)) is not None}
    if not judged:
        return ""
    if len(set(judged.values())) == 1:
        return _word("met" if any(judged.values()) else "not met", language)
    return _word("compiled" if judged[COMPILED] else "plain", language)


def _goal(goal: Mapping[str, Any] | None, language: str) -> str:
    if not goal:
        return ""
    what = f"{_word('of ratio', language)} " if goal["of"] == "ratio" else ""
    return f"{what}{'≥' if goal['at_least'] else '≤'} {goal['bound']:g}"


def _cell(samples: Sequence[float] | None, factor: float, ranges: bool) -> str:
    if not samples:
        return "–"
    low, middle, high = (_number(value * factor) for value in (min(samples), statistics.median(samples), max(samples)))
    return middle if len(samples) == 1 or not ranges else f"{middle} ({low}–{high})"


def _number(value: float | None) -> str:
    """The value with about three significant digits."""
    if value is None:
        return "–"
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 or size == 0 else 3
    return f"{value:,.{digits}f}"


def _markdown_table(table: ResultTable) -> str:
    lines = [table.head, ["---", "---"] + ["--:"] * (len(table.head) - 2), *table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _named(text: str, language: str) -> str:
    return _CHINESE.get(text, text) if language == "zh" else text


def _word(name: str, language: str) -> str:
    return _WORDS[name][language == "zh"]
