"""Meters count exactly, and their rates are moving averages like Unix's load averages."""

from __future__ import annotations

import math
import sys
import threading

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.meter import TICK_INTERVAL_MS, DerivedMeter, Ewma, Meter, RateUnit


def tick(time: MockTime, meter: Meter, times: int = 1) -> None:
    for _ in range(times):
        time.sleep(TICK_INTERVAL_MS)
        meter.tick()


def test_a_new_meter_has_zeros() -> None:
    meter = Meter("messages", MockTime())
    assert meter.attributes() == {
        "Count": 0,
        "EventType": "messages",
        "RateUnit": "SECONDS",
        "MeanRate": 0.0,
        "OneMinuteRate": 0.0,
        "FiveMinuteRate": 0.0,
        "FifteenMinuteRate": 0.0,
    }


def test_the_first_tick_sets_all_rates() -> None:
    time = MockTime()
    meter = Meter("bytes", time)
    meter.mark(50)
    assert meter.one_minute_rate == 0.0, "rates change only at a tick"
    tick(time, meter)
    assert meter.one_minute_rate == meter.five_minute_rate == meter.fifteen_minute_rate == 10.0
    assert meter.mean_rate == 10.0


@pytest.mark.parametrize(("minutes", "rate"), [(1, 1 / math.e), (5, math.exp(-1 / 5)), (15, math.exp(-1 / 15))])
def test_rates_decay_without_marks(minutes: float, rate: float) -> None:
    average = Ewma(minutes)
    average.tick(5)
    for _ in range(12):
        average.tick(0)
    assert average.rate == pytest.approx(rate)


def test_the_mean_rate_covers_the_time_since_the_start() -> None:
    time = MockTime()
    meter = Meter("requests", time)
    meter.mark()
    meter.mark(3)
    tick(time, meter, times=4)
    assert meter.attributes()["Count"] == 4
    assert meter.mean_rate == pytest.approx(4 / 20)


def test_a_meter_of_nanoseconds_is_a_fraction_of_time() -> None:
    time = MockTime()
    idle_ns = 0.0
    meter = DerivedMeter("percent", time, lambda: idle_ns, RateUnit.NANOSECONDS)
    idle_ns = 4e9  # four of five seconds
    tick(time, meter)
    assert meter.one_minute_rate == pytest.approx(0.8)
    assert meter.mean_rate == pytest.approx(0.8)
    assert meter.attributes()["RateUnit"] == "NANOSECONDS"


def test_a_derived_meter_reads_its_count_when_shown() -> None:
    counted = [7]
    meter = DerivedMeter("bytes", MockTime(), lambda: counted[0])
    assert meter.attributes()["Count"] == 7
    counted[0] = 9
    assert meter.attributes()["Count"] == 9


def test_no_mark_is_lost_if_threads_mark_concurrently() -> None:
    meter = Meter("messages", MockTime())
    threads = [threading.Thread(target=lambda: [meter.mark(2) for _ in range(50_000)]) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert meter.count == 4 * 50_000 * 2
