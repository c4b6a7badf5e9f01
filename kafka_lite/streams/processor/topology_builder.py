"""Declares a topology: sources, processors, sinks, and the stores that processors share.

Kafka 0.10.2: streams/.../processor/TopologyBuilder.java · book 9.1.2
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from typing import Any, Self

from kafka_lite.common.serialization import Deserializer, Serializer, ensure_serializer
from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.processor.internals.changelog_topics import store_changelog_topic
from kafka_lite.streams.processor.internals.topology.internal_topic_config import InternalTopicConfig
from kafka_lite.streams.processor.internals.topology.node_building import build_node
from kafka_lite.streams.processor.internals.topology.node_descriptions import describe_node
from kafka_lite.streams.processor.internals.topology.node_factories import (
    NodeFactory,
    ProcessorNodeFactory,
    SinkNodeFactory,
    SourceNodeFactory,
    StateStoreFactory,
    ensure_new,
)
from kafka_lite.streams.processor.internals.topology.processor_node import ProcessorNode
from kafka_lite.streams.processor.internals.topology.processor_topology import ProcessorTopology
from kafka_lite.streams.processor.internals.topology.quick_union import QuickUnion
from kafka_lite.streams.processor.internals.topology.sink_node import SinkNode
from kafka_lite.streams.processor.internals.topology.source_node import SourceNode
from kafka_lite.streams.processor.internals.topology.source_topics import AutoOffsetReset, SourceTopics
from kafka_lite.streams.processor.internals.topology.topics_info import TopicsInfo, changelog_config
from kafka_lite.streams.processor.internals.topology.topology_description import (
    TopologyDescription,
    describe_subtopology,
)
from kafka_lite.streams.processor.processor import ProcessorSupplier
from kafka_lite.streams.processor.state_store import ROCKS_DB, StateStore, StateStoreSupplier
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner

__all__ = ["AutoOffsetReset", "TopicsInfo", "TopologyBuilder"]


class TopologyBuilder:
    """A graph of named nodes, declared from the sources to the sinks.

    ::

        builder = TopologyBuilder()
        builder.add_source("lines", "text")
        builder.add_processor("count", WordCount, "lines")
        builder.add_state_store(Stores.in_memory_key_value("counts", Serdes.string(), Serdes.long()), "count")
        builder.add_sink("counted", "word-counts", "count", value_serializer=LongSerializer())

    Nodes that are connected, by edges or by a common store, make a node group (a sub-topology). It is copied for each
    partition of its source topics, and each copy is a task. Methods may be called by several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._nodes: dict[str, NodeFactory] = {}
        self._stores: dict[str, StateStoreFactory] = {}
        self._sources = SourceTopics()
        self._internal_topics: set[str] = set()
        self._source_store_topics: dict[str, str] = {}
        self._copartition_groups: list[tuple[str, ...]] = []
        self._node_grouper: QuickUnion[str] = QuickUnion()
        self._global_stores: dict[str, StateStoreSupplier[StateStore]] = {}
        self._global_topics: set[str] = set()
        self._application_id: str | None = None
        self._dsl_on_disk = False
        self._has_caches = True

    def set_application_id(self, application_id: str) -> Self:
        """Set the id that begins the names of internal topics."""
        with self._lock:
            self._application_id = application_id
        return self

    def set_dsl_store(self, kind: str) -> Self:
        """Set where stores are kept that leave it open: ``default.dsl.store``."""
        with self._lock:
            self._dsl_on_disk = kind == ROCKS_DB
        return self

    def set_cache_size(self, size_bytes: int) -> Self:
        """Set ``cache.max.bytes.buffering``. With 0, key-value stores are built without caches.

        0.10.2 builds them, and each put is flushed at once. The same records are sent, with more work for each.
        """
        with self._lock:
            self._has_caches = size_bytes > 0
        return self

    # ── declaring ─────────────────────────────────────────────────────────────────────────────────────────────────

    def add_source(
        self,
        name: str,
        *topics: str,
        pattern: str | re.Pattern[str] | None = None,
        key_deserializer: Deserializer[Any] | None = None,
        value_deserializer: Deserializer[Any] | None = None,
        offset_reset: AutoOffsetReset | None = None,
    ) -> Self:
        """Add a node that reads topics, or all topics whose whole name matches a pattern.

        Without deserializers, those of the default serdes are used. Raises TopologyBuilderError if there are neither
        topics nor a pattern, or both, if the name is taken, or if a topic has another source.
        """
        if bool(topics) == (pattern is not None):
            raise TopologyBuilderError("You must provide at least one topic, or a pattern, and not both")
        ensure_serializer(key_deserializer, Deserializer, "key_deserializer")
        ensure_serializer(value_deserializer, Deserializer, "value_deserializer")
        try:
            compiled = None if pattern is None else re.compile(pattern)
        except re.error as error:
            raise TopologyBuilderError(f"{pattern!r} is not a valid regular expression: {error}") from error
        source = SourceNodeFactory(name, topics, compiled, key_deserializer, value_deserializer)
        with self._lock:
            ensure_new(self._nodes, name)
            self._sources.add(source, offset_reset)
            self._add_node(source)
        return self

    def add_processor(self, name: str, supplier: ProcessorSupplier, *parents: str) -> Self:
        """Add a node that processes the records of its parents. ``supplier()`` makes a processor for each task.

        Raises TopologyBuilderError if the name is taken or a parent is unknown.
        """
        if not callable(supplier):
            raise TypeError(f"processor {name}: the supplier must be a class or function, not {supplier!r}")
        with self._lock:
            ensure_new(self._nodes, name, *parents)
            self._add_node(ProcessorNodeFactory(name, supplier, parents))
        return self

    def add_sink(
        self,
        name: str,
        topic: str,
        *parents: str,
        key_serializer: Serializer[Any] | None = None,
        value_serializer: Serializer[Any] | None = None,
        partitioner: StreamPartitioner[Any, Any] | None = None,
    ) -> Self:
        """Add a node that writes the records of its parents to a topic.

        Without serializers, those of the default serdes are used. Without a partitioner, the producer chooses the
        partition, by the hash of the key. Raises TopologyBuilderError if the name is taken or a parent is unknown.
        """
        ensure_serializer(key_serializer, Serializer, "key_serializer")
        ensure_serializer(value_serializer, Serializer, "value_serializer")
        with self._lock:
            ensure_new(self._nodes, name, *parents)
            self._add_node(SinkNodeFactory(name, topic, key_serializer, value_serializer, partitioner, parents))
        return self

    def add_state_store(self, supplier: StateStoreSupplier[StateStore], *processors: str) -> Self:
        """Add a store, and connect it to processors. Raises TopologyBuilderError if its name is taken."""
        with self._lock:
            self._ensure_new_store(supplier.name)
            self._stores[supplier.name] = StateStoreFactory(supplier)
            for processor in processors:
                self._connect(processor, supplier.name)
        return self

    def add_global_store(
        self,
        supplier: StateStoreSupplier[StateStore],
        source: str,
        topic: str,
        processor: str,
        processor_supplier: ProcessorSupplier,
        *,
        key_deserializer: Deserializer[Any] | None = None,
        value_deserializer: Deserializer[Any] | None = None,
    ) -> Self:
        """Add a store that every instance has as a whole, with its source and the processor that fills it.

        Each instance reads all partitions of the topic. Every processor may read the store. Raises
        TopologyBuilderError if a name or the topic is taken, or if the store has a changelog of its own.
        """
        if supplier.logging_enabled:
            raise TopologyBuilderError(f"Global StateStore {supplier.name} cannot have a changelog: its topic is one.")
        with self._lock:
            self._ensure_new_store(supplier.name)
            self.add_source(source, topic, key_deserializer=key_deserializer, value_deserializer=value_deserializer)
            ensure_new(self._nodes, processor, source)
            node = ProcessorNodeFactory(processor, processor_supplier, (source,))
            node.state_stores.append(supplier.name)
            self._add_node(node)
            self._global_stores[supplier.name] = supplier
            self._global_topics.add(topic)
            self.connect_source_store_and_topic(supplier.name, topic)
        return self

    def connect_processor_and_state_stores(self, processor: str, *stores: str) -> Self:
        """Let a processor use stores. It joins the node group of their other users.

        Raises TopologyBuilderError if one of them is unknown, or if the node is a source or a sink.
        """
        with self._lock:
            for store in stores:
                self._connect(processor, store)
        return self

    def connect_source_store_and_topic(self, store: str, topic: str) -> Self:
        """Restore a store from a source topic, which serves as its changelog. Raises TopologyBuilderError."""
        with self._lock:
            if store in self._source_store_topics:
                raise TopologyBuilderError(f"Source store {store} is already added.")
            self._source_store_topics[store] = topic
        return self

    def connect_processors(self, *processors: str) -> Self:
        """Put processors into one node group. Raises TopologyBuilderError for fewer than two, or an unknown one."""
        if len(processors) < 2:
            raise TopologyBuilderError("At least two processors need to participate in the connection.")
        with self._lock:
            for processor in processors:
                if processor not in self._nodes:
                    raise TopologyBuilderError(f"Processor {processor} is not added yet.")
            self._node_grouper.unite(*processors)
        return self

    def add_internal_topic(self, topic: str) -> Self:
        """Let Streams create a topic. Its name in the cluster begins with the application id and a hyphen."""
        with self._lock:
            self._internal_topics.add(topic)
        return self

    def copartition_sources(self, sources: Iterable[str]) -> Self:
        """Require that all topics of these sources have the same number of partitions."""
        with self._lock:
            self._copartition_groups.append(tuple(sources))
        return self

    def _ensure_new_store(self, name: str) -> None:
        if name in self._stores or name in self._global_stores:
            raise TopologyBuilderError(f"StateStore {name} is already added.")

    def _add_node(self, node: NodeFactory) -> None:
        self._nodes[node.name] = node
        self._node_grouper.add(node.name)
        self._node_grouper.unite(node.name, *node.parents)

    def _connect(self, processor: str, store: str) -> None:
        if store not in self._stores:
            raise TopologyBuilderError(f"StateStore {store} is not added yet.")
        node = self._nodes.get(processor)
        if node is None:
            raise TopologyBuilderError(f"Processor {processor} is not added yet.")
        if not isinstance(node, ProcessorNodeFactory):
            raise TopologyBuilderError(f"cannot connect a state store {store} to a source node or a sink node.")
        users = self._stores[store].users
        if users:
            self._node_grouper.unite(users[0], processor)
        if processor not in users:
            users.append(processor)
            node.state_stores.append(store)

    # ── node groups and their topics ──────────────────────────────────────────────────────────────────────────────

    def node_groups(self) -> dict[int, frozenset[str]]:
        """The names of connected nodes, numbered in the order of their sources' names.

        Every instance of an application computes the same numbers, because they are part of the ids of its tasks.
        Nodes without a source come last.
        """
        with self._lock:
            groups: dict[str, set[str]] = {}
            for name in [*sorted(self._sources.names()), *sorted(self._nodes)]:
                groups.setdefault(self._node_grouper.root(name), set()).add(name)
        return {number: frozenset(group) for number, group in enumerate(groups.values())}

    def topic_groups(self) -> dict[int, TopicsInfo]:
        """The topics of each node group that reads at least one; none of global stores, which have no tasks."""
        with self._lock:
            groups = self.node_groups().items()
            infos = {number: self._topics_info(group) for number, group in groups if not self._is_global(group)}
        return {number: info for number, info in infos.items() if info.source_topics}

    def copartition_groups(self) -> list[frozenset[str]]:
        """The groups of topics that need the same number of partitions."""
        with self._lock:
            return [
                frozenset(topic for source in group for topic in self._source_topics(source))
                for group in self._copartition_groups
            ]

    def source_topic_pattern(self) -> re.Pattern[str]:
        """Matches the names of all source topics. The group of the application subscribes to it."""
        with self._lock:
            topics = (topic for name in self._sources.names() for topic in self._source_topics(name))
            escaped = sorted(re.escape(topic) for topic in topics if topic not in self._global_topics)
            return re.compile("|".join([*escaped, *self._sources.patterns()]))

    def source_topics_of_stores(self) -> dict[str, frozenset[str]]:
        """The topics, by store, whose records reach the processors that use it. Their keys decide who has a key."""
        with self._lock:
            return {
                name: frozenset(topic for user in store.users for topic in self._topics_above(user))
                for name, store in self._stores.items()
            }

    def _topics_above(self, name: str) -> set[str]:
        node = self._nodes[name]
        if isinstance(node, SourceNodeFactory):
            return set(self._source_topics(name)) - self._global_topics
        return {topic for parent in node.parents for topic in self._topics_above(parent)}

    @property
    def global_store_names(self) -> frozenset[str]:
        """The names of the global stores."""
        with self._lock:
            return frozenset(self._global_stores)

    def update_subscriptions(self, subscribed_topics: Iterable[str]) -> None:
        """Give the topics that exist to the sources whose patterns they match. Raises TopologyBuilderError."""
        with self._lock:
            self._sources.update_subscriptions(subscribed_topics)

    def reset_of(self, topic: str) -> AutoOffsetReset | None:
        """Where to begin in a topic (its name in the cluster) without a committed offset, if its source says it."""
        with self._lock:
            prefix = f"{self._application_id}-"
            declared = topic.removeprefix(prefix) if topic.removeprefix(prefix) in self._internal_topics else topic
            return self._sources.reset_of(declared)

    @property
    def has_offset_resets(self) -> bool:
        """Whether a source says where to begin."""
        with self._lock:
            return self._sources.has_offset_resets

    @property
    def global_topics(self) -> frozenset[str]:
        """The topics of global stores."""
        with self._lock:
            return frozenset(self._global_topics)

    def _is_global(self, group: frozenset[str]) -> bool:
        """Whether a node group fills a global store."""
        names = (name for name in group if isinstance(self._nodes[name], SourceNodeFactory))
        return any(topic in self._global_topics for name in names for topic in self._sources.topics_of(name))

    def _topics_info(self, group: frozenset[str]) -> TopicsInfo:
        sources = [name for name in sorted(group) if isinstance(self._nodes[name], SourceNodeFactory)]
        sinks = (node for name in group if isinstance(node := self._nodes[name], SinkNodeFactory))
        repartition = {
            self._decorated(topic)
            for source in sources
            for topic in self._sources.topics_of(source)
            if topic in self._internal_topics
        }
        changelogs = {
            topic: changelog_config(topic, store.supplier)
            for store in self._stores.values()
            if store.supplier.logging_enabled and not group.isdisjoint(store.users)
            for topic in (store_changelog_topic(self._required_application_id(), store.supplier.name),)
        }
        return TopicsInfo(
            sink_topics=frozenset(self._decorated(sink.topic) for sink in sinks),
            source_topics=frozenset(topic for source in sources for topic in self._source_topics(source)),
            repartition_source_topics={topic: InternalTopicConfig(topic, "delete") for topic in sorted(repartition)},
            state_changelog_topics=changelogs,
        )

    def _source_topics(self, source: str) -> list[str]:
        return [self._decorated(topic) for topic in self._sources.topics_of(source)]

    def _decorated(self, topic: str) -> str:
        """The name of a topic in the cluster."""
        return f"{self._required_application_id()}-{topic}" if topic in self._internal_topics else topic

    def _required_application_id(self) -> str:
        if self._application_id is None:
            raise TopologyBuilderError(
                "there are internal topics and the application id hasn't been set. Call set_application_id first"
            )
        return self._application_id

    # ── building ──────────────────────────────────────────────────────────────────────────────────────────────────

    def build(self, topic_group_id: int) -> ProcessorTopology:
        """The nodes and stores for a new task of a node group. Raises KeyError for an unknown group."""
        with self._lock:
            return self._build(self.node_groups()[topic_group_id])

    def build_global_state_topology(self) -> ProcessorTopology | None:
        """The nodes and stores that fill the global stores of an instance; None if there are none."""
        with self._lock:
            groups = [group for group in self.node_groups().values() if self._is_global(group)]
            return self._build(frozenset[str]().union(*groups)) if groups else None

    def _build(self, group: frozenset[str]) -> ProcessorTopology:
        factories = [node for name, node in self._nodes.items() if name in group]
        nodes: dict[str, ProcessorNode] = {}
        for factory in factories:
            nodes[factory.name] = build_node(factory, self._source_topics, self._decorated)
            for parent in factory.parents:
                nodes[parent].add_child(nodes[factory.name])
        return ProcessorTopology(
            processors=tuple(nodes.values()),
            source_by_topic={
                topic: node for node in nodes.values() if isinstance(node, SourceNode) for topic in node.topics
            },
            sink_by_topic={node.topic: node for node in nodes.values() if isinstance(node, SinkNode)},
            state_stores=tuple(self._configured(supplier).get() for supplier in self._stores_of(factories)),
            store_to_changelog_topic=self._changelogs_of(factories),
        )

    def _stores_of(self, factories: Iterable[NodeFactory]) -> list[StateStoreSupplier[StateStore]]:
        names = dict.fromkeys(
            name for factory in factories if isinstance(factory, ProcessorNodeFactory) for name in factory.state_stores
        )
        return [self._stores[name].supplier if name in self._stores else self._global_stores[name] for name in names]

    def _configured(self, supplier: StateStoreSupplier[StateStore]) -> StateStoreSupplier[StateStore]:
        filled_in = supplier.of_dsl(self._dsl_on_disk)
        return filled_in if self._has_caches else filled_in.without_cache()

    def _changelogs_of(self, factories: Iterable[NodeFactory]) -> dict[str, str]:
        """The changelogs of these nodes' stores. A source topic takes precedence over a topic of the store's own."""
        changelogs = {}
        for supplier in self._stores_of(factories):
            name = supplier.name
            if name in self._source_store_topics:
                changelogs[name] = self._decorated(self._source_store_topics[name])
            elif supplier.logging_enabled:
                changelogs[name] = store_changelog_topic(self._required_application_id(), name)
        return changelogs

    # ── describing ────────────────────────────────────────────────────────────────────────────────────────────────

    def describe(self) -> TopologyDescription:
        """The sub-topologies with their nodes. Its ``str`` is Kafka's."""
        with self._lock:
            nodes = self._nodes
            subtopologies = (
                describe_subtopology(number, [describe_node(nodes[name]) for name in group], self._is_global(group))
                for number, group in self.node_groups().items()
            )
            return TopologyDescription(tuple(subtopologies))
