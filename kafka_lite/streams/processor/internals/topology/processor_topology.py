"""The nodes and stores of one task: a copy of a sub-topology.

Kafka 0.10.2: streams/.../processor/internals/ProcessorTopology.java · book 9.1.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.internals.topology.sink_node import SinkNode
from kafka_lite.streams.processor.internals.topology.source_node import SourceNode
from kafka_lite.streams.processor.state_store import StateStore


@dataclass(frozen=True)
class ProcessorTopology:
    """A graph of nodes; parents come before their children in ``processors``."""

    processors: Sequence[ProcessorNode]
    source_by_topic: Mapping[str, SourceNode]
    sink_by_topic: Mapping[str, SinkNode]
    state_stores: Sequence[StateStore]
    store_to_changelog_topic: Mapping[str, str]
    """The names of the changelog topics by the names of their stores. It may name stores of other tasks, too."""

    def source(self, topic: str) -> SourceNode:
        """The source that reads a topic. Raises KeyError."""
        return self.source_by_topic[topic]
