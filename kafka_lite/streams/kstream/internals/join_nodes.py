"""The nodes and stores that a join consists of. The processors' modules say what they do with a record.

Kafka 0.10.2: streams/.../kstream/internals/KStreamImpl.java (KStreamImplJoin), KTableImpl.java (doJoin) · book 9.2.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.kstream.internals.kstream_kstream_join import (
    KStreamJoinWindow,
    KStreamKStreamJoin,
    ensure_kept_long_enough,
)
from kafka_lite.streams.kstream.internals.kstream_processors import KStreamPassThrough
from kafka_lite.streams.kstream.internals.ktable_processors import KTableProcessorSupplier
from kafka_lite.streams.kstream.internals.named_topology_builder import NamedTopologyBuilder
from kafka_lite.streams.kstream.internals.table_joins import (
    KStreamKTableJoin,
    KTableKTableJoin,
    KTableKTableJoinMerger,
)
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.processor.state_store import StateStoreSupplier
from kafka_lite.streams.state.stores import Stores

Joiner = Callable[[Any, Any], Any]

JoinSerdes = tuple[Serde[Any] | None, Serde[Any] | None, Serde[Any] | None]
"""Serdes of the keys, of this stream's values, and of the other one's. None means the application's."""


def add_stream_join(
    builder: NamedTopologyBuilder,
    this: str,
    other: str,
    joiner: Joiner,
    windows: JoinWindows,
    serdes: JoinSerdes,
    *,
    left: bool,
    right: bool,
) -> str:
    """Join the streams at the nodes ``this`` and ``other``. Returns the name of the node that sends the results.

    Each stream has a store, which the records of the other one search::

        this  ── window ── join this ──┐
                   │ ╲  ╱              merge
        other ── window ── join other ─┘

    With ``left``, each record of this stream has a result; with ``right``, each of the other. Raises
    TopologyBuilderError if ``windows`` keeps records for less than its size.
    """
    key_serde, value_serde, other_value_serde = serdes
    window_this, window_other = builder.new_name("KSTREAM-WINDOWED-"), builder.new_name("KSTREAM-WINDOWED-")
    join_this = builder.new_name("KSTREAM-OUTERTHIS-" if right else "KSTREAM-JOINTHIS-")
    join_other = builder.new_name("KSTREAM-OUTEROTHER-" if left else "KSTREAM-JOINOTHER-")
    name = builder.new_name("KSTREAM-MERGE-")
    store_this, store_other = f"{join_this}-store", f"{join_other}-store"
    before, after = windows.before_ms, windows.after_ms
    ensure_kept_long_enough(store_this, windows)
    builder.add_processor(window_this, lambda: KStreamJoinWindow(store_this), this)
    builder.add_processor(window_other, lambda: KStreamJoinWindow(store_other), other)
    builder.add_processor(join_this, lambda: KStreamKStreamJoin(store_other, before, after, joiner, left), window_this)
    builder.add_processor(
        join_other,
        lambda: KStreamKStreamJoin(store_this, after, before, _swapped(joiner), right),
        window_other,
    )
    builder.add_processor(name, KStreamPassThrough, join_this, join_other)
    builder.add_state_store(_join_store(store_this, windows, key_serde, value_serde), window_this, join_other)
    builder.add_state_store(_join_store(store_other, windows, key_serde, other_value_serde), window_other, join_this)
    return name


def add_stream_table_join(
    builder: NamedTopologyBuilder,
    stream: str,
    table: str,
    supplier: KTableProcessorSupplier,
    joiner: Joiner,
    *,
    left: bool,
) -> str:
    """Join the stream at a node with a table, whose supplier looks values up. Returns the name of the join's node."""
    name = builder.new_name("KSTREAM-LEFTJOIN-" if left else "KSTREAM-JOIN-")
    builder.add_processor(name, lambda: KStreamKTableJoin(supplier, joiner, left), stream)
    builder.connect_processor_and_state_stores(name, *supplier.store_names)
    builder.connect_processors(stream, table)
    return name


def add_table_join(
    builder: NamedTopologyBuilder,
    this: tuple[str, KTableProcessorSupplier],
    other: tuple[str, KTableProcessorSupplier],
    joiner: Joiner,
    *,
    needs_this: bool,
    needs_other: bool,
) -> tuple[str, KTableKTableJoinMerger]:
    """Join two tables, each given as its node and its supplier. Returns node and supplier of the joined table."""
    this_table, supplier = this
    other_table, other_supplier = other
    if not needs_other:
        supplier.enable_sending_old_values()
    if not needs_this:
        other_supplier.enable_sending_old_values()
    join_this = KTableKTableJoin(supplier, other_supplier, joiner, needs_this=needs_this, needs_other=needs_other)
    join_other = KTableKTableJoin(
        other_supplier, supplier, _swapped(joiner), needs_this=needs_other, needs_other=needs_this
    )
    merger = KTableKTableJoinMerger(join_this, join_other)
    this_name, other_name = builder.new_name("KTABLE-JOINTHIS-"), builder.new_name("KTABLE-JOINOTHER-")
    name = builder.new_name("KTABLE-MERGE-")
    builder.add_processor(this_name, join_this, this_table)
    builder.add_processor(other_name, join_other, other_table)
    builder.add_processor(name, merger, this_name, other_name)
    builder.connect_processor_and_state_stores(this_name, *other_supplier.store_names)
    builder.connect_processor_and_state_stores(other_name, *supplier.store_names)
    return name, merger


def _swapped(joiner: Joiner) -> Joiner:
    return lambda value, of_this: joiner(of_this, value)


def _join_store(
    name: str, windows: JoinWindows, key_serde: Serde[Any] | None, value_serde: Serde[Any] | None
) -> StateStoreSupplier[Any]:
    return Stores.window(
        name,
        windows.maintain_ms,
        key_serde,
        value_serde,
        num_segments=windows.num_segments,
        retain_duplicates=True,
    )
