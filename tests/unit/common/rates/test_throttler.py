"""The pauses that keep a rate."""

from __future__ import annotations

import math

import pytest

from kafka_lite.common.rates.throttler import Throttler
from kafka_lite.common.time import MockTime


def test_pauses_keep_the_rate() -> None:
    time = MockTime()
    throttler = Throttler(5_000, time, check_interval_ms=100)
    started_ms = time.hi_res_ms()
    for _ in range(1010):
        time.sleep(1)  # the work: 100 KB/s without throttling
        time.sleep(throttler.pause_ms(100))
    assert 1010 * 100 / ((time.hi_res_ms() - started_ms) / 1000) == pytest.approx(5_000, rel=0.05)


def test_a_slow_caller_is_not_throttled() -> None:
    time = MockTime()
    throttler = Throttler(5_000, time, check_interval_ms=100)
    for _ in range(100):
        time.sleep(50)
        assert throttler.pause_ms(100) == 0


def test_the_rate_is_checked_once_per_interval() -> None:
    time = MockTime()
    throttler = Throttler(1_000, time, check_interval_ms=300)
    assert throttler.pause_ms(10_000) == 0
    time.sleep(300)
    assert throttler.pause_ms(0) == 0
    time.sleep(1)
    assert throttler.pause_ms(0) == pytest.approx(10_000 - 301)


def test_without_a_limit_nothing_is_throttled() -> None:
    time = MockTime()
    throttler = Throttler(float("inf"), time)
    time.sleep(1_000)
    assert throttler.pause_ms(1 << 40) == 0


def test_a_new_limit_discards_the_pauses_of_the_old_one() -> None:
    time = MockTime()
    throttler = Throttler(0, time, check_interval_ms=100)
    time.sleep(101)
    assert throttler.pause_ms(1) == math.inf
    throttler.update_desired_rate_per_second(1_000)
    time.sleep(101)
    assert throttler.pause_ms(1_000) == pytest.approx(1_000 - 101)
