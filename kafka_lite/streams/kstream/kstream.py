"""A stream of records, as applications see it.

What an operator adds to the topology is in ``internals``: the ways out in ``writable_stream``, sources and repartition
topics in ``topic_nodes``, joins in ``join_nodes``, and what happens to a record in the processors' modules.

Kafka 0.10.2: streams/.../kstream/KStream.java, internals/KStreamImpl.java · book 9.2.2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.kstream.dsl_arguments import ensure_callable, ensure_kind
from kafka_lite.streams.kstream.global_ktable import GlobalKTable
from kafka_lite.streams.kstream.internals.join_nodes import JoinSerdes, add_stream_join, add_stream_table_join
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
from kafka_lite.streams.kstream.internals.named_topology_builder import NamedTopologyBuilder
from kafka_lite.streams.kstream.internals.topic_nodes import add_stream_source, repartitioned
from kafka_lite.streams.kstream.internals.writable_stream import WritableStream
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kgrouped_stream import KGroupedStream
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.transformer import Transformer, ValueTransformer
from kafka_lite.streams.processor.processor import ProcessorSupplier
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner
from kafka_lite.streams.processor.topology_builder import AutoOffsetReset

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
