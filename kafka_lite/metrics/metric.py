"""The interface of metrics, which show themselves as the attributes of a bean.

Kafka 0.10.2: com.yammer.metrics.core.Metric, of the library metrics-core 2.2 · book 2.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

AttributeValue = float | int | str | bool | list[str]
"""The type of an attribute."""


class Metric(Protocol):
    """A gauge, a meter, a histogram or a timer."""

    def attributes(self) -> dict[str, AttributeValue]:
        """The attributes of the bean, under their JMX names."""
        ...

    def tick(self) -> None:
        """Called every five seconds; see ``MetricsRegistry.tick``."""
        ...


class Gauge:
    """A value that is kept elsewhere and read on demand."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], AttributeValue]) -> None:
        self._read = read

    @property
    def value(self) -> AttributeValue:
        """The current value."""
        return self._read()

    def attributes(self) -> dict[str, AttributeValue]:
        """``Value``."""
        return {"Value": self.value}

    def tick(self) -> None:
        """Do nothing: a gauge does not depend on time."""
