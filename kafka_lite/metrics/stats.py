"""Statistics over time windows, as in Kafka's own metrics library.

Kafka 0.10.2: clients/.../common/metrics/stats/SampledStat.java (Sample), Rate.java (SampledTotal), SimpleRate.java,
Avg.java, Max.java, Min.java, Total.java, Count.java, clients/.../common/metrics/MetricConfig.java; Value.java:
Kafka 1.0 · book 10.1
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_lite.metrics.meter import RateUnit
from kafka_lite.metrics.quota import Quota
from kafka_lite.metrics.recording_level import RecordingLevel


@dataclass(frozen=True)
class MetricConfig:
    """Configuration of statistics: ``metrics.num.samples`` windows of ``metrics.sample.window.ms`` each."""

    samples: int = 2
    time_window_ms: float = 30_000
    record_level: RecordingLevel = RecordingLevel.INFO
    """``metrics.recording.level``: with INFO, DEBUG sensors record nothing."""
    tags: tuple[tuple[str, str], ...] = ()
    """Tags of every metric; a client's metrics have its ``client-id``."""
    quota: Quota | None = None
    """The bound of the metric, which ``Sensor.record`` checks."""


@dataclass(slots=True)
class Sample:
    """One window: its start, the sum (or another aggregate) of its values, and their number."""

    start_ms: float
    value: float
    event_count: float = 0


class SampledStat(ABC):
    """Records values in the latest of ``samples`` windows; the oldest is dropped when a new one begins.

    ::

        samples = 2    │── window 1, complete ──│── window 2, so far ─▶ now
                       └─────────── measured range ──────────────────┘

    A window begins where the previous one ended. In Kafka it begins with its first value, so that between the end of a
    window and that value the rates are half of what they should be.
    """

    initial_value = 0.0

    def __init__(self) -> None:
        self._samples: list[Sample] = []

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:
        """Record ``events`` values whose sum is ``value``."""
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
        """Compute the statistic over the windows that have not expired."""
        self.purge_obsolete_samples(config, now_ms)
        return self.combine(self._samples)

    def purge_obsolete_samples(self, config: MetricConfig, now_ms: float) -> None:
        """Drop expired windows."""
        expire_age_ms = config.samples * config.time_window_ms
        self._samples = [sample for sample in self._samples if now_ms - sample.start_ms < expire_age_ms]

    def oldest_start_ms(self, now_ms: float) -> float:
        """Start of the oldest window, or now if there is none."""
        return self._samples[0].start_ms if self._samples else now_ms

    @abstractmethod
    def update(self, sample: Sample, value: float, events: float) -> None:
        """Add a value to a window."""

    @abstractmethod
    def combine(self, samples: Sequence[Sample]) -> float:
        """Combine all windows into the statistic."""


class SampledTotal(SampledStat):
    """The sum of the values."""

    def update(self, sample: Sample, value: float, events: float) -> None:
        """Add the value."""
        del events
        sample.value += value

    def combine(self, samples: Sequence[Sample]) -> float:
        """Sum all windows."""
        return sum(sample.value for sample in samples)


class Count(SampledStat):
    """The number of values."""

    def update(self, sample: Sample, value: float, events: float) -> None:
        """Add the number of events."""
        del value
        sample.value += events

    def combine(self, samples: Sequence[Sample]) -> float:
        """Sum all windows."""
        return sum(sample.value for sample in samples)


class Avg(SampledTotal):
    """The mean of the values; NaN if there are none, as in Kafka."""

    def combine(self, samples: Sequence[Sample]) -> float:
        """Divide the sum by the count."""
        events = sum(sample.event_count for sample in samples)
        return super().combine(samples) / events if events else math.nan


class Max(SampledStat):
    """The largest value; minus infinity if there is none, as in Kafka."""

    initial_value = -math.inf

    def update(self, sample: Sample, value: float, events: float) -> None:
        """Keep the larger value."""
        del events
        sample.value = max(sample.value, value)

    def combine(self, samples: Sequence[Sample]) -> float:
        """The largest value of all windows."""
        return max((sample.value for sample in samples), default=-math.inf)


class Min(SampledStat):
    """The smallest value; infinity if there is none, mirroring Max. (Kafka: NaN.)"""

    initial_value = math.inf

    def update(self, sample: Sample, value: float, events: float) -> None:
        """Keep the smaller value."""
        del events
        sample.value = min(sample.value, value)

    def combine(self, samples: Sequence[Sample]) -> float:
        """The smallest value of all windows."""
        return min((sample.value for sample in samples), default=math.inf)


class Value:
    """The last value, however old it is; 0 if there is none."""

    def __init__(self) -> None:
        self._value = 0.0

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:
        """Keep the value."""
        del config, events, now_ms
        self._value = value

    def measure(self, config: MetricConfig, now_ms: float) -> float:
        """The value."""
        del config, now_ms
        return self._value


class CumulativeSum:
    """The sum of all values since the start."""

    def __init__(self) -> None:
        self._total = 0.0

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:
        """Add the value."""
        del config, events, now_ms
        self._total += value

    def measure(self, config: MetricConfig, now_ms: float) -> float:
        """The sum."""
        del config, now_ms
        return self._total


class CumulativeCount(CumulativeSum):
    """The number of recorded events (Kafka's ``CumulativeCount``)."""

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:
        """Count."""
        super().record(config, events, events, now_ms)
        del value


class Rate:
    """A total divided by the time in which it accumulated.

    That time is at least ``samples - 1`` full windows; otherwise the rates in the first second of a broker would be
    unrealistically high.
    """

    def __init__(self, unit: RateUnit = RateUnit.SECONDS, stat: SampledStat | None = None) -> None:
        self._unit = unit
        self._stat = stat or SampledTotal()

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:
        """See ``SampledStat.record``."""
        self._stat.record(config, value, events, now_ms)

    def measure(self, config: MetricConfig, now_ms: float) -> float:
        """The rate per unit of time."""
        total = self._stat.measure(config, now_ms)
        return total / (self.window_size_ms(config, now_ms) / 1000) * self._unit.value

    def window_size_ms(self, config: MetricConfig, now_ms: float) -> float:
        """The time in which the total accumulated."""
        elapsed_ms = now_ms - self._stat.oldest_start_ms(now_ms)
        full_windows = int(elapsed_ms / config.time_window_ms)
        missing = max(config.samples - 1 - full_windows, 0)
        # With one sample the elapsed time may be zero.
        return max(elapsed_ms + missing * config.time_window_ms, 1.0)


class SimpleRate(Rate):
    """A rate over the time since the oldest window began, but at least over one whole window.

    Unlike ``Rate`` it tells at once of a burst in the first seconds: a quota that waited for all windows to fill would
    let ten seconds' worth of bytes through.
    """

    def window_size_ms(self, config: MetricConfig, now_ms: float) -> float:
        """The time since the oldest window began, or one whole window."""
        return max(now_ms - self._stat.oldest_start_ms(now_ms), config.time_window_ms)


COUNTED_WITHIN_MS = 5_000


def counted_since(collected_ms: float, now_ms: float) -> float:
    """When events that were counted since ``collected_ms`` happened: at that time, where their window began.

    But at most ``COUNTED_WITHIN_MS`` ago, the interval of a broker's collectors: otherwise an event after an idle hour
    would be recorded as an hour old.
    """
    return max(collected_ms, now_ms - COUNTED_WITHIN_MS)
