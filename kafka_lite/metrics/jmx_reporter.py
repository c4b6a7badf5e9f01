"""Exposes the metrics of Kafka's own library as beans: one per group and tags, with each metric as an attribute.

Kafka 0.10.2: clients/.../common/metrics/JmxReporter.java · book 10.1
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.metrics.sensor import KafkaMetric


class JmxReporter(MetricsReporter):
    """Keeps the beans ``prefix:type=group,tag=value,…``. Python has no JMX; an ``MBeanServer`` exposes them."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._lock = threading.Lock()
        self._beans: dict[MetricName, dict[str, KafkaMetric]] = {}

    def configure(self, configs: Mapping[str, object]) -> None:
        """Do nothing: there is nothing to configure."""

    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        """Add the existing metrics."""
        for metric in metrics:
            self.metric_change(metric)

    def metric_change(self, metric: KafkaMetric) -> None:
        """Add or replace an attribute."""
        with self._lock:
            bean = metric.metric_name.bean(self._prefix)
            self._beans.setdefault(bean, {})[metric.metric_name.name] = metric

    def metric_removal(self, metric: KafkaMetric) -> None:
        """Remove an attribute, and its bean if it was the last one."""
        with self._lock:
            bean = metric.metric_name.bean(self._prefix)
            attributes = self._beans.get(bean, {})
            attributes.pop(metric.metric_name.name, None)
            if not attributes:
                self._beans.pop(bean, None)

    def close(self) -> None:
        """Remove all beans."""
        with self._lock:
            self._beans.clear()

    def beans(self) -> dict[MetricName, dict[str, AttributeValue]]:
        """All beans with their current values."""
        with self._lock:
            beans = {name: dict(attributes) for name, attributes in self._beans.items()}
        return {name: {a: metric.value for a, metric in attributes.items()} for name, attributes in beans.items()}
