"""Prints a client's metrics.

Kafka 0.10.2: tools/.../tools/ToolsUtils.java · book 10.1
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.sensor import KafkaMetric, KafkaMetricName
from kafka_lite.tools.common.terminal import on_terminal, print_table


def print_metrics(metrics: Mapping[KafkaMetricName, KafkaMetric]) -> None:
    """Print a ``group:name:{tags} : value`` line per metric in alphabetical order; a table on a terminal."""
    rows = [(name, value_text(value)) for name, value in sorted_metrics(metrics)]
    if on_terminal():
        print_table(["metric", "value"], rows, right=["value"])
        return
    for line in metric_lines(rows):
        print(line)


def metric_lines(rows: list[tuple[str, str]]) -> list[str]:
    """The text that Kafka's tools print."""
    width = max((len(name) for name, _ in rows), default=0)
    return ["", f"{'Metric Name':<{width}}   Value", *(f"{name:<{width}} : {value}" for name, value in rows)]


def sorted_metrics(metrics: Mapping[KafkaMetricName, KafkaMetric]) -> list[tuple[str, AttributeValue]]:
    """Name and value of each metric, by name."""
    return sorted((display_name(name), metric.value) for name, metric in metrics.items())


def display_name(name: KafkaMetricName) -> str:
    """``producer-metrics:batch-size-avg:{client-id=producer-1}``."""
    tags = ", ".join(f"{key}={value}" for key, value in name.tags)
    return f"{name.group}:{name.name}:{{{tags}}}"


def value_text(value: AttributeValue) -> str:
    """The value as Java prints it: doubles with three decimals, anything else unchanged."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "NaN"
    return f"{value:.3f}" if math.isfinite(value) else f"{'-' if value < 0 else ''}Infinity"
