"""The frequency of events: their count, and moving averages of their rate.

Kafka 0.10.2: com.yammer.metrics.core.Meter and stats.EWMA, of the library metrics-core 2.2 · book 2.3
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum

from kafka_lite.common.time import Time
from kafka_lite.metrics.metric import AttributeValue

TICK_INTERVAL_MS = 5_000
"""How often ``tick`` is called."""


class RateUnit(Enum):
    """The time unit of a rate; the value is its length in seconds."""

    SECONDS = 1.0
    HOURS = 3600.0
    NANOSECONDS = 1e-9


class Ewma:
    """An exponentially weighted moving average of a rate, like Unix load averages.

    A rate from ``minutes`` ago has 1/e of the weight of the current one.
    """

    __slots__ = ("_alpha", "_initialized", "rate")

    def __init__(self, minutes: float) -> None:
        self._alpha = 1 - math.exp(-TICK_INTERVAL_MS / 60_000 / minutes)
        self._initialized = False
        self.rate = 0.0
        """Events per second."""

    def tick(self, events: float) -> None:
        """Record the number of events in the interval that has just ended."""
        instant_rate = events / (TICK_INTERVAL_MS / 1000)
        if self._initialized:
            self.rate += self._alpha * (instant_rate - self.rate)
        else:
            self.rate = instant_rate
            self._initialized = True


class Meter:
    """Counts events and computes their rate per second.

    ``mark`` only increments the count, so it costs next to nothing and takes no lock: CPython does not switch threads
    between the read and the write of ``+=`` on an attribute (only at calls and backward jumps). The rates are updated
    every five seconds.
    """

    __slots__ = ("_averages", "_counted", "_start_ms", "_time", "_unit", "count", "event_type")

    def __init__(self, event_type: str, time: Time, unit: RateUnit = RateUnit.SECONDS) -> None:
        self.event_type = event_type
        """The plural name of the counted events."""
        self.count: float = 0.0
        """Number of events since the start."""
        self._unit = unit
        self._time = time
        self._start_ms = time.hi_res_ms()
        self._counted: float = 0.0
        self._averages = (Ewma(1), Ewma(5), Ewma(15))

    def mark(self, n: float = 1) -> None:
        """Count ``n`` events."""
        self.count += n

    def tick(self) -> None:
        """Update the rates with the events since the last tick."""
        events = self.count - self._counted
        self._counted += events
        for average in self._averages:
            average.tick(events)

    @property
    def mean_rate(self) -> float:
        """Events per unit since the start."""
        elapsed_ms = self._time.hi_res_ms() - self._start_ms
        return self.count / elapsed_ms * 1000 * self._unit.value if elapsed_ms > 0 else 0.0

    @property
    def one_minute_rate(self) -> float:
        """Events per unit, averaged over about a minute."""
        return self._averages[0].rate * self._unit.value

    @property
    def five_minute_rate(self) -> float:
        """Events per unit, averaged over about five minutes."""
        return self._averages[1].rate * self._unit.value

    @property
    def fifteen_minute_rate(self) -> float:
        """Events per unit, averaged over about 15 minutes."""
        return self._averages[2].rate * self._unit.value

    def attributes(self) -> dict[str, AttributeValue]:
        """The count and the rates."""
        return {
            "Count": int(self.count),
            "EventType": self.event_type,
            "RateUnit": self._unit.name,
            "MeanRate": self.mean_rate,
            "OneMinuteRate": self.one_minute_rate,
            "FiveMinuteRate": self.five_minute_rate,
            "FifteenMinuteRate": self.fifteen_minute_rate,
        }


class DerivedMeter(Meter):
    """A meter of events that are counted elsewhere: ``count_of`` is read at each tick and whenever the bean is read."""

    __slots__ = ("_count_of",)

    def __init__(
        self, event_type: str, time: Time, count_of: Callable[[], float], unit: RateUnit = RateUnit.SECONDS
    ) -> None:
        super().__init__(event_type, time, unit)
        self._count_of = count_of

    def tick(self) -> None:
        """Read the count and update the rates."""
        self.count = self._count_of()
        super().tick()

    def attributes(self) -> dict[str, AttributeValue]:
        """The current count, and the rates."""
        self.count = self._count_of()
        return super().attributes()
