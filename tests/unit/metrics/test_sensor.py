"""Sensors: what they record, for whom, and at which level."""

from __future__ import annotations

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.quota import Quota, QuotaViolationError
from kafka_lite.metrics.quota_rate import QuotaRate
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.stats import Avg, Count, MetricConfig, Rate
from kafka_lite.metrics.token_bucket import TokenBucket


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


# ── quotas


def quota_config(bound: float) -> MetricConfig:
    return MetricConfig(samples=11, time_window_ms=1000, quota=Quota.upper_bound(bound))


def test_a_value_beyond_the_quota_is_recorded_and_then_refused(time: MockTime, metrics: Metrics) -> None:
    sensor = metrics.sensor("bytes")
    sensor.add(metrics.metric_name("rate", "test"), QuotaRate(), quota_config(10))
    sensor.record(100)
    time.sleep(500)
    with pytest.raises(QuotaViolationError) as violation:
        sensor.record(100)
    assert (violation.value.metric, violation.value.bound) == ("rate", 10)
    assert violation.value.window_size_ms == 10_500
    assert value(metrics, "rate") == violation.value.value == pytest.approx(200 / 10.5)
    sensor.record(100, check_quotas=False)


def test_a_quota_can_change_while_the_sensor_is_in_use(metrics: Metrics) -> None:
    sensor = metrics.sensor("bytes")
    sensor.add(metrics.metric_name("rate", "test"), QuotaRate(), quota_config(10))
    (metric,) = sensor.metrics
    metric.config = quota_config(5)
    with pytest.raises(QuotaViolationError):
        sensor.record(51)
    metric.config = quota_config(6)
    sensor.record(0)


def test_the_quotas_of_parents_are_checked_unless_the_caller_says_no(metrics: Metrics) -> None:
    parent = metrics.sensor("all")
    parent.add(metrics.metric_name("rate", "test"), QuotaRate(), quota_config(1))
    child = metrics.sensor("one", parent)
    child.record(20, check_quotas=False)
    with pytest.raises(QuotaViolationError):
        child.record(0)


def test_a_check_before_the_record_admits_one_value_too_large(metrics: Metrics) -> None:
    sensor = metrics.sensor("mutations")
    sensor.add(metrics.metric_name("tokens", "test"), TokenBucket(), quota_config(1))
    sensor.check_then_record(30, now_ms=0)
    with pytest.raises(QuotaViolationError) as violation:
        sensor.check_then_record(1, now_ms=0)
    assert (violation.value.value, violation.value.window_size_ms) == (-19, 0)
    assert value(metrics, "tokens") == -19, "the refused value is not recorded"
    sensor.check_then_record(1, now_ms=19_000)
