"""Histograms: exact moments of all values, and percentiles of a sample that favours recent values."""

from __future__ import annotations

import random
import statistics
import threading

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.histogram import MAX_PENDING, PERCENTILES, Histogram, quantile_of
from kafka_lite.metrics.timer import Timer


class TestHistogram:
    def test_a_new_histogram_has_zeros(self) -> None:
        shown = Histogram(MockTime()).attributes()
        assert list(shown) == ["Count", "Min", "Max", "Mean", "StdDev", *PERCENTILES]
        assert set(shown.values()) == {0}

    @pytest.mark.parametrize("count", [1, 2, MAX_PENDING - 1, MAX_PENDING, 1000])
    def test_moments_cover_all_values(self, count: int) -> None:
        rng = random.Random(count)
        values = [rng.gauss(50, 10) for _ in range(count)]
        histogram = Histogram(MockTime())
        for value in values:
            histogram.update(value)
        shown = histogram.attributes()
        assert shown["Count"] == count
        assert shown["Min"] == min(values)
        assert shown["Max"] == max(values)
        assert shown["Mean"] == pytest.approx(statistics.fmean(values))
        assert shown["StdDev"] == pytest.approx(statistics.stdev(values) if count > 1 else 0.0)

    def test_the_deviation_of_large_values_is_not_lost_to_rounding(self) -> None:
        histogram = Histogram(MockTime())
        for _ in range(1000):
            histogram.update_all([1e9, 1e9 + 1], 0.0)
        assert histogram.attributes()["StdDev"] == pytest.approx(0.5, rel=1e-3)

    def test_percentiles_of_few_values_are_exact(self) -> None:
        histogram = Histogram(MockTime())
        histogram.update_all([float(n) for n in range(1, 1000)], 0.0)
        shown = histogram.attributes()
        assert [shown[name] for name in PERCENTILES] == pytest.approx([500, 750, 950, 980, 990, 999])

    def test_no_value_is_lost_if_threads_update_concurrently(self) -> None:
        histogram = Histogram(MockTime())

        def update() -> None:
            for _ in range(10_000):
                histogram.update(1.0)

        threads = [threading.Thread(target=update) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert histogram.count == 40_000

    @pytest.mark.parametrize(
        ("quantile", "expected"), [(0.0, 10), (0.2, 10), (0.5, 25), (0.7, 35), (0.999, 40), (1.0, 40)]
    )
    def test_a_quantile_is_interpolated_between_two_values(self, quantile: float, expected: float) -> None:
        assert quantile_of([10, 20, 30, 40], quantile) == pytest.approx(expected)


def test_a_timer_measures_its_block() -> None:
    time = MockTime()
    timer = Timer(time)
    with timer.time():
        time.sleep(30)

    def fail() -> None:
        with timer.time():
            time.sleep(50)
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fail()
    time.sleep(4920)
    timer.tick()
    shown = timer.attributes()
    assert (shown["Count"], shown["Min"], shown["Max"], shown["Mean"]) == (2, 30, 50, 40)
    assert shown["OneMinuteRate"] == pytest.approx(0.4)
    assert (shown["EventType"], shown["LatencyUnit"]) == ("calls", "MILLISECONDS")


class BusyThread(MockTime):
    """Reads a histogram whenever the clock is read, as another thread could at this moment."""

    def __init__(self) -> None:
        super().__init__()
        self.read: Histogram | None = None
        self.counts: list[int] = []

    def hi_res_ms(self) -> float:
        histogram, self.read = self.read, None
        if histogram is not None:
            self.counts.append(histogram.count)
        return super().hi_res_ms()


def test_no_value_is_lost_to_a_concurrent_reader() -> None:
    time = BusyThread()
    histogram = Histogram(time)
    histogram.update(1.0)
    histogram.update(2.0)
    time.read = histogram
    assert histogram.count == 2
    assert time.counts == [2]
