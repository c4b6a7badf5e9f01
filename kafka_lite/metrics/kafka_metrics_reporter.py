"""The plug-in interface for reporters of broker metrics: classes listed in ``kafka.metrics.reporters``.

Kafka 0.10.2: core/.../metrics/KafkaMetricsReporter.scala, KafkaMetricsConfig.scala · book 10.1
"""

from __future__ import annotations

from abc import abstractmethod

from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.metrics.metrics_reporter import Configurable


class KafkaMetricsReporter(Configurable):
    """Base class of reporters; reads the registry, usually every ``kafka.metrics.polling.interval.secs``.

    In Kafka a reporter uses the registry of the process; here it is given the broker's.
    """

    @abstractmethod
    def start(self, registry: MetricsRegistry) -> None:
        """Start reporting; called when the broker starts, so most metrics do not exist yet."""

    @abstractmethod
    def close(self) -> None:
        """Stop reporting; called when the broker stops."""
