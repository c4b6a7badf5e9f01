"""The rate that quotas are compared with: counted in a ring of samples, exactly as Kafka does.

Kafka 3.9: clients/.../common/metrics/stats/SampledStat.java (SampleRing), Rate.java (QuotaRate) · book 10.1
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.metrics.stats import MetricConfig, Rate, SampledTotal


@dataclass(slots=True)
class RingSample:
    """One sample: its start, the time of its last event, and the sum of its values."""

    start_ms: float
    last_event_ms: float
    value: float = 0.0

    def reset(self, now_ms: float) -> None:
        """Begin again, empty."""
        self.start_ms = self.last_event_ms = now_ms
        self.value = 0.0


class SampleRing(SampledTotal):
    """The sum of the values in a ring of samples; each begins with its first value.

    ::

        samples = 3, one window each, and one more that is about to leave:

        ┌────────┐   ┌────────┐  idle  ┌────────┐   ┌────────┐
        │ 1      │   │ 2      │        │ 3      │   │ 4  ··· │ now
        └────────┘   └────────┘        └────────┘   └────────┘
          next to be overwritten                      current

    A sample ends with the first value that comes a window or more after its start; that value begins the next one,
    which overwrites the oldest. A sample is forgotten once its last event is ``samples`` windows old. (In 0.10.2: once
    its start is, and the ring has no extra place; then a burst was forgotten up to a window too early.)

    The windows of ``SampledStat`` are adjacent instead, which gives smoother numbers. But clients measure how long a
    quota delays them, and so it has to be Kafka's arithmetic.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ring: list[RingSample] = []
        self._current = 0

    def record(self, config: MetricConfig, value: float, events: float, now_ms: float) -> None:
        """Add a value to the current sample, or begin the next one. The value may be negative: it is taken back."""
        del events
        if not self._ring:
            self._ring.append(RingSample(now_ms, now_ms))
        elif now_ms - self._ring[self._current].start_ms >= config.time_window_ms:
            self._advance(config, now_ms)
        sample = self._ring[self._current]
        sample.value += value
        sample.last_event_ms = now_ms

    def measure(self, config: MetricConfig, now_ms: float) -> float:
        """The sum of what is not forgotten yet."""
        expire_age_ms = config.samples * config.time_window_ms
        for sample in self._ring:
            if now_ms - sample.last_event_ms >= expire_age_ms:
                sample.reset(now_ms)
        return sum(sample.value for sample in self._ring)

    def oldest_start_ms(self, now_ms: float) -> float:
        """Start of the oldest sample, or now if there is none."""
        return min((sample.start_ms for sample in self._ring), default=now_ms)

    def _advance(self, config: MetricConfig, now_ms: float) -> None:
        self._current = (self._current + 1) % (config.samples + 1)
        if self._current == len(self._ring):
            self._ring.append(RingSample(now_ms, now_ms))
        else:
            self._ring[self._current].reset(now_ms)


class QuotaRate(Rate):
    """Values per second, over the time since the oldest sample began, but over ``samples - 1`` windows at least.

    So with 11 samples of 1 s, the very first value counts as if it had taken 10 s: a burst of 10 s times the bound is
    free, and only then do delays begin.
    """

    def __init__(self) -> None:
        super().__init__(stat=SampleRing())
