"""A sample that favours recent values has the distribution that its definition gives."""

from __future__ import annotations

import heapq
import math
import random
import statistics

import pytest

from kafka_lite.metrics.exponentially_decaying_sample import ALPHA, RESERVOIR_SIZE, ExponentiallyDecayingSample

SECOND = 1000.0

HOUR = 3600 * SECOND


class TestSample:
    def test_the_sample_keeps_every_value_until_it_is_full(self) -> None:
        sample = ExponentiallyDecayingSample(size=100)
        sample.update([float(n) for n in range(60)], 0.0)
        sample.update([float(n) for n in range(60, 100)], 0.0)
        assert sorted(sample.values) == [float(n) for n in range(100)]

    def test_values_of_one_timestamp_are_equally_likely(self) -> None:
        """In batches, some before the sample is full and most after: the mean position of those kept is the middle."""
        places = []
        for seed in range(40):
            sample = ExponentiallyDecayingSample(size=50, rng=random.Random(seed))
            for begin in range(0, 2000, 40):
                sample.update([float(n) for n in range(begin, begin + 40)], 0.0)
            assert len(sample) == len(set(sample.values)) == 50
            places += sample.values
        # The mean of 2,000 positions has a standard error of 2000 / √12 / √2000 ≈ 13.
        assert statistics.fmean(places) == pytest.approx(1000, abs=60)
        thirds = [sum(1 for p in places if low <= p < low + 400) for low in range(0, 2000, 400)]
        assert all(320 < third < 480 for third in thirds), thirds

    def test_updates_one_by_one_and_in_batches_give_the_same_distribution(self) -> None:
        """The mean age of the sample after five minutes of steady values."""

        def mean_age(seed: int, at_once: int) -> float:
            sample = ExponentiallyDecayingSample(size=100, rng=random.Random(seed))
            for second in range(300):
                for _ in range(20 // at_once):
                    sample.update([float(second)] * at_once, second * SECOND)
            return 299 - statistics.fmean(sample.values)

        singly = statistics.fmean(mean_age(seed, 1) for seed in range(20))
        together = statistics.fmean(mean_age(seed, 20) for seed in range(20, 40))
        # Ages are about exponential with the mean 1 / alpha ≈ 67 s.
        assert singly == pytest.approx(62, abs=6)
        assert together == pytest.approx(62, abs=6)

    def test_the_distribution_matches_the_definition(self) -> None:
        """The number of values kept of each minute equals that of the definition: draw priorities, keep the highest."""
        size, seconds, per_second, runs = 50, 300, 7, 60
        minutes = seconds // 60

        def left(values: list[float]) -> list[int]:
            return [sum(1 for value in values if value // 60 == minute) for minute in range(minutes)]

        def by_definition(rng: random.Random) -> list[float]:
            drawn = [
                (math.exp(ALPHA * second) / (1 - rng.random()), float(second))
                for second in range(seconds)
                for _ in range(per_second)
            ]
            return [value for _, value in heapq.nlargest(size, drawn)]

        def by_the_sample(rng: random.Random) -> list[float]:
            sample = ExponentiallyDecayingSample(size=size, rng=rng)
            for second in range(seconds):
                sample.update([float(second)] * per_second, second * SECOND)
            return sample.values

        defined = [left(by_definition(random.Random(seed))) for seed in range(runs)]
        found = [left(by_the_sample(random.Random(runs + seed))) for seed in range(runs)]
        for minute in range(minutes):
            expected, seen = ([run[minute] for run in each] for each in (defined, found))
            error = math.sqrt((statistics.variance(expected) + statistics.variance(seen)) / runs)
            assert abs(statistics.fmean(seen) - statistics.fmean(expected)) < 3 * error, minute
            assert statistics.stdev(seen) == pytest.approx(statistics.stdev(expected), rel=0.5, abs=0.5)

    def test_recent_minutes_dominate_the_sample(self) -> None:
        sample = ExponentiallyDecayingSample(rng=random.Random(1))
        sample.update([1.0] * 5000, 0.0)
        sample.update([2.0] * 5000, 300 * SECOND)
        assert len(sample) == RESERVOIR_SIZE
        assert sample.values.count(2.0) > 0.97 * RESERVOIR_SIZE

    def test_the_sample_survives_a_change_of_its_landmark(self) -> None:
        sample = ExponentiallyDecayingSample(size=10, rng=random.Random(1))
        for hour in range(0, 100, 2):
            sample.update([-1.0] * 100, hour * HOUR)
            sample.update(
                [float(hour)] * 10, (hour + 1) * HOUR
            )  # the weight of the previous hour's values is negligible by now
            assert sample.values == [float(hour)] * 10

    def test_the_sample_survives_months_without_updates(self) -> None:
        sample = ExponentiallyDecayingSample(size=10, rng=random.Random(1))
        sample.update([1.0] * 20, 0.0)
        for month in range(1, 4):
            sample.update([], month * 720 * HOUR)
        sample.update([2.0] * 100, 2161 * HOUR)
        assert sample.values == [2.0] * 10
