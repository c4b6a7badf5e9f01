"""The ring of samples: it gives the throttle times that Kafka 3.9.1 was measured to give."""

from __future__ import annotations

import pytest

from kafka_lite.metrics.quota import Quota, QuotaViolationError, rate_throttle_time_ms
from kafka_lite.metrics.quota_rate import QuotaRate, SampleRing
from kafka_lite.metrics.stats import MetricConfig

CONFIG = MetricConfig(samples=11, time_window_ms=1000)
BOUND = 1024 * 1024

MEASURED = """
    353 0      501 0      676 0      689 0      725 0      855 0      941 0      1046 0     1148 0     1244 0
    1323 0     1403 244   1661 832   2474 1849  4357 2855  7187 2851  10049 3847 13929 0    13956 0    13973 0
    14087 0    14105 0    14225 0    14237 0    14255 0    14266 0    14273 211  14500 1847 16348 1857 18211 1856
    20075 2852 22933 2855 25880 0    25931 0    26010 0    26206 0    26301 0    26361 0    26388 0    26491 162
"""
"""When Kafka 3.9.1 answered each of 40 requests of 900,073 bytes (ms), and the throttle time of the response (ms)."""
JITTER_MS = 60
"""From the record of a request to its response that the client saw."""


def test_delays_are_those_that_kafka_was_measured_to_give() -> None:
    """They grow, since each is longer than the window moves, until the first burst leaves the ring: a saw-tooth."""
    rate, numbers = QuotaRate(), list(map(int, MEASURED.split()))
    for now_ms, measured_ms in zip(numbers[::2], numbers[1::2], strict=True):
        rate.record(CONFIG, 900_073, 1, now_ms)
        value = rate.measure(CONFIG, now_ms)
        violation = QuotaViolationError("byte-rate", value, BOUND, rate.window_size_ms(CONFIG, now_ms))
        computed_ms = 0 if Quota.upper_bound(BOUND).acceptable(value) else rate_throttle_time_ms(violation)
        assert abs(computed_ms - measured_ms) <= JITTER_MS, now_ms


def test_the_first_value_counts_over_all_windows_but_one() -> None:
    rate = QuotaRate()
    rate.record(CONFIG, 1000, 1, 5)
    assert rate.window_size_ms(CONFIG, 5) == 10_000
    assert rate.measure(CONFIG, 5) == 100
    assert rate.measure(CONFIG, 505) == pytest.approx(1000 / 10.5)


def test_a_sample_begins_with_its_first_value() -> None:
    rate = QuotaRate()
    rate.record(CONFIG, 10, 1, 0)
    rate.record(CONFIG, 10, 1, 999)
    rate.record(CONFIG, 10, 1, 1700)
    assert rate.measure(CONFIG, 11_998) > rate.measure(CONFIG, 11_999) > 0, (
        "the first sample: its last event was at 999"
    )
    assert rate.window_size_ms(CONFIG, 11_999) == 10_299, "the second began at 1700"


def test_a_sample_lives_as_long_as_its_last_event() -> None:
    ring = SampleRing()
    ring.record(CONFIG, 10, 1, 0)
    ring.record(CONFIG, 10, 1, 999)
    assert ring.measure(CONFIG, 11_500) == 20
    assert ring.measure(CONFIG, 11_999) == 0


def test_the_ring_has_one_place_more_than_there_are_samples() -> None:
    """While the first sample still overlaps the measured time, there are three of them."""
    config = MetricConfig(samples=2, time_window_ms=100)
    ring = SampleRing()
    for now_ms, value in ((0, 1), (99, 2), (100, 4), (200, 8)):
        ring.record(config, value, 1, now_ms)
    assert [ring.measure(config, now_ms) for now_ms in (298, 299)] == [15, 12]
    ring.record(config, 16, 1, 300)
    assert ring.measure(config, 300) == 24, "100 is two windows old"


def test_a_value_can_be_taken_back() -> None:
    rate = QuotaRate()
    rate.record(CONFIG, 1000, 1, 0)
    rate.record(CONFIG, -1000, 1, 1500)
    assert rate.measure(CONFIG, 1500) == 0


def test_with_one_sample_the_window_is_never_zero() -> None:
    rate = QuotaRate()
    rate.record(MetricConfig(samples=1, time_window_ms=1000), 3, 1, 0)
    assert rate.measure(MetricConfig(samples=1, time_window_ms=1000), 0) == 3000
    assert QuotaRate().measure(CONFIG, 0) == 0
