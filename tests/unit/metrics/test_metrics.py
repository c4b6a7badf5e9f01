"""The metrics of a client or broker: names, tags, collectors, reporters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.metrics.sensor import KafkaMetric
from kafka_lite.metrics.stats import CumulativeSum, MetricConfig, Rate


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def metrics(time: MockTime) -> Metrics:
    return Metrics(time=time)


def test_a_sensor_is_created_once_and_removed_with_its_metrics(metrics: Metrics) -> None:
    sensor = metrics.sensor("s")
    sensor.add(metrics.metric_name("rate", "test"), Rate())
    assert metrics.sensor("s") is sensor is metrics.get_sensor("s")
    with pytest.raises(ValueError, match="already exists"):
        metrics.sensor("other").add(metrics.metric_name("rate", "test"), Rate())
    metrics.remove_sensor("s")
    assert metrics.get_sensor("s") is None
    assert metrics.metric(metrics.metric_name("rate", "test")) is None


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


class Failing(Noting):
    def metric_change(self, metric: KafkaMetric) -> None:
        raise RuntimeError("a bug of somebody else's")


def noting(cls: type[Noting] = Noting) -> Noting:
    reporter = cls()
    reporter.configure({})
    return reporter


def test_reporters_are_notified_of_all_metrics(time: MockTime, caplog: pytest.LogCaptureFixture) -> None:
    first, broken, late = noting(), noting(Failing), noting()
    metrics = Metrics(reporters=[broken, first], time=time)
    name = metrics.metric_name("rate", "test")
    metrics.sensor("s").add(name, Rate())
    metrics.add_reporter(late)
    metrics.remove_sensor("s")
    metrics.close()
    assert first.heard == ["change count", "change rate", "removal rate", "close"]
    assert late.heard == ["init count", "init rate", "removal rate", "close"]
    assert broken.heard == ["removal rate", "close"], "an error in a reporter does not reach the others"
    assert "The metrics reporter Failing failed" in caplog.text


def test_every_metric_has_the_tags_of_its_client(time: MockTime) -> None:
    metrics = Metrics(MetricConfig(tags=(("client-id", "me"),)), time=time)
    name = metrics.metric_name("rate", "group", tags={"topic": "t"})
    assert name.tags == (("client-id", "me"), ("topic", "t"))
    assert metrics.metric(metrics.metric_name("count", "kafka-metrics-count")) is not None


def test_collectors_run_before_a_value_is_read(time: MockTime) -> None:
    metrics = Metrics(time=time)
    sensor = metrics.sensor("things")
    name = metrics.metric_name("total", "test")
    sensor.add(name, CumulativeSum())
    noted = [3.0, 4.0]

    def collect() -> None:
        while noted:
            sensor.record(noted.pop())
        metrics.collect()  # a collector does not wait for itself

    metrics.add_collector(collect)
    metric = metrics.metrics[name]
    assert metric.value == 7
    noted.append(1.0)
    assert metric.value == 8


def test_a_sensor_expires_when_nothing_is_recorded_for_long(time: MockTime, metrics: Metrics) -> None:
    for name, expiration_ms in (("forever", math.inf), ("short", 1000.0), ("used", 1000.0)):
        sensor = metrics.sensor(name, inactive_expiration_ms=expiration_ms)
        sensor.add(metrics.metric_name(name, "test"), Rate())
    time.sleep(1000)
    metrics.sensor("used").record()
    metrics.remove_expired_sensors()
    assert metrics.get_sensor("short") is not None, "exactly that long is not too long"
    time.sleep(1)
    metrics.remove_expired_sensors()
    assert metrics.get_sensor("short") is None
    assert metrics.metric(metrics.metric_name("short", "test")) is None
    assert None not in (metrics.get_sensor("forever"), metrics.get_sensor("used"))
