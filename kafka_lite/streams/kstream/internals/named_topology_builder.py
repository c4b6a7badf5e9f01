"""Numbers the processors that the DSL makes.

Kafka 0.10.2: streams/.../kstream/KStreamBuilder.java (newName) · book 9.2.2
"""

from __future__ import annotations

from itertools import count

from kafka_lite.streams.processor.topology_builder import TopologyBuilder


class NamedTopologyBuilder(TopologyBuilder):
    """Names depend on the order of the operators alone, so that every instance of an application has the same."""

    def __init__(self) -> None:
        super().__init__()
        self._index = count()

    def new_name(self, prefix: str) -> str:
        """The prefix and the next number, in ten digits: ``KSTREAM-MAP-0000000001``."""
        return f"{prefix}{next(self._index):010d}"
