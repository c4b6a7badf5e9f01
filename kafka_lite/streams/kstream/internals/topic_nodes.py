"""The nodes between a topology and its topics: sources of streams and tables, and the two ends of an internal topic.

Kafka 0.10.2: streams/.../kstream/KStreamBuilder.java (stream, table);
internals/KStreamImpl.java (createReparitionedSource) · book 9.2.2
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

from kafka_lite.common.serdes import Serde
from kafka_lite.common.serialization import Deserializer, Serializer
from kafka_lite.streams.kstream.dsl_arguments import ensure_serde, ensure_topic
from kafka_lite.streams.kstream.internals.kstream_processors import KStreamFilter
from kafka_lite.streams.kstream.internals.ktable_processors import KTableSource
from kafka_lite.streams.kstream.internals.named_topology_builder import NamedTopologyBuilder
from kafka_lite.streams.processor.topology_builder import AutoOffsetReset
from kafka_lite.streams.state.stores import Stores

T = TypeVar("T")

REPARTITION_TOPIC_SUFFIX = "-repartition"


def serializer_of(serde: Serde[T] | None) -> Serializer[T] | None:
    """The serde's serializer. None means the application's. Raises TypeError."""
    serde = ensure_serde(serde)
    return None if serde is None else serde.serializer


def deserializer_of(serde: Serde[T] | None) -> Deserializer[T] | None:
    """The serde's deserializer. None means the application's. Raises TypeError."""
    serde = ensure_serde(serde)
    return None if serde is None else serde.deserializer


def add_stream_source(
    builder: NamedTopologyBuilder,
    topics: Iterable[str],
    pattern: str | re.Pattern[str] | None,
    key_serde: Serde[Any] | None,
    value_serde: Serde[Any] | None,
    offset_reset: AutoOffsetReset | None,
) -> str:
    """Read topics as records. Returns the name of the source."""
    name = builder.new_name("KSTREAM-SOURCE-")
    builder.add_source(
        name,
        *map(ensure_topic, topics),
        pattern=pattern,
        key_deserializer=deserializer_of(key_serde),
        value_deserializer=deserializer_of(value_serde),
        offset_reset=offset_reset,
    )
    return name


def add_table_source(
    builder: NamedTopologyBuilder,
    topic: str,
    store: str,
    key_serde: Serde[Any] | None,
    value_serde: Serde[Any] | None,
    offset_reset: AutoOffsetReset | None,
) -> tuple[str, str, KTableSource]:
    """Read a topic into a store. The topic is the store's changelog, too.

    Returns the names of the source and of the processor, and the processor's supplier.
    """
    source, name = builder.new_name("KSTREAM-SOURCE-"), builder.new_name("KTABLE-SOURCE-")
    supplier = KTableSource(store)
    builder.add_source(
        source,
        ensure_topic(topic),
        key_deserializer=deserializer_of(key_serde),
        value_deserializer=deserializer_of(value_serde),
        offset_reset=offset_reset,
    )
    builder.add_processor(name, supplier, source)
    supplier_of_store = Stores.key_value(store, key_serde, value_serde, logging_enabled=False, caching_enabled=True)
    builder.add_state_store(supplier_of_store, name)
    builder.connect_source_store_and_topic(store, topic)
    return source, name, supplier


def repartitioned(
    builder: NamedTopologyBuilder,
    parent: str,
    base_name: str,
    key_serde: Serde[Any] | None,
    value_serde: Serde[Any] | None,
) -> str:
    """Send the records of a node that have a key through a repartition topic. Returns the name of its source."""
    topic = base_name + REPARTITION_TOPIC_SUFFIX
    sink, filtered = builder.new_name("KSTREAM-SINK-"), builder.new_name("KSTREAM-FILTER-")
    source = builder.new_name("KSTREAM-SOURCE-")
    builder.add_internal_topic(topic)
    builder.add_processor(filtered, lambda: KStreamFilter(lambda key, _: key is not None), parent)
    add_sink_and_source(builder, topic, sink, source, filtered, key_serde, value_serde)
    return source


def add_sink_and_source(
    builder: NamedTopologyBuilder,
    topic: str,
    sink: str,
    source: str,
    parent: str,
    key_serde: Serde[Any] | None,
    value_serde: Serde[Any] | None,
) -> None:
    """Send the records of the node ``parent`` through an internal topic."""
    builder.add_sink(
        sink,
        topic,
        parent,
        key_serializer=serializer_of(key_serde),
        value_serializer=serializer_of(value_serde),
    )
    builder.add_source(
        source,
        ensure_topic(topic),
        key_deserializer=deserializer_of(key_serde),
        value_deserializer=deserializer_of(value_serde),
    )
