"""The frequency and duration of calls.

Kafka 0.10.2: core/.../metrics/KafkaTimer.scala; com.yammer.metrics.core.Timer · book 2.3
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kafka_lite.common.time import Time
from kafka_lite.metrics.histogram import Histogram
from kafka_lite.metrics.meter import Meter
from kafka_lite.metrics.metric import AttributeValue


class Timer:
    """A meter of calls, and a histogram of their durations in ms."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._meter = Meter("calls", time)
        self._durations = Histogram(time)

    def update(self, duration_ms: float) -> None:
        """Record a call and its duration."""
        self._meter.mark()
        self._durations.update(duration_ms)

    @contextmanager
    def time(self) -> Iterator[None]:
        """Measure the block, even if it raises."""
        begin_ms = self._time.hi_res_ms()
        try:
            yield
        finally:
            self.update(self._time.hi_res_ms() - begin_ms)

    @property
    def count(self) -> int:
        """Number of calls."""
        return self._durations.count

    def tick(self) -> None:
        """See ``Meter.tick``."""
        self._meter.tick()
        self._durations.tick()

    def attributes(self) -> dict[str, AttributeValue]:
        """The attributes of both the meter and the histogram."""
        return {**self._meter.attributes(), **self._durations.attributes(), "LatencyUnit": "MILLISECONDS"}
