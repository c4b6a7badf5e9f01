"""A table, as applications see it.

Streams, tables and what they are grouped to make each other. At run time this is the lowest of their modules: the two
operators that return what is above import it when they are called.

Kafka 0.10.2: streams/.../kstream/KTable.java, internals/KTableImpl.java · book 9.2.2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.kstream.dsl_arguments import ensure_callable, ensure_kind
from kafka_lite.streams.kstream.internals.join_nodes import add_table_join
from kafka_lite.streams.kstream.internals.kstream_processors import KStreamForeach, KStreamMapValues
from kafka_lite.streams.kstream.internals.ktable_processors import (
    KTableFilter,
    KTableMapValues,
    KTableProcessorSupplier,
    KTableRepartitionMap,
)
from kafka_lite.streams.kstream.internals.named_topology_builder import NamedTopologyBuilder
from kafka_lite.streams.kstream.internals.topic_nodes import add_table_source
from kafka_lite.streams.kstream.internals.writable_stream import WritableStream
from kafka_lite.streams.processor.stream_partitioner import StreamPartitioner
from kafka_lite.streams.processor.topology_builder import AutoOffsetReset

if TYPE_CHECKING:
    from kafka_lite.streams.kstream.kgrouped_table import KGroupedTable
    from kafka_lite.streams.kstream.kstream import KStream

K = TypeVar("K")
V = TypeVar("V")
K1 = TypeVar("K1")
V1 = TypeVar("V1")
T = TypeVar("T")


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
        from kafka_lite.streams.kstream.kstream import KStream

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
        from kafka_lite.streams.kstream.kgrouped_table import KGroupedTable

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


def _new_value(change: Any) -> Any:
    return change.new_value
