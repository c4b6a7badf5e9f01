"""Kafka's own metrics library: windows, sensors, reporters, and the beans made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.jmx_reporter import JmxReporter
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_reporter import MetricsReporter, configured_instance
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import KafkaMetric


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def metrics(time: MockTime) -> Metrics:
    return Metrics(time=time)


def test_an_unknown_recording_level_is_rejected() -> None:
    with pytest.raises(KafkaError, match=r"metrics.recording.level=TRACE: must be INFO or DEBUG"):
        RecordingLevel.for_name("TRACE")


def test_a_bean_has_the_metrics_of_one_group_and_one_set_of_tags(time: MockTime) -> None:
    reporter = JmxReporter("kafka.server")
    metrics = Metrics(reporters=[reporter], time=time)
    for processor in ("0", "1"):
        for name in ("in", "out"):
            metrics.add_metric(
                metrics.metric_name(name, "socket", tags={"processor": processor}), lambda _config, _now: 7.0
            )
    shown = {str(name): dict(attributes) for name, attributes in reporter.beans().items()}
    assert shown == {
        "kafka.server:type=kafka-metrics-count": {"count": 5},
        "kafka.server:type=socket,processor=0": {"in": 7.0, "out": 7.0},
        "kafka.server:type=socket,processor=1": {"in": 7.0, "out": 7.0},
    }
    for name in ("in", "out"):
        metrics.remove_metric(metrics.metric_name(name, "socket", tags={"processor": "0"}))
    assert "kafka.server:type=socket,processor=0" not in map(str, reporter.beans())
    metrics.close()
    assert reporter.beans() == {}


class Noting(MetricsReporter):
    """Notes its calls."""

    def configure(self, configs: Mapping[str, object]) -> None:
        self.configs = dict(configs)
        self.heard: list[str] = []

    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        self.heard += [f"init {metric.metric_name.name}" for metric in metrics]

    def metric_change(self, metric: KafkaMetric) -> None:
        self.heard.append(f"change {metric.metric_name.name}")

    def metric_removal(self, metric: KafkaMetric) -> None:
        self.heard.append(f"removal {metric.metric_name.name}")

    def close(self) -> None:
        self.heard.append("close")


class Unwilling(Noting):
    def configure(self, configs: Mapping[str, object]) -> None:
        raise ValueError("a key is missing")


def test_a_reporter_is_loaded_by_its_name() -> None:
    reporter = configured_instance(f"{__name__}.Noting", Noting, {"broker.id": "3"})
    assert reporter.configs == {"broker.id": "3"}
    assert isinstance(configured_instance(f"{__name__}:Noting", Noting, {}), Noting)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no_such_module.Reporter", "cannot be found"),
        (f"{__name__}.NoSuchClass", "cannot be found"),
        ("Reporter", "cannot be found"),
        ("", "cannot be found"),
        ("io.StringIO", "is not a"),
        ("json.dumps", "is not a"),
        (f"{__name__}.Unwilling", "a key is missing"),
    ],
)
def test_a_class_that_is_no_reporter_is_rejected(name: str, reason: str) -> None:
    with pytest.raises(KafkaError, match=reason):
        configured_instance(name, Noting, {})
