"""The user's reporters are told of the metrics, too, and of their end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.metrics.sensor import KafkaMetric
from kafka_lite.mirror.connectors.mirror_metrics import MirrorMetrics
from kafka_lite.mirror.connectors.source.mirror_source_config import MirrorSourceConfig
from tests.support.mirror_clusters import BOTH


class Telling(MetricsReporter):
    """Notes what it is told."""

    told: list[str] = []  # noqa: RUF012  of the class: the metrics make the object

    def configure(self, configs: Mapping[str, object]) -> None:
        self.told[:] = [f"from {configs['source.cluster.alias']}"]

    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        self.told.append(f"{len(metrics)} at first")

    def metric_change(self, metric: KafkaMetric) -> None:
        self.told.append(metric.metric_name.name)

    def metric_removal(self, metric: KafkaMetric) -> None:
        self.told.append(f"no {metric.metric_name.name}")

    def close(self) -> None:
        self.told.append("the end")


def test_reporters() -> None:
    config = MirrorSourceConfig({**BOTH, "metric.reporters": f"{__name__}.Telling"})
    metrics = MirrorMetrics("Mirror", config)
    metrics.meter("record", "Records.", {"topic": "t"}).record()
    metrics.close()
    assert Telling.told == ["from west", "0 at first", "count", "record-rate", "record-count", "the end"]
    assert metrics.beans() == {}


def test_a_reporter_that_is_none() -> None:
    with pytest.raises(ConfigError, match=r"metric\.reporters: is not a MetricsReporter"):
        MirrorMetrics("Mirror", MirrorSourceConfig({**BOTH, "metric.reporters": "pathlib.Path"}))
