"""Streams and tables, as applications see them. They make each other, and so they are in one module.

What an operator adds to the topology is in ``internals``: the ways out in ``writable_stream``, sources and repartition
topics in ``topic_nodes``, joins in ``join_nodes``, and what happens to a record in the processors' modules.

Kafka 0.10.2: streams/.../kstream/KStream.java, KTable.java, KGroupedStream.java, KGroupedTable.java;
internals/KStreamImpl.java, KTableImpl.java · book 9.2.2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar, overload

from kafka_lite.common.serdes import Serde, Serdes
from kafka_lite.streams.kstream.dsl_arguments import ensure_callable, ensure_kind
from kafka_lite.streams.kstream.global_ktable import GlobalKTable
from kafka_lite.streams.kstream.internals.abstract_stream import AbstractStream
from kafka_lite.streams.kstream.internals.change import ChangedDeserializer, ChangedSerializer
from kafka_lite.streams.kstream.internals.join_nodes import (
    JoinSerdes,
    add_stream_join,
    add_stream_table_join,
    add_table_join,
)
from kafka_lite.streams.kstream.internals.kstream_global_ktable_join import KStreamGlobalKTableJoin
from kafka_lite.streams.kstream.internals.kstream_processors import (
    KStreamBranch,
    KStreamFilter,
    KStreamFlatMap,
    KStreamFlatMapValues,
    KStreamForeach,
    KStreamMap,
    KStreamMapValues,
    KStreamPassThrough,
)
from kafka_lite.streams.kstream.internals.kstream_transform import KStreamTransform, KStreamTransformValues
from kafka_lite.streams.kstream.internals.ktable_aggregate import KTableAggregate, KTableReduce
from kafka_lite.streams.kstream.internals.ktable_processors import (
    KTableFilter,
    KTableMapValues,
    KTableProcessorSupplier,
    KTableRepartitionMap,
)
from kafka_lite.streams.kstream.internals.named_topology_builder import NamedTopologyBuilder
from kafka_lite.streams.kstream.internals.stream_aggregations import (
    AnyStore,
    AnyWindows,
    aggregate_store,
    aggregation,
    name_of,
    reduction,
)
from kafka_lite.streams.kstream.internals.topic_nodes import (
    REPARTITION_TOPIC_SUFFIX,
    add_sink_and_source,
    add_stream_source,
    add_table_source,
    deserializer_of,
    repartitioned,
    serializer_of,
)
from kafka_lite.streams.kstream.internals.writable_stream import WritableStream
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.transformer import Transformer, ValueTransformer
from kafka_lite.streams.kstream.windows import Windows
from kafka_lite.streams.processor.processor import ProcessorSupplier
from kafka_lite.streams.processor.state_store import StateStoreSupplier
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner
from kafka_lite.streams.processor.topology_builder import AutoOffsetReset
from kafka_lite.streams.windowed import Windowed

K = TypeVar("K")
V = TypeVar("V")
K1 = TypeVar("K1")
V1 = TypeVar("V1")
T = TypeVar("T")


class KStream(WritableStream[K, V]):
    """A stream of records, each independent of the others.

    Operators that may change the key mark the stream: before it is grouped, its records go through a repartition topic,
    so that all records of a key come to one task.
    """

    def __init__(
        self, builder: NamedTopologyBuilder, name: str, source_nodes: Iterable[str], repartition_required: bool = False
    ) -> None:
        super().__init__(builder, name, source_nodes)
        self._repartition_required = repartition_required

    # ── record by record ──────────────────────────────────────────────────────────────────────────────────────────

    def filter(self, predicate: Callable[[K, V], bool]) -> KStream[K, V]:
        """The records for which ``predicate(key, value)`` holds."""
        return self._same_key("KSTREAM-FILTER-", lambda: KStreamFilter(predicate))

    def filter_not(self, predicate: Callable[[K, V], bool]) -> KStream[K, V]:
        """The records for which ``predicate(key, value)`` does not hold."""
        return self._same_key("KSTREAM-FILTER-", lambda: KStreamFilter(predicate, negate=True))

    def map(self, mapper: Callable[[K, V], tuple[K1, V1]]) -> KStream[K1, V1]:
        """The records ``mapper(key, value)``."""
        return self._new_key(self._add("KSTREAM-MAP-", lambda: KStreamMap(mapper)))

    def map_values(self, mapper: Callable[[V], V1]) -> KStream[K, V1]:
        """The records with the values ``mapper(value)``."""
        return self._same_key("KSTREAM-MAPVALUES-", lambda: KStreamMapValues(mapper))

    def flat_map(self, mapper: Callable[[K, V], Iterable[tuple[K1, V1]]]) -> KStream[K1, V1]:
        """All records of ``mapper(key, value)``."""
        return self._new_key(self._add("KSTREAM-FLATMAP-", lambda: KStreamFlatMap(mapper)))

    def flat_map_values(self, mapper: Callable[[V], Iterable[V1]]) -> KStream[K, V1]:
        """A record for each value of ``mapper(value)``."""
        return self._same_key("KSTREAM-FLATMAPVALUES-", lambda: KStreamFlatMapValues(mapper))

    def select_key(self, mapper: Callable[[K, V], K1]) -> KStream[K1, V]:
        """The records with the keys ``mapper(key, value)``."""
        return self._new_key(self._select_key(mapper))

    def branch(self, *predicates: Callable[[K, V], bool]) -> list[KStream[K, V]]:
        """A stream for each predicate. A record goes to the first that holds; if none does, it is dropped.

        Raises ValueError without predicates.
        """
        if not predicates:
            raise ValueError("you must provide at least one predicate")
        branch: KStream[K, V] = self._same_key("KSTREAM-BRANCH-", lambda: KStreamBranch(predicates))
        return [branch._same_key("KSTREAM-BRANCHCHILD-", KStreamPassThrough) for _ in predicates]

    def foreach(self, action: Callable[[K, V], object]) -> None:
        """Call ``action(key, value)`` for each record. After a failure it may be called again for some."""
        self._add("KSTREAM-FOREACH-", lambda: KStreamForeach(action))

    def transform(
        self, supplier: Callable[[], Transformer[K, V, tuple[K1, V1]]], *state_stores: str
    ) -> KStream[K1, V1]:
        """The records that a transformer makes of these. It may use these stores. ``supplier()`` makes one per task."""
        name = self._add("KSTREAM-TRANSFORM-", lambda: KStreamTransform(supplier()))
        self._builder.connect_processor_and_state_stores(name, *state_stores)
        return self._new_key(name)

    def transform_values(self, supplier: Callable[[], ValueTransformer[V, V1]], *state_stores: str) -> KStream[K, V1]:
        """The records with the values that a transformer makes. It may use these stores."""
        stream = self._same_key("KSTREAM-TRANSFORMVALUES-", lambda: KStreamTransformValues(supplier()))
        self._builder.connect_processor_and_state_stores(stream.name, *state_stores)
        return stream

    def process(self, supplier: ProcessorSupplier, *state_stores: str) -> None:
        """Process the records with a processor of your own, which may use these stores."""
        name = self._add("KSTREAM-PROCESSOR-", supplier)
        self._builder.connect_processor_and_state_stores(name, *state_stores)

    # ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _node_of_plain_values(self) -> str:
        return self.name

    def through(
        self,
        topic: str,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        partitioner: StreamPartitioner[K, V] | None = None,
    ) -> KStream[K, V]:
        """Write the records to a topic, which you have created, and read them from there."""
        self.to(topic, key_serde, value_serde, partitioner)
        return source_stream(self._builder, (topic,), None, key_serde, value_serde, None)

    # ── grouping ──────────────────────────────────────────────────────────────────────────────────────────────────

    def group_by_key(
        self, key_serde: Serde[K] | None = None, value_serde: Serde[V] | None = None
    ) -> KGroupedStream[K, V]:
        """Group the records by their keys. The serdes are those of a repartition topic, if one is needed."""
        return KGroupedStream(
            self._builder, self.name, self.source_nodes, key_serde, value_serde, self._repartition_required
        )

    def group_by(
        self,
        selector: Callable[[K, V], K1],
        key_serde: Serde[K1] | None = None,
        value_serde: Serde[V] | None = None,
    ) -> KGroupedStream[K1, V]:
        """Group the records by ``selector(key, value)``, through a repartition topic with these serdes."""
        name = self._select_key(selector)
        return KGroupedStream(self._builder, name, self.source_nodes, key_serde, value_serde, True)

    def _select_key(self, mapper: Callable[[K, V], Any]) -> str:
        return self._add("KSTREAM-KEY-SELECT-", lambda: KStreamMap(lambda key, value: (mapper(key, value), value)))

    def _same_key(self, prefix: str, supplier: ProcessorSupplier) -> KStream[K, Any]:
        """A new node below this one, as a stream with the same keys, sources and mark."""
        return KStream(self._builder, self._add(prefix, supplier), self.source_nodes, self._repartition_required)

    def _new_key(self, name: str) -> KStream[Any, Any]:
        """An existing node as a stream whose keys may be new: it has the same sources, and is marked."""
        return KStream(self._builder, name, self.source_nodes, True)

    # ── joins ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @overload
    def join(
        self,
        other: KTable[K, V1],
        joiner: Callable[[V, V1], T],
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
    ) -> KStream[K, T]: ...
    @overload
    def join(
        self,
        other: GlobalKTable[K1, V1],
        joiner: Callable[[V, V1], T],
        *,
        key_mapper: Callable[[K, V], K1],
    ) -> KStream[K, T]: ...
    @overload
    def join(
        self,
        other: KStream[K, V1],
        joiner: Callable[[V, V1], T],
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        *,
        windows: JoinWindows,
        other_value_serde: Serde[V1] | None = None,
    ) -> KStream[K, T]: ...
    def join(
        self,
        other: KTable[K, V1] | KStream[K, V1] | GlobalKTable[K1, V1],
        joiner: Callable[[V, V1], T],
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        *,
        windows: JoinWindows | None = None,
        other_value_serde: Serde[V1] | None = None,
        key_mapper: Callable[[K, V], K1] | None = None,
    ) -> KStream[K, T]:
        """``joiner(value, other value)`` of the records with the same key.

        With a table: of each record whose key is in the table at that moment. The serdes are those of a repartition
        topic, if one is needed. With a stream: of each two records that ``windows`` allows. The serdes are those of
        the stores and repartition topics. The topics of both need the same number of partitions. With a global table:
        of each record for which the table has the key ``key_mapper(key, value)`` at that moment.

        Raises TypeError for a stream without ``windows``, a table with them, or a global table without a key mapper,
        and TopologyBuilderError if ``windows`` keeps records for less than its size.
        """
        if isinstance(other, GlobalKTable):
            return self._join_global_table(other, joiner, key_mapper, left=False)
        _ensure_no_key_mapper(key_mapper)
        serdes = (key_serde, value_serde, other_value_serde)
        return self._join(other, joiner, windows, serdes, left=False, right=False)

    @overload
    def left_join(
        self,
        other: KTable[K, V1],
        joiner: Callable[[V, V1 | None], T],
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
    ) -> KStream[K, T]: ...
    @overload
    def left_join(
        self,
        other: GlobalKTable[K1, V1],
        joiner: Callable[[V, V1 | None], T],
        *,
        key_mapper: Callable[[K, V], K1],
    ) -> KStream[K, T]: ...
    @overload
    def left_join(
        self,
        other: KStream[K, V1],
        joiner: Callable[[V, V1 | None], T],
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        *,
        windows: JoinWindows,
        other_value_serde: Serde[V1] | None = None,
    ) -> KStream[K, T]: ...
    def left_join(
        self,
        other: KTable[K, V1] | KStream[K, V1] | GlobalKTable[K1, V1],
        joiner: Callable[[V, V1 | None], T],
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        *,
        windows: JoinWindows | None = None,
        other_value_serde: Serde[V1] | None = None,
        key_mapper: Callable[[K, V], K1] | None = None,
    ) -> KStream[K, T]:
        """The same for every record of this stream; ``joiner`` gets None if there is nothing to join it with yet."""
        if isinstance(other, GlobalKTable):
            return self._join_global_table(other, joiner, key_mapper, left=True)
        _ensure_no_key_mapper(key_mapper)
        serdes = (key_serde, value_serde, other_value_serde)
        return self._join(other, joiner, windows, serdes, left=True, right=False)

    def outer_join(
        self,
        other: KStream[K, V1],
        joiner: Callable[[V | None, V1 | None], T],
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        *,
        windows: JoinWindows,
        other_value_serde: Serde[V1] | None = None,
    ) -> KStream[K, T]:
        """The same for every record of either stream; ``joiner`` gets None for the stream that has none for it yet."""
        serdes = (key_serde, value_serde, other_value_serde)
        return self._join(other, joiner, windows, serdes, left=True, right=True)

    def _join(
        self,
        other: KTable[K, Any] | KStream[K, Any],
        joiner: Callable[[Any, Any], T],
        windows: JoinWindows | None,
        serdes: JoinSerdes,
        *,
        left: bool,
        right: bool,
    ) -> KStream[K, T]:
        key_serde, value_serde, other_value_serde = serdes
        ensure_kind("what a stream is joined with", other, KStream, KTable, GlobalKTable)
        ensure_callable("a joiner", joiner)
        if isinstance(other, KTable):
            if windows is not None or other_value_serde is not None:
                raise TypeError("a join with a table has neither windows nor an other_value_serde")
            this = self._repartitioned_to_join(key_serde, value_serde)
            sources = this._ensure_joinable_with(other)
            name = add_stream_table_join(self._builder, this.name, other.name, other.supplier, joiner, left=left)
            return KStream(self._builder, name, sources)
        if windows is None:
            raise TypeError("a join of two streams needs windows")
        ensure_kind("windows of a join", windows, JoinWindows)
        this = self._repartitioned_to_join(key_serde, value_serde)
        joined = other._repartitioned_to_join(key_serde, other_value_serde)
        sources = this._ensure_joinable_with(joined)
        name = add_stream_join(self._builder, this.name, joined.name, joiner, windows, serdes, left=left, right=right)
        return KStream(self._builder, name, sources)

    def _join_global_table(
        self,
        table: GlobalKTable[Any, Any],
        joiner: Callable[[Any, Any], T],
        key_mapper: Callable[[K, V], Any] | None,
        left: bool,
    ) -> KStream[K, T]:
        """(In 0.10.2 the joined stream is not repartitioned any more, even if its keys have changed before.)"""
        ensure_callable("a joiner", joiner)
        if key_mapper is None:
            raise TypeError("a join with a global table needs a key_mapper")
        store = table.store_name
        return self._same_key("KSTREAM-LEFTJOIN-", lambda: KStreamGlobalKTableJoin(store, key_mapper, joiner, left))

    def _repartitioned_to_join(self, key_serde: Serde[K] | None, value_serde: Serde[V] | None) -> KStream[K, V]:
        """This stream if it is not marked, else the stream from a repartition topic that is named after its node."""
        if not self._repartition_required:
            return self
        source = repartitioned(self._builder, self.name, self.name, key_serde, value_serde)
        return KStream(self._builder, source, {source})


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
        merger = _plus if isinstance(windows, SessionWindows) else None
        supplier = aggregation(name_of(store), windows, _zero, _plus_one, merger)
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


class KTable(WritableStream[K, V]):
    """A table: each record is a change of one key. A record without a value deletes the key."""

    def __init__(
        self, builder: NamedTopologyBuilder, name: str, source_nodes: Iterable[str], supplier: KTableProcessorSupplier
    ) -> None:
        super().__init__(builder, name, source_nodes)
        self.supplier = supplier
        """Makes its processors, and looks values up."""

    @property
    def store_name(self) -> str:
        """The store that the table is in, for queries. Of a table that is only computed: the store of the first table
        that it is computed from."""
        return self.supplier.store_names[0]

    def filter(self, predicate: Callable[[K, V], bool]) -> KTable[K, V]:
        """The keys for whose value ``predicate(key, value)`` holds."""
        return self._derived("KTABLE-FILTER-", KTableFilter(self.supplier, predicate))

    def filter_not(self, predicate: Callable[[K, V], bool]) -> KTable[K, V]:
        """The keys for whose value ``predicate(key, value)`` does not hold."""
        return self._derived("KTABLE-FILTER-", KTableFilter(self.supplier, predicate, negate=True))

    def map_values(self, mapper: Callable[[V], V1]) -> KTable[K, V1]:
        """The same keys with the values ``mapper(value)``."""
        return self._derived("KTABLE-MAPVALUES-", KTableMapValues(self.supplier, mapper))

    @overload
    def to_stream(self) -> KStream[K, V]: ...
    @overload
    def to_stream(self, mapper: Callable[[K, V], K1]) -> KStream[K1, V]: ...
    def to_stream(self, mapper: Callable[[K, V], Any] | None = None) -> KStream[Any, V]:
        """The changes as a stream of new values; None for a deletion.

        With a mapper, the keys are ``mapper(key, new value)``.
        """
        name = self._add("KTABLE-TOSTREAM-", lambda: KStreamMapValues(_new_value))
        stream: KStream[K, V] = KStream(self._builder, name, self.source_nodes)
        return stream if mapper is None else stream.select_key(mapper)

    def foreach(self, action: Callable[[K, V | None], object]) -> None:
        """Call ``action(key, new value)`` for each change."""
        self._add("KTABLE-FOREACH-", lambda: KStreamForeach(lambda key, change: action(key, _new_value(change))))

    def _node_of_plain_values(self) -> str:
        return self.to_stream().name

    def through(
        self,
        topic: str,
        store: str,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        partitioner: StreamPartitioner[K, V] | None = None,
    ) -> KTable[K, V]:
        """Write the changes to a topic, which you have created, and read them as a table in a store of this name."""
        self.to(topic, key_serde, value_serde, partitioner)
        return source_table(self._builder, topic, store, key_serde, value_serde, None)

    def group_by(
        self,
        selector: Callable[[K, V], tuple[K1, V1] | None],
        key_serde: Serde[K1] | None = None,
        value_serde: Serde[V1] | None = None,
    ) -> KGroupedTable[K1, V1]:
        """Group the table by ``selector(key, value)``, which returns the group and the value in it, or None.

        The serdes are those of the repartition topic.
        """
        name = self._add("KTABLE-SELECT-", lambda: KTableRepartitionMap(selector))
        self.supplier.enable_sending_old_values()
        return KGroupedTable(self._builder, name, {self.name}, key_serde, value_serde)

    def _derived(self, prefix: str, supplier: KTableProcessorSupplier) -> KTable[K, Any]:
        return KTable(self._builder, self._add(prefix, supplier), self.source_nodes, supplier)

    # ── joins ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def join(self, other: KTable[K, V1], joiner: Callable[[V, V1], T]) -> KTable[K, T]:
        """``joiner(value, other value)`` of each key that is in both tables, kept up to date by changes of both.

        The topics need the same number of partitions.
        """
        return self._join(other, joiner, needs_this=True, needs_other=True)

    def left_join(self, other: KTable[K, V1], joiner: Callable[[V, V1 | None], T]) -> KTable[K, T]:
        """The same for each key of this table; ``joiner`` gets None if it is not in the other."""
        return self._join(other, joiner, needs_this=True, needs_other=False)

    def outer_join(self, other: KTable[K, V1], joiner: Callable[[V | None, V1 | None], T]) -> KTable[K, T]:
        """The same for each key of either table; ``joiner`` gets None for the table that does not have it."""
        return self._join(other, joiner, needs_this=False, needs_other=False)

    def _join(
        self, other: KTable[K, Any], joiner: Callable[[Any, Any], T], *, needs_this: bool, needs_other: bool
    ) -> KTable[K, T]:
        ensure_kind("what a table is joined with", other, KTable)
        ensure_callable("a joiner", joiner)
        sources = self._ensure_joinable_with(other)
        name, supplier = add_table_join(
            self._builder,
            (self.name, self.supplier),
            (other.name, other.supplier),
            joiner,
            needs_this=needs_this,
            needs_other=needs_other,
        )
        return KTable(self._builder, name, sources, supplier)


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
        return self.aggregate(_zero, _plus_one, lambda _key, _value, total: total - 1, Serdes.long(), store)

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


# ── sources ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def source_stream(
    builder: NamedTopologyBuilder,
    topics: Iterable[str],
    pattern: str | re.Pattern[str] | None,
    key_serde: Serde[K] | None,
    value_serde: Serde[V] | None,
    offset_reset: AutoOffsetReset | None,
) -> KStream[K, V]:
    """The records of topics as a stream."""
    name = add_stream_source(builder, topics, pattern, key_serde, value_serde, offset_reset)
    return KStream(builder, name, {name})


def source_table(
    builder: NamedTopologyBuilder,
    topic: str,
    store: str,
    key_serde: Serde[K] | None,
    value_serde: Serde[V] | None,
    offset_reset: AutoOffsetReset | None,
) -> KTable[K, V]:
    """A topic as a table. The topic is the store's changelog, too."""
    source, name, supplier = add_table_source(builder, topic, store, key_serde, value_serde, offset_reset)
    return KTable(builder, name, {source}, supplier)


def merged(builder: NamedTopologyBuilder, streams: Iterable[KStream[K, V]]) -> KStream[K, V]:
    """All records of these streams. Raises ValueError if there are none."""
    parents = list(streams)
    if not parents:
        raise ValueError("there are no streams to merge")
    name = builder.new_name("KSTREAM-MERGE-")
    builder.add_processor(name, KStreamPassThrough, *(stream.name for stream in parents))
    sources = frozenset[str]().union(*(stream.source_nodes for stream in parents))
    return KStream(builder, name, sources, any(stream._repartition_required for stream in parents))


def _ensure_no_key_mapper(key_mapper: object) -> None:
    if key_mapper is not None:
        raise TypeError("a key_mapper is only for global tables")


def _new_value(change: Any) -> Any:
    return change.new_value


def _zero() -> int:
    return 0


def _plus(_key: Any, total: int, other: int) -> int:
    return total + other


def _plus_one(_key: Any, _value: Any, total: int) -> int:
    return total + 1
