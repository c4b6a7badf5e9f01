"""The declared nodes of a topology as text.

Kafka 0.10.2: none; Kafka 1.0: streams/.../processor/internals/InternalTopologyBuilder.java (describe of each
NodeFactory) · book 9.1.2
"""

from __future__ import annotations

from kafka_lite.streams.processor.internals.topology.node_factories import (
    NodeFactory,
    ProcessorNodeFactory,
    SinkNodeFactory,
    SourceNodeFactory,
)
from kafka_lite.streams.processor.internals.topology.topology_description import NodeDescription


def describe_node(factory: NodeFactory) -> NodeDescription:
    """Its line, and the topics or stores that it names."""
    topics: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    match factory:
        case SourceNodeFactory():
            pattern = factory.pattern.pattern if factory.pattern is not None else None
            topics = factory.topics or (pattern or "",)
            listed = ", ".join(topics)
            label = f"Source: {factory.name} (topics: {pattern or f'[{listed}]'})"
        case SinkNodeFactory():
            topics = (factory.topic,)
            label = f"Sink: {factory.name} (topic: {factory.topic})"
        case ProcessorNodeFactory():
            stores = tuple(factory.state_stores)
            label = f"Processor: {factory.name} (stores: [{', '.join(stores)}])"
    return NodeDescription(factory.name, label, factory.parents, topics, stores)
