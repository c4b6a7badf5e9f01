"""A table whose values of a group are aggregated to another table.

Kafka 0.10.2: streams/.../kstream/KGroupedTable.java, internals/KGroupedTableImpl.java · book 9.2.2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from kafka_lite.common.serdes import Serde, Serdes
from kafka_lite.streams.kstream.internals.abstract_stream import AbstractStream
from kafka_lite.streams.kstream.internals.change import ChangedDeserializer, ChangedSerializer
from kafka_lite.streams.kstream.internals.ktable_aggregate import KTableAggregate, KTableReduce
from kafka_lite.streams.kstream.internals.ktable_processors import KTableProcessorSupplier
from kafka_lite.streams.kstream.internals.named_topology_builder import NamedTopologyBuilder
from kafka_lite.streams.kstream.internals.stream_aggregations import AnyStore, aggregate_store, name_of
from kafka_lite.streams.kstream.internals.topic_nodes import (
    REPARTITION_TOPIC_SUFFIX,
    add_sink_and_source,
    deserializer_of,
    serializer_of,
)
from kafka_lite.streams.kstream.ktable import KTable

K = TypeVar("K")
V = TypeVar("V")
K1 = TypeVar("K1")
V1 = TypeVar("V1")
T = TypeVar("T")


class KGroupedTable(AbstractStream[K], Generic[K, V]):
    """A table whose values of a group are to be aggregated. A value that changes leaves its old group first."""

    def __init__(
        self,
        builder: NamedTopologyBuilder,
        name: str,
        source_nodes: Iterable[str],
        key_serde: Serde[K] | None,
        value_serde: Serde[V] | None,
    ) -> None:
        super().__init__(builder, name, source_nodes)
        self._key_serde = key_serde
        self._value_serde = value_serde

    def count(self, store: AnyStore) -> KTable[K, int]:
        """The number of values of each group, in a store of this name."""
        return self.aggregate(
            int,
            lambda _key, _value, total: total + 1,
            lambda _key, _value, total: total - 1,
            Serdes.long(),
            store,
        )

    def reduce(self, adder: Callable[[V, V], V], subtractor: Callable[[V, V], V], store: AnyStore) -> KTable[K, V]:
        """The values of each group combined: ``adder(combined, new)``, ``subtractor(combined, old)``."""
        return self._aggregate(
            "KTABLE-REDUCE-", KTableReduce(name_of(store), adder, subtractor), self._value_serde, store
        )

    def aggregate(
        self,
        initializer: Callable[[], T],
        adder: Callable[[K, V, T], T],
        subtractor: Callable[[K, V, T], T],
        aggregate_serde: Serde[T] | None,
        store: AnyStore,
    ) -> KTable[K, T]:
        """The values of each group aggregated, from ``initializer()``: ``adder(key, new value, aggregate)``,
        ``subtractor(key, old value, aggregate)``."""
        supplier = KTableAggregate(name_of(store), initializer, adder, subtractor)
        return self._aggregate("KTABLE-AGGREGATE-", supplier, aggregate_serde, store)

    def _aggregate(
        self, prefix: str, supplier: KTableProcessorSupplier, serde: Serde[T] | None, store: AnyStore
    ) -> KTable[K, T]:
        builder, topic = self._builder, name_of(store) + REPARTITION_TOPIC_SUFFIX
        sink, source, name = (builder.new_name(each) for each in ("KSTREAM-SINK-", "KSTREAM-SOURCE-", prefix))
        value_serde = self._value_serde
        changed: Serde[Any] = Serde(
            ChangedSerializer(serializer_of(value_serde)),
            ChangedDeserializer(deserializer_of(value_serde)),
        )
        builder.add_internal_topic(topic)
        add_sink_and_source(builder, topic, sink, source, self.name, self._key_serde, changed)
        builder.add_processor(name, supplier, source)
        builder.add_state_store(aggregate_store(store, None, self._key_serde, serde), name)
        return KTable(builder, name, {source}, supplier)
