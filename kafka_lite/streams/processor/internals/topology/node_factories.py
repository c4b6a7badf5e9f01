"""The declared nodes of a topology, which each task gets a copy of.

Kafka 0.10.2: streams/.../processor/TopologyBuilder.java (NodeFactory, ProcessorNodeFactory, SourceNodeFactory,
SinkNodeFactory, StateStoreFactory) · book 9.1.2
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka_lite.common.serialization import Deserializer, Serializer
from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.processor.processor import ProcessorSupplier
from kafka_lite.streams.processor.state_store import StateStore, StateStoreSupplier
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner


@dataclass
class SourceNodeFactory:
    """Reads topics, by their names or by a pattern."""

    name: str
    topics: tuple[str, ...]
    pattern: re.Pattern[str] | None
    key_deserializer: Deserializer[Any] | None
    value_deserializer: Deserializer[Any] | None
    parents: tuple[str, ...] = ()
    """None."""


@dataclass
class ProcessorNodeFactory:
    """Makes a processor for each task."""

    name: str
    supplier: ProcessorSupplier
    parents: tuple[str, ...]
    state_stores: list[str] = field(default_factory=list)
    """The names of the stores that it may use, in the order in which they were connected."""


@dataclass
class SinkNodeFactory:
    """Writes a topic."""

    name: str
    topic: str
    key_serializer: Serializer[Any] | None
    value_serializer: Serializer[Any] | None
    partitioner: StreamPartitioner[Any, Any] | None
    parents: tuple[str, ...]


NodeFactory = SourceNodeFactory | ProcessorNodeFactory | SinkNodeFactory


@dataclass
class StateStoreFactory:
    """Makes a store for each task that has one of its users."""

    supplier: StateStoreSupplier[StateStore]
    users: list[str] = field(default_factory=list)
    """The names of the processors that it is connected to."""


def ensure_new(nodes: Mapping[str, NodeFactory], name: str, *parents: str) -> None:
    """Check the name of a node, and its parents, before it is added. Raises TopologyBuilderError."""
    if name in nodes:
        raise TopologyBuilderError(f"Processor {name} is already added.")
    for parent in parents:
        if parent == name:
            raise TopologyBuilderError(f"Processor {name} cannot be a parent of itself.")
        if parent not in nodes:
            raise TopologyBuilderError(f"Parent processor {parent} is not added yet.")
        if isinstance(nodes[parent], SinkNodeFactory):
            raise TopologyBuilderError(f"Sink {parent} cannot be a parent: it forwards nothing.")
