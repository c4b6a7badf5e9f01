"""The topics of a node group, and how Streams configures those that it creates.

Kafka 0.10.2: streams/.../processor/TopologyBuilder.java (TopicsInfo, createInternalTopicConfig) · book 9.1.2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.streams.processor.internals.topology.internal_topic_config import InternalTopicConfig
from kafka_lite.streams.processor.state_store import StateStore, StateStoreSupplier, WindowStoreSupplier


@dataclass(frozen=True)
class TopicsInfo:
    """The topics of a node group, under the names that they have in the cluster."""

    sink_topics: frozenset[str]
    source_topics: frozenset[str]
    repartition_source_topics: Mapping[str, InternalTopicConfig]
    """The source topics that Streams creates, by name."""
    state_changelog_topics: Mapping[str, InternalTopicConfig]
    """The changelogs that Streams creates, by name."""


def changelog_config(topic: str, supplier: StateStoreSupplier[StateStore]) -> InternalTopicConfig:
    """A changelog as Streams creates it: compacted; that of a window store also loses what has expired."""
    if isinstance(supplier, WindowStoreSupplier):
        return InternalTopicConfig(topic, "compact,delete", supplier.log_config, supplier.retention_ms)
    return InternalTopicConfig(topic, "compact", supplier.log_config)
