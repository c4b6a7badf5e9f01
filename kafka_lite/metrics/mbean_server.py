"""Where all beans of a broker can be asked for.

Kafka 0.10.2: javax.management.MBeanServer, of Java; core/.../tools/JmxTool.scala asks one · book 2.3
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName, ObjectNamePattern

Beans = Mapping[MetricName, Mapping[str, AttributeValue]]
BeanSource = Callable[[], Beans]
"""Gives the beans of now, with their attributes."""


class MBeanServer:
    """The beans of all sources. Reading is all that one can do."""

    def __init__(self) -> None:
        self._sources: list[BeanSource] = []

    def add_source(self, source: BeanSource) -> None:
        """Show the beans of a source, too."""
        self._sources.append(source)

    def register(self, name: MetricName, read: Callable[[], Mapping[str, AttributeValue]]) -> None:
        """Show one bean, whose attributes ``read`` gives."""
        self.add_source(lambda: {name: read()})

    def query(self, pattern: ObjectNamePattern | None = None) -> dict[MetricName, Mapping[str, AttributeValue]]:
        """The beans whose names match (None: all), in the order of their names."""
        beans = {
            name: attributes
            for source in self._sources
            for name, attributes in source().items()
            if pattern is None or pattern.matches(name)
        }
        return dict(sorted(beans.items(), key=lambda bean: bean[0].mbean_name))
