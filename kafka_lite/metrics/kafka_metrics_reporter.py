"""How one's own code gets at the metrics of the broker's classes: a class that ``kafka.metrics.reporters`` names.

Kafka 0.10.2: core/.../metrics/KafkaMetricsReporter.scala, KafkaMetricsConfig.scala · book 10.1
"""

from __future__ import annotations

from abc import abstractmethod

from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.metrics.metrics_reporter import Configurable


class KafkaMetricsReporter(Configurable):
    """To be subclassed: reads the registry whenever it likes, mostly every ``kafka.metrics.polling.interval.secs``.

    In Kafka it finds the registry by itself, for there is one per process; here it is given the broker's.
    """

    @abstractmethod
    def start(self, registry: MetricsRegistry) -> None:
        """The broker starts; there is little to see yet."""

    @abstractmethod
    def close(self) -> None:
        """The broker stops."""
