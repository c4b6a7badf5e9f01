"""A stream whose records of a key are aggregated to a table.

Kafka 0.10.2: streams/.../kstream/KGroupedStream.java, internals/KGroupedStreamImpl.java · book 9.2.2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar, overload

from kafka_lite.common.serdes import Serde, Serdes
from kafka_lite.streams.kstream.internals.abstract_stream import AbstractStream
from kafka_lite.streams.kstream.internals.ktable_processors import KTableProcessorSupplier
from kafka_lite.streams.kstream.internals.named_topology_builder import NamedTopologyBuilder
from kafka_lite.streams.kstream.internals.stream_aggregations import (
    AnyStore,
    AnyWindows,
    aggregate_store,
    aggregation,
    name_of,
    reduction,
)
from kafka_lite.streams.kstream.internals.topic_nodes import repartitioned
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.windows import Windows
from kafka_lite.streams.processor.state_store import StateStoreSupplier
from kafka_lite.streams.windowed import Windowed

K = TypeVar("K")
V = TypeVar("V")
K1 = TypeVar("K1")
V1 = TypeVar("V1")
T = TypeVar("T")


class KGroupedStream(AbstractStream[K], Generic[K, V]):
    """A stream whose records of a key are to be aggregated. Records without a key are left out."""

    def __init__(
        self,
        builder: NamedTopologyBuilder,
        name: str,
        source_nodes: Iterable[str],
        key_serde: Serde[K] | None,
        value_serde: Serde[V] | None,
        repartition_required: bool,
    ) -> None:
        super().__init__(builder, name, source_nodes)
        self._key_serde = key_serde
        self._value_serde = value_serde
        self._repartition_required = repartition_required

    @overload
    def count(self, store: AnyStore) -> KTable[K, int]: ...
    @overload
    def count(self, store: AnyStore, windows: AnyWindows) -> KTable[Windowed[K], int]: ...
    def count(self, store: AnyStore, windows: AnyWindows | None = None) -> KTable[Any, int]:
        """The number of records of each key, or of each key in each window or session, in a store of this name."""
        merger = (lambda _key, total, other: total + other) if isinstance(windows, SessionWindows) else None
        supplier = aggregation(name_of(store), windows, int, lambda _key, _value, total: total + 1, merger)
        return self._with_store("KSTREAM-AGGREGATE-", supplier, self._store(store, windows, Serdes.long()))

    @overload
    def reduce(self, reducer: Callable[[V, V], V], store: AnyStore) -> KTable[K, V]: ...
    @overload
    def reduce(self, reducer: Callable[[V, V], V], store: AnyStore, windows: AnyWindows) -> KTable[Windowed[K], V]: ...
    def reduce(
        self, reducer: Callable[[V, V], V], store: AnyStore, windows: AnyWindows | None = None
    ) -> KTable[Any, V]:
        """The values of each key combined by ``reducer(combined, value)``, in a store of this name.

        With windows, those of each key in each window or session.
        """
        supplier = reduction(name_of(store), windows, reducer)
        return self._with_store("KSTREAM-REDUCE-", supplier, self._store(store, windows, self._value_serde))

    @overload
    def aggregate(
        self,
        initializer: Callable[[], T],
        aggregator: Callable[[K, V, T], T],
        aggregate_serde: Serde[T] | None,
        store: AnyStore,
    ) -> KTable[K, T]: ...
    @overload
    def aggregate(
        self,
        initializer: Callable[[], T],
        aggregator: Callable[[K, V, T], T],
        aggregate_serde: Serde[T] | None,
        store: AnyStore,
        windows: Windows,
    ) -> KTable[Windowed[K], T]: ...
    @overload
    def aggregate(
        self,
        initializer: Callable[[], T],
        aggregator: Callable[[K, V, T], T],
        aggregate_serde: Serde[T] | None,
        store: AnyStore,
        windows: SessionWindows,
        merger: Callable[[K, T, T], T],
    ) -> KTable[Windowed[K], T]: ...
    def aggregate(
        self,
        initializer: Callable[[], T],
        aggregator: Callable[[K, V, T], T],
        aggregate_serde: Serde[T] | None,
        store: AnyStore,
        windows: AnyWindows | None = None,
        merger: Callable[[K, T, T], T] | None = None,
    ) -> KTable[Any, T]:
        """The records of each key aggregated, from ``initializer()``, by ``aggregator(key, value, aggregate)``.

        With windows, those of each key in each window. The aggregates of sessions that become one are combined by
        ``merger(key, aggregate, other aggregate)``. All aggregates are in a store of this name. Raises TypeError for
        sessions without a merger, and for a merger without sessions.
        """
        supplier = aggregation(name_of(store), windows, initializer, aggregator, merger)
        return self._with_store("KSTREAM-AGGREGATE-", supplier, self._store(store, windows, aggregate_serde))

    def _store(self, store: AnyStore, windows: AnyWindows | None, serde: Serde[Any] | None) -> StateStoreSupplier[Any]:
        return aggregate_store(store, windows, self._key_serde, serde)

    def _with_store(
        self, prefix: str, supplier: KTableProcessorSupplier, store: StateStoreSupplier[Any]
    ) -> KTable[Any, Any]:
        builder = self._builder
        name = builder.new_name(prefix)
        parent, sources = self.name, self.source_nodes
        if self._repartition_required:
            parent = repartitioned(builder, self.name, store.name, self._key_serde, self._value_serde)
            sources = frozenset({parent})
        builder.add_processor(name, supplier, parent)
        builder.add_state_store(store, name)
        return KTable(builder, name, sources, supplier)
