"""The stores and keys that each instance of the application has.

Kafka 0.10.2: streams/.../processor/internals/StreamsMetadataState.java · book 9.1.4
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.murmur2 import murmur2, to_positive
from kafka_lite.common.serialization import Serializer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.state.host_info import HostInfo
from kafka_lite.streams.state.streams_metadata import NOT_AVAILABLE, StreamsMetadata


class StreamsMetadataState:
    """The leader of the group sends all hosts with their partitions to all members. Thread-safe."""

    def __init__(self, builder: TopologyBuilder, this_host: HostInfo | None) -> None:
        self._builder = builder
        self._this_host = this_host
        self._lock = threading.Lock()
        self._all: tuple[StreamsMetadata, ...] = ()
        self._partition_counts: dict[str, int] = {}

    def on_change(self, partitions_by_host: Mapping[HostInfo, frozenset[TopicPartition]]) -> None:
        """Take over a new assignment."""
        store_topics, global_stores = self._builder.source_topics_of_stores(), self._builder.global_store_names
        found = []
        counts: dict[str, int] = {}
        for host, partitions in sorted(partitions_by_host.items()):
            topics = {partition.topic for partition in partitions}
            stores = {name for name, sources in store_topics.items() if not topics.isdisjoint(sources)}
            found.append(StreamsMetadata(host, global_stores | stores, partitions))
            for topic, number in partitions:
                counts[topic] = max(counts.get(topic, 0), number + 1)
        with self._lock:
            self._all, self._partition_counts = tuple(found), counts

    def all_metadata(self) -> tuple[StreamsMetadata, ...]:
        """All instances that have an ``application.server``."""
        with self._lock:
            return self._all

    def all_metadata_for_store(self, store: str) -> tuple[StreamsMetadata, ...]:
        """The instances that have a part of a store, or the whole global store."""
        return tuple(metadata for metadata in self.all_metadata() if store in metadata.state_store_names)

    def metadata_with_key(
        self, store: str, key: Any, key_serializer: Serializer[Any], partitioner: StreamPartitioner[Any, Any] | None
    ) -> StreamsMetadata | None:
        """The instance whose part of a store has a key, if the key exists; NOT_AVAILABLE during the first rebalance.

        The partition is the partitioner's, which is called without a value, or the one that producers choose for the
        key's bytes. Every instance has a global store. Returns None if there is no such store.
        """
        with self._lock:
            known, counts = self._all, self._partition_counts
        if not known:
            return NOT_AVAILABLE
        if store in self._builder.global_store_names:
            return next((each for each in known if each.host_info == self._this_host), known[0])
        topics = self._builder.source_topics_of_stores().get(store)
        if not topics:
            return None
        count = max(counts.get(topic, 0) for topic in topics)
        if count == 0:
            return NOT_AVAILABLE
        number = partitioner(key, None, count) if partitioner is not None else None
        if number is None:
            number = to_positive(murmur2(key_serializer.serialize(min(topics), key) or b"")) % count
        wanted = {TopicPartition(topic, number) for topic in topics}
        return next(
            (each for each in known if store in each.state_store_names and each.topic_partitions & wanted),
            NOT_AVAILABLE,
        )
