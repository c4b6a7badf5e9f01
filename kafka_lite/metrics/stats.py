"""Statistics over the last windows of time, as Kafka's own metrics library keeps them.

Kafka 0.10.2: clients/.../common/metrics/stats/SampledStat.java (Sample), Rate.java (SampledTotal), Avg.java,
Max.java, Min.java, Total.java, Count.java, clients/.../common/metrics/MetricConfig.java · book 10.1
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_lite.metrics.meter import RateUnit
from kafka_lite.metrics.recording_level import RecordingLevel


@dataclass(frozen=True)
class MetricConfig:
    """How statistics are kept: ``metrics.num.samples`` windows of ``metrics.sample.window.ms`` each."""

    samples: int = 2
    time_window_ms: float = 30_000
    record_level: RecordingLevel = RecordingLevel.INFO
    """``metrics.recording.level``: with INFO, sensors of level DEBUG record nothing."""
    tags: tuple[tuple[str, str], ...] = ()
    """Of every metric: a client's have its ``client-id``."""


@dataclass(slots=True)
class Sample:
    """One window: when it began, the sum of its values (or whatever the statistic makes of them), and how many."""

    start_ms: float
    value: float
    event_count: float = 0


class SampledStat(ABC):
    """Values are recorded into the newest of ``samples`` windows; the oldest is dropped when a new one begins.

    ::

        samples = 2    │── window 1, complete ──│── window 2, so far ─▶ now
                       └──────────── what is measured ──────────────┘

    Windows begin where the last one ended. Kafka's begin with the first value in them, and for the moment between the
    end of a window and that value its rates are half of what they were.
    """

    initial_value = 0.0

    def __init__(self) -> None:
        self._samples: list[Sample] = []

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:
        """``events`` things have happened, whose values have the sum ``value``."""
        if not self._samples:
            self._samples.append(Sample(now_ms, self.initial_value))
        elif (windows := (now_ms - self._samples[-1].start_ms) // config.time_window_ms) >= 1:
            start_ms = self._samples[-1].start_ms + windows * config.time_window_ms
            self._samples.append(Sample(start_ms, self.initial_value))
            del self._samples[: -config.samples]
        sample = self._samples[-1]
        self.update(sample, value, events)
        sample.event_count += events

    def measure(self, config: MetricConfig, now_ms: float) -> float:
        """The statistic over what is left of the windows."""
        self.purge_obsolete_samples(config, now_ms)
        return self.combine(self._samples)

    def purge_obsolete_samples(self, config: MetricConfig, now_ms: float) -> None:
        """Drop windows that are too old to count."""
        expire_age_ms = config.samples * config.time_window_ms
        self._samples = [sample for sample in self._samples if now_ms - sample.start_ms < expire_age_ms]

    def oldest_start_ms(self, now_ms: float) -> float:
        """When the oldest window began; now, if there is none."""
        return self._samples[0].start_ms if self._samples else now_ms

    @abstractmethod
    def update(self, sample: Sample, value: float, events: float) -> None:
        """Work a value into a window."""

    @abstractmethod
    def combine(self, samples: Sequence[Sample]) -> float:
        """The statistic over all windows."""


class SampledTotal(SampledStat):
    """The sum of the values."""

    def update(self, sample: Sample, value: float, events: float) -> None:
        """Add."""
        del events
        sample.value += value

    def combine(self, samples: Sequence[Sample]) -> float:
        """Add up."""
        return sum(sample.value for sample in samples)


class Count(SampledStat):
    """How many values there were."""

    def update(self, sample: Sample, value: float, events: float) -> None:
        """Count."""
        del value
        sample.value += events

    def combine(self, samples: Sequence[Sample]) -> float:
        """Add up."""
        return sum(sample.value for sample in samples)


class Avg(SampledTotal):
    """The mean of the values; NaN when there are none, as in Kafka."""

    def combine(self, samples: Sequence[Sample]) -> float:
        """Sum by count."""
        events = sum(sample.event_count for sample in samples)
        return super().combine(samples) / events if events else math.nan


class Max(SampledStat):
    """The largest value; minus infinity when there is none, as in Kafka."""

    initial_value = -math.inf

    def update(self, sample: Sample, value: float, events: float) -> None:
        """Keep the larger one."""
        del events
        sample.value = max(sample.value, value)

    def combine(self, samples: Sequence[Sample]) -> float:
        """The largest of all."""
        return max((sample.value for sample in samples), default=-math.inf)


class Min(SampledStat):
    """The smallest value; infinity when there is none. (Kafka: NaN; infinity is what its maximum mirrors.)"""

    initial_value = math.inf

    def update(self, sample: Sample, value: float, events: float) -> None:
        """Keep the smaller one."""
        del events
        sample.value = min(sample.value, value)

    def combine(self, samples: Sequence[Sample]) -> float:
        """The smallest of all."""
        return min((sample.value for sample in samples), default=math.inf)


class CumulativeSum:
    """The sum of all values there ever were."""

    def __init__(self) -> None:
        self._total = 0.0

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:
        """Add."""
        del config, events, now_ms
        self._total += value

    def measure(self, config: MetricConfig, now_ms: float) -> float:
        """The sum."""
        del config, now_ms
        return self._total


class Rate:
    """A total by the time in which it came about.

    That time is never taken for less than ``samples - 1`` whole windows: the first second of a broker would otherwise
    show rates that no minute has.
    """

    def __init__(self, unit: RateUnit = RateUnit.SECONDS, stat: SampledStat | None = None) -> None:
        self._unit = unit
        self._stat = stat or SampledTotal()

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:
        """See ``SampledStat.record``."""
        self._stat.record(config, value, events, now_ms)

    def measure(self, config: MetricConfig, now_ms: float) -> float:
        """Per unit of time."""
        total = self._stat.measure(config, now_ms)
        return total / (self._window_size_ms(config, now_ms) / 1000) * self._unit.value

    def _window_size_ms(self, config: MetricConfig, now_ms: float) -> float:
        elapsed_ms = now_ms - self._stat.oldest_start_ms(now_ms)
        full_windows = int(elapsed_ms / config.time_window_ms)
        missing = max(config.samples - 1 - full_windows, 0)
        # With one sample there may be no time at all.
        return max(elapsed_ms + missing * config.time_window_ms, 1.0)


COUNTED_WITHIN_MS = 5_000


def counted_since(collected_ms: float, now_ms: float) -> float:
    """When things have happened that were only counted since ``collected_ms``: then, which is where their window began.

    But no longer ago than a collector of a broker waits: a client may be idle for an hour, and what it did just now
    would else be taken for an hour old.
    """
    return max(collected_ms, now_ms - COUNTED_WITHIN_MS)
