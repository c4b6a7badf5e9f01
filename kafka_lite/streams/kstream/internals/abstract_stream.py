"""The common base of streams, tables and grouped streams: a node of the topology, and the sources of its records.

Kafka 0.10.2: streams/.../kstream/internals/AbstractStream.java · book 9.2.2
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.kstream.internals.named_topology_builder import NamedTopologyBuilder
from kafka_lite.streams.processor.processor import ProcessorSupplier

K = TypeVar("K")


class AbstractStream(Generic[K]):
    """A node of the topology whose records have keys of type K."""

    def __init__(self, builder: NamedTopologyBuilder, name: str, source_nodes: Iterable[str]) -> None:
        self._builder = builder
        self.name = name
        """The name of the node."""
        self.source_nodes = frozenset(source_nodes)
        """The names of the sources from which its records come, since the last repartition topic."""

    def _add(self, prefix: str, supplier: ProcessorSupplier) -> str:
        """Add a processor below this node. Returns its name."""
        name = self._builder.new_name(prefix)
        self._builder.add_processor(name, supplier, self.name)
        return name

    def _ensure_joinable_with(self, other: AbstractStream[Any]) -> frozenset[str]:
        """Require the same number of partitions of all source topics. Returns the sources of both.

        Raises TopologyBuilderError if the other one is of another builder.
        """
        if other._builder is not self._builder:
            raise TopologyBuilderError("streams and tables that are joined must be of one builder")
        sources = self.source_nodes | other.source_nodes
        self._builder.copartition_sources(sources)
        return sources
