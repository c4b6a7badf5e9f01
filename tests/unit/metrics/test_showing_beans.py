"""The registry, and its beans as Prometheus text, as JSON, over HTTP and in CSV files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.kafka_csv_metrics_reporter import CsvWriter, KafkaCSVMetricsReporter
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry


@pytest.fixture
def registry() -> MetricsRegistry:
    return MetricsRegistry()


def group(registry: MetricsRegistry, class_name: str = "BrokerTopicMetrics") -> KafkaMetricsGroup:
    return KafkaMetricsGroup(registry, MockTime(), "kafka.server", class_name)


class TestCsvReporter:
    def test_one_line_per_interval(self, registry: MetricsRegistry, tmp_path: Path) -> None:
        meter = group(registry).new_meter("BytesInPerSec", "bytes", {"topic": "t"})
        writer = CsvWriter(registry, tmp_path, 10_000)
        meter.mark(7)
        writer.write(1_500_000_000)
        meter.mark(7)
        writer.write(1_500_000_010)
        (file,) = tmp_path.iterdir()
        assert file.name == "kafka.server.BrokerTopicMetrics.BytesInPerSec.topic.t.csv"
        header, first, second = file.read_text().splitlines()
        assert header.startswith("# time,Count,EventType,RateUnit,MeanRate,OneMinuteRate")
        assert first.startswith("1500000000,7,bytes,SECONDS,")
        assert second.startswith("1500000010,14,bytes,SECONDS,")

    def test_it_writes_only_if_enabled_and_deletes_only_its_own_files(
        self, registry: MetricsRegistry, tmp_path: Path
    ) -> None:
        mine, others = tmp_path / "kafka.server.X.Y.csv", tmp_path / "letters.txt"
        for enabled in (False, True):
            mine.touch()
            others.touch()
            reporter = KafkaCSVMetricsReporter()
            reporter.configure(
                {
                    "kafka.csv.metrics.dir": str(tmp_path),
                    "kafka.csv.metrics.reporter.enabled": enabled,
                    "kafka.metrics.polling.interval.secs": 10,
                }
            )
            reporter.start(registry)
            reporter.close()
            assert mine.exists() is not enabled
            assert others.exists()
