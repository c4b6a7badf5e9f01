"""Where every stream and table begins.

Kafka 0.10.2: streams/.../kstream/KStreamBuilder.java · book 9.2.1
"""

from __future__ import annotations

import re
from typing import TypeVar

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.kstream.global_ktable import GlobalKTable
from kafka_lite.streams.kstream.internals.ktable_processors import KTableSource
from kafka_lite.streams.kstream.internals.named_topology_builder import NamedTopologyBuilder
from kafka_lite.streams.kstream.internals.topic_nodes import deserializer_of
from kafka_lite.streams.kstream.kstream import KStream, merged, source_stream
from kafka_lite.streams.kstream.ktable import KTable, source_table
from kafka_lite.streams.processor.topology_builder import AutoOffsetReset
from kafka_lite.streams.state.stores import Stores

K = TypeVar("K")
V = TypeVar("V")


class KStreamBuilder(NamedTopologyBuilder):
    """A topology that is declared by what is to happen to the records.

    ::

        builder = KStreamBuilder()
        lines = builder.stream("text", key_serde=Serdes.string(), value_serde=Serdes.string())
        words = lines.flat_map_values(str.split)
        counts = words.group_by(lambda _, word: word, Serdes.string(), Serdes.string()).count("Counts")
        counts.to("word-counts", Serdes.string(), Serdes.long())

    Serdes that are not given are the application's defaults. With given serdes, the types of keys and values are
    checked from operator to operator.
    """

    def stream(
        self,
        *topics: str,
        pattern: str | re.Pattern[str] | None = None,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        offset_reset: AutoOffsetReset | None = None,
    ) -> KStream[K, V]:
        """The records of topics, or of all topics whose whole name matches a pattern. Raises TopologyBuilderError."""
        return source_stream(self, topics, pattern, key_serde, value_serde, offset_reset)

    def table(
        self,
        topic: str,
        store: str,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        offset_reset: AutoOffsetReset | None = None,
    ) -> KTable[K, V]:
        """A topic as a table, in a store of this name. Raises TopologyBuilderError."""
        return source_table(self, topic, store, key_serde, value_serde, offset_reset)

    def global_table(
        self,
        topic: str,
        store: str,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
    ) -> GlobalKTable[K, V]:
        """A topic as a table that every instance has as a whole, in a store of this name.

        Raises TopologyBuilderError if the topic or the name is taken.
        """
        source, name = self.new_name("KSTREAM-SOURCE-"), self.new_name("KTABLE-SOURCE-")
        self.add_global_store(
            Stores.key_value(store, key_serde, value_serde, logging_enabled=False),
            source,
            topic,
            name,
            KTableSource(store),
            key_deserializer=deserializer_of(key_serde),
            value_deserializer=deserializer_of(value_serde),
        )
        return GlobalKTable(store)

    def merge(self, *streams: KStream[K, V]) -> KStream[K, V]:
        """All records of these streams; those of each stream in their order. Raises ValueError if there are none."""
        return merged(self, streams)
