"""The parts of an aggregation of a grouped stream, for each kind of window: the processor, and its store.

Kafka 0.10.2: streams/.../kstream/internals/KGroupedStreamImpl.java, AbstractStream.java (windowedStore) · book 9.2.4
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.kstream.dsl_arguments import ensure_callable, ensure_kind, ensure_serde
from kafka_lite.streams.kstream.internals.kstream_aggregate import KStreamAggregate, KStreamReduce
from kafka_lite.streams.kstream.internals.kstream_session_window_aggregate import KStreamSessionWindowAggregate
from kafka_lite.streams.kstream.internals.kstream_window_aggregate import KStreamWindowAggregate, KStreamWindowReduce
from kafka_lite.streams.kstream.internals.ktable_processors import KTableProcessorSupplier
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.windows import Windows
from kafka_lite.streams.processor.state_store import StateStoreSupplier
from kafka_lite.streams.state.stores import Stores

AnyWindows = Windows | SessionWindows
AnyStore = str | StateStoreSupplier[Any]
"""The name of a store with a cache in front of it, or a store of your own."""


def name_of(store: AnyStore) -> str:
    """The name of a store. Raises TypeError for anything else."""
    ensure_kind("a store", store, str, StateStoreSupplier)
    return store if isinstance(store, str) else store.name


def _ensure_windows(windows: AnyWindows | None) -> None:
    if windows is not None:
        ensure_kind("windows", windows, Windows, SessionWindows)


def aggregation(
    store: str,
    windows: AnyWindows | None,
    initializer: Callable[[], Any],
    aggregator: Callable[[Any, Any, Any], Any],
    merger: Callable[[Any, Any, Any], Any] | None,
) -> KTableProcessorSupplier:
    """An aggregation by key, or by key and window. Raises TypeError unless sessions, and only they, have a merger."""
    _ensure_windows(windows)
    ensure_callable("an initializer", initializer)
    ensure_callable("an aggregator", aggregator)
    if isinstance(windows, SessionWindows):
        if merger is None:
            raise TypeError(f"aggregation {store}: sessions need a merger, since a record may join two of them")
        return KStreamSessionWindowAggregate(store, windows, initializer, aggregator, merger)
    if merger is not None:
        raise TypeError(f"aggregation {store}: a merger is only for SessionWindows")
    if windows is None:
        return KStreamAggregate(store, initializer, aggregator)
    return KStreamWindowAggregate(store, windows, initializer, aggregator)


def reduction(store: str, windows: AnyWindows | None, reducer: Callable[[Any, Any], Any]) -> KTableProcessorSupplier:
    """A reduction by key, or by key and window. Raises TypeError."""
    _ensure_windows(windows)
    ensure_callable("a reducer", reducer)
    if isinstance(windows, SessionWindows):

        def combined(_key: Any, value: Any, aggregate: Any) -> Any:
            return value if aggregate is None else reducer(aggregate, value)

        def merged(key: Any, aggregate: Any, other: Any) -> Any:
            return combined(key, other, aggregate)

        return KStreamSessionWindowAggregate(store, windows, lambda: None, combined, merged)
    return KStreamReduce(store, reducer) if windows is None else KStreamWindowReduce(store, windows, reducer)


def aggregate_store(
    store: AnyStore, windows: AnyWindows | None, key_serde: Serde[Any] | None, value_serde: Serde[Any] | None
) -> StateStoreSupplier[Any]:
    """The store of an aggregation: that of the caller, or one with these serdes."""
    if not isinstance(store, str):
        return store
    ensure_serde(key_serde)
    ensure_serde(value_serde)
    if windows is None:
        return Stores.key_value(store, key_serde, value_serde, caching_enabled=True)
    if isinstance(windows, SessionWindows):
        return Stores.session(store, windows.maintain_ms, key_serde, value_serde, caching_enabled=True)
    segments = windows.num_segments
    return Stores.window(
        store, windows.maintain_ms, key_serde, value_serde, num_segments=segments, caching_enabled=True
    )
