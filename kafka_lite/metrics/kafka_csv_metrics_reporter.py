"""Writes all metrics to CSV files, one line per interval.

Kafka 0.10.2: core/.../metrics/KafkaCSVMetricsReporter.scala · book 10.1
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.metrics.kafka_metrics_reporter import KafkaMetricsReporter
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.metrics_registry import MetricsRegistry

logger = logging.getLogger(__name__)


class KafkaCSVMetricsReporter(KafkaMetricsReporter):
    """Writes ``<group>.<type>.<name>.<tags>.csv`` for each metric: first a line of attribute names, then values.

    ::

        # time,Count,EventType,RateUnit,MeanRate,OneMinuteRate,FiveMinuteRate,FifteenMinuteRate
        1500000000,12,messages,SECONDS,1.2,1.2,1.2,1.2
    """

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Read the directory (``kafka.csv.metrics.dir``), whether the reporter is enabled, and the interval."""
        self._directory = Path(configs["kafka.csv.metrics.dir"])
        self._enabled: bool = configs["kafka.csv.metrics.reporter.enabled"]
        self._interval_ms = configs["kafka.metrics.polling.interval.secs"] * 1000
        self._thread: CsvWriter | None = None

    def start(self, registry: MetricsRegistry) -> None:
        """Delete the files of the last run and start writing. Raises OSError."""
        if not self._enabled:
            return
        self._directory.mkdir(parents=True, exist_ok=True)
        for file in self._directory.glob("kafka.*.csv"):
            file.unlink()
        self._thread = CsvWriter(registry, self._directory, self._interval_ms)
        self._thread.start()
        logger.info("Writing metrics into %s", self._directory)

    def close(self) -> None:
        """Stop writing."""
        if self._thread is not None:
            self._thread.shutdown()


class CsvWriter(ShutdownableThread):
    """The thread that writes the files."""

    def __init__(self, registry: MetricsRegistry, directory: Path, interval_ms: float) -> None:
        super().__init__("csv-metrics-reporter")
        self._registry = registry
        self._directory = directory
        self._interval_ms = interval_ms

    def do_work(self) -> None:
        """Wait for the interval and write; an I/O error is logged."""
        if self.pause(self._interval_ms):
            return
        try:
            self.write(SYSTEM_TIME.milliseconds() // 1000)
        except OSError as error:
            logger.error("Cannot write metrics into %s: %s", self._directory, error)

    def write(self, now_s: int) -> None:
        """Append a line to each file. Raises OSError."""
        for name, attributes in self._registry.beans().items():
            self._append(name, attributes, now_s)

    def _append(self, name: MetricName, attributes: Mapping[str, AttributeValue], now_s: int) -> None:
        tags = "".join(f".{key}.{value}" for key, value in name.tags)
        file = self._directory / f"{name.group}.{name.type}.{name.name}{tags}.csv".replace("/", "_")
        header = "" if file.exists() else f"# time,{','.join(attributes)}\n"
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"{header}{now_s},{','.join(map(str, attributes.values()))}\n")
