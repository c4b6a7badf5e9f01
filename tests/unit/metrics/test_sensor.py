"""Sensors: what they record, for whom, and at which level."""

from __future__ import annotations

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.stats import Avg, Count, MetricConfig, Rate


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def metrics(time: MockTime) -> Metrics:
    return Metrics(time=time)


def value(metrics: Metrics, name: str) -> float:
    metric = metrics.metric(metrics.metric_name(name, "test"))
    assert metric is not None
    return metric.value


def test_several_events_can_be_recorded_at_once(metrics: Metrics) -> None:
    sensor = metrics.sensor("sizes")
    sensor.add(metrics.metric_name("rate", "test"), Rate(stat=Count()))
    sensor.add(metrics.metric_name("avg", "test"), Avg())
    sensor.record(90, events=3)
    assert value(metrics, "rate") == pytest.approx(3 / 30)
    assert value(metrics, "avg") == 30


def test_a_parent_sensor_records_the_values_of_its_children(metrics: Metrics) -> None:
    parent = metrics.sensor("all")
    parent.add(metrics.metric_name("total-rate", "test"), Rate())
    for name in ("sent", "received"):
        metrics.sensor(name, parent).record(30)
    assert value(metrics, "total-rate") == pytest.approx(2)


def test_debug_sensors_record_only_at_level_debug(time: MockTime) -> None:
    for configured, expected in (("INFO", 0.0), ("debug", 1.0)):
        metrics = Metrics(MetricConfig(record_level=RecordingLevel.for_name(configured)), time=time)
        sensor = metrics.sensor("detail", level=RecordingLevel.DEBUG)
        sensor.add(metrics.metric_name("rate", "test"), Rate())
        sensor.record(30)
        assert value(metrics, "rate") == expected
