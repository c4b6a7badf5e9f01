import threading

import pytest

from kafka_lite.common.rates.throughput_throttler import ThroughputThrottler
from kafka_lite.common.time import MockTime
from tests.support.patience import patient_s


def test_throttler_keeps_the_rate() -> None:
    time = MockTime()
    begin_ms = time.hi_res_ms()
    throttler = ThroughputThrottler(100, begin_ms, time)
    for number in range(1000):
        now_ms = time.hi_res_ms()
        time.sleep(0.01)  # a send takes some time, too
        if throttler.should_throttle(number, now_ms):
            throttler.throttle()
    elapsed_s = (time.hi_res_ms() - begin_ms) / 1000
    assert elapsed_s == pytest.approx(10, rel=0.02)


def test_a_negative_rate_does_not_throttle() -> None:
    assert not ThroughputThrottler(-1, 0, MockTime()).should_throttle(10**9, 1)


def test_short_sleeps_are_combined() -> None:
    time = MockTime()
    throttler = ThroughputThrottler(1000, 0, time)
    throttler.throttle()
    assert time.hi_res_ms() == 0
    throttler.throttle()
    assert time.hi_res_ms() == 2


def test_a_wakeup_ends_the_sleep_of_another_thread_and_later_ones() -> None:
    throttler = ThroughputThrottler(0.0001, 0)  # a message in three hours
    sleeping = threading.Thread(target=throttler.throttle, daemon=True)
    sleeping.start()
    throttler.wakeup()
    sleeping.join(patient_s(60))
    assert not sleeping.is_alive()
    throttler.throttle()


def test_without_a_rate_only_a_wakeup_ends_the_wait() -> None:
    throttler = ThroughputThrottler(0, 0)
    assert throttler.should_throttle(1, 1)
    waiting = threading.Thread(target=throttler.throttle, daemon=True)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    throttler.wakeup()
    waiting.join(patient_s(60))
    assert not waiting.is_alive()
