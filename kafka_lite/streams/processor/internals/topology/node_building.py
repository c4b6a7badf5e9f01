"""Makes the nodes of a task of those that were declared.

Kafka 0.10.2: streams/.../processor/TopologyBuilder.java (build of each NodeFactory) · book 9.1.2
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_lite.streams.processor.internals.topology.node_factories import (
    NodeFactory,
    ProcessorNodeFactory,
    SinkNodeFactory,
    SourceNodeFactory,
)
from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.internals.topology.sink_node import SinkNode
from kafka_lite.streams.processor.internals.topology.source_node import SourceNode


def build_node(
    factory: NodeFactory, source_topics: Callable[[str], Sequence[str]], decorated: Callable[[str], str]
) -> ProcessorNode:
    """A new node for a task. It knows topics by their names in the cluster: those of a source, and that of a sink."""
    match factory:
        case SourceNodeFactory():
            topics = source_topics(factory.name)
            return SourceNode(factory.name, topics, factory.key_deserializer, factory.value_deserializer)
        case SinkNodeFactory():
            topic = decorated(factory.topic)
            return SinkNode(factory.name, topic, factory.key_serializer, factory.value_serializer, factory.partitioner)
        case ProcessorNodeFactory():
            return ProcessorNode(factory.name, factory.supplier(), factory.state_stores)
