"""Windowed statistics: rates, counts, means and extremes, and where a window begins."""

from __future__ import annotations

import math

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.meter import RateUnit
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import Avg, Count, Max, MetricConfig, Rate, SampledTotal, Value, counted_since

WINDOW_MS = 30_000


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


def test_a_rate_covers_at_least_one_whole_window(time: MockTime, metrics: Metrics) -> None:
    sensor = metrics.sensor("bytes")
    sensor.add(metrics.metric_name("byte-rate", "test"), Rate())
    sensor.record(300)
    assert value(metrics, "byte-rate") == pytest.approx(300 / 30)
    time.sleep(15_000)
    assert value(metrics, "byte-rate") == pytest.approx(300 / 45), "one window and a half"
    time.sleep(15_000)
    sensor.record(600)
    assert value(metrics, "byte-rate") == pytest.approx(900 / 30), "one complete window and nothing of the current one"
    time.sleep(WINDOW_MS)
    assert value(metrics, "byte-rate") == pytest.approx(600 / 30), "the first window has expired"
    time.sleep(2 * WINDOW_MS)
    assert value(metrics, "byte-rate") == 0.0


def test_a_window_begins_where_the_one_before_ended() -> None:
    config, total = MetricConfig(samples=2, time_window_ms=1000), SampledTotal()
    total.record(config, 1, 1, 0)
    total.record(config, 2, 1, 1500)
    assert total.measure(config, 1999) == 3
    assert total.measure(config, 2000) == 2
    assert total.measure(config, 2999) == 2
    assert total.measure(config, 3000) == 0


def test_the_rate_of_a_single_window_that_has_just_begun_is_finite() -> None:
    config, rate = MetricConfig(samples=1, time_window_ms=1000), Rate()
    rate.record(config, 5, 1, 100)
    assert rate.measure(config, 100) == 5000, "over one millisecond"


def test_what_is_collected_is_dated_back_to_the_last_collection_but_at_most_five_seconds() -> None:
    assert counted_since(7_000, now_ms=10_000) == 7_000
    assert counted_since(5_000, now_ms=10_000) == 5_000
    assert counted_since(4_000, now_ms=10_000) == 5_000


def test_counts_means_and_extremes(time: MockTime, metrics: Metrics) -> None:
    sensor = metrics.sensor("sizes")
    stats = {"rate": Rate(stat=Count()), "avg": Avg(), "max": Max(), "ratio": Rate(RateUnit.NANOSECONDS)}
    for name, stat in stats.items():
        sensor.add(metrics.metric_name(name, "test"), stat)
    assert math.isnan(value(metrics, "avg"))
    assert value(metrics, "max") == -math.inf
    for size in (10, 20, 60):
        sensor.record(size)
    assert value(metrics, "rate") == pytest.approx(3 / 30)
    assert value(metrics, "avg") == 30
    assert value(metrics, "max") == 60
    sensor.record(15e9)
    assert value(metrics, "ratio") == pytest.approx(0.5, rel=1e-6), "15 of 30 seconds"


def test_a_value_stays_until_the_next_one(time: MockTime, metrics: Metrics) -> None:
    sensor = metrics.sensor("age")
    sensor.add(metrics.metric_name("age-ms", "test"), Value())
    assert value(metrics, "age-ms") == 0
    sensor.record(7)
    sensor.record(3)
    time.sleep(10 * WINDOW_MS)
    assert value(metrics, "age-ms") == 3
