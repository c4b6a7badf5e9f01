"""How often something is done, and how long it takes.

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
    """A meter of calls and a histogram of their durations in ms."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._meter = Meter("calls", time)
        self._durations = Histogram(time)

    def update(self, duration_ms: float) -> None:
        """One call took this long."""
        self._meter.mark()
        self._durations.update(duration_ms)

    @contextmanager
    def time(self) -> Iterator[None]:
        """Measure what happens inside, be it well or not."""
        begin_ms = self._time.hi_res_ms()
        try:
            yield
        finally:
            self.update(self._time.hi_res_ms() - begin_ms)

    @property
    def count(self) -> int:
        """How many calls there were."""
        return self._durations.count

    def tick(self) -> None:
        """See ``Meter.tick``."""
        self._meter.tick()
        self._durations.tick()

    def attributes(self) -> dict[str, AttributeValue]:
        """Those of both."""
        return {**self._meter.attributes(), **self._durations.attributes(), "LatencyUnit": "MILLISECONDS"}
