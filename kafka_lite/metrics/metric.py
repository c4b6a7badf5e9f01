"""What every metric can do: show itself as the attributes of a bean.

Kafka 0.10.2: com.yammer.metrics.core.Metric, of the library metrics-core 2.2 · book 2.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

AttributeValue = float | int | str | bool | list[str]
"""What an attribute may be."""


class Metric(Protocol):
    """A gauge, a meter, a histogram or a timer."""

    def attributes(self) -> dict[str, AttributeValue]:
        """What the bean shows, under JMX's names of the attributes."""
        ...

    def tick(self) -> None:
        """Five seconds have passed: see ``MetricsRegistry.tick``."""
        ...


class Gauge:
    """A value that somebody else keeps; it is read when it is asked for."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], AttributeValue]) -> None:
        self._read = read

    @property
    def value(self) -> AttributeValue:
        """The value now."""
        return self._read()

    def attributes(self) -> dict[str, AttributeValue]:
        """``Value``."""
        return {"Value": self.value}

    def tick(self) -> None:
        """A gauge knows no time."""
