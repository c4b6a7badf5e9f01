"""Gives access to all beans of a broker.

Kafka 0.10.2: javax.management.MBeanServer, of Java; core/.../tools/JmxTool.scala asks one · book 2.3
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName, ObjectNamePattern

Beans = Mapping[MetricName, Mapping[str, AttributeValue]]
BeanSource = Callable[[], Beans]
"""Returns the current beans with their attributes."""


class MBeanServer:
    """The beans of all sources, read-only."""

    def __init__(self) -> None:
        self._sources: list[BeanSource] = []

    def add_source(self, source: BeanSource) -> None:
        """Add a source of beans."""
        self._sources.append(source)

    def remove_source(self, source: BeanSource) -> None:
        """Show the beans of a source no longer, if it is there."""
        self._sources = [each for each in self._sources if each != source]

    def register(self, name: MetricName, read: Callable[[], Mapping[str, AttributeValue]]) -> None:
        """Add one bean; ``read`` returns its attributes."""
        self.add_source(lambda: {name: read()})

    def query(self, pattern: ObjectNamePattern | None = None) -> dict[MetricName, Mapping[str, AttributeValue]]:
        """Return the beans whose names match (None: all), sorted by name."""
        beans = {
            name: attributes
            for source in self._sources
            for name, attributes in source().items()
            if pattern is None or pattern.matches(name)
        }
        return dict(sorted(beans.items(), key=lambda bean: bean[0].mbean_name))
