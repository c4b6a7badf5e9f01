"""Declares state stores.

Kafka 0.10.2: streams/.../state/Stores.java · book 9.1.4
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypedDict, TypeVar, Unpack

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.state.store_suppliers import (
    KeyValueStoreSupplier,
    SegmentedSessionStoreSupplier,
    SegmentedWindowStoreSupplier,
)

K = TypeVar("K")
V = TypeVar("V")


class StoreOptions(TypedDict, total=False):
    """The options of every store."""

    logging_enabled: bool
    """Whether changes go to a changelog topic: by default, yes. Without it, the content is lost when the task moves,
    and that of a store in memory when the application restarts."""
    log_config: Mapping[str, str] | None
    """Configuration of the changelog topic."""
    caching_enabled: bool
    """Whether several changes of a key become one, in the changelog and for the processors after a table: by default,
    no."""


class WindowStoreOptions(StoreOptions, total=False):
    """The options of every store, and those of window stores in addition."""

    num_segments: int
    """Entries expire one segment at a time: more segments drop them sooner. By default 3, at least 2."""
    retain_duplicates: bool
    """Whether all values of a key and time are kept instead of the last one: by default, no."""


class Stores:
    """The kinds of stores: what they hold, and where.

    ==============  ===================================================================================================
    ``in_memory``   in memory. After a restart, all of it comes from the changelog
    ``lru_map``     in memory, too, but only the entries that were used last
    ``persistent``  on disk, in RocksDB. After a restart, only what the checkpoint does not cover comes from there.
                    It needs the package: ``pip install 'kafka-lite[streams]'``
    neither         as ``default.dsl.store`` says. The stores of the DSL are of this kind
    ==============  ===================================================================================================

    Serdes that are not given are the application's defaults. All methods raise ValueError for options that contradict
    each other.
    """

    @staticmethod
    def key_value(
        name: str,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        **options: Unpack[StoreOptions],
    ) -> KeyValueStoreSupplier[K, V]:
        """A key-value store."""
        return _key_value(None, name, key_serde, value_serde, options)

    @staticmethod
    def in_memory_key_value(
        name: str,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        **options: Unpack[StoreOptions],
    ) -> KeyValueStoreSupplier[K, V]:
        """A key-value store in memory."""
        return _key_value(False, name, key_serde, value_serde, options)

    @staticmethod
    def lru_map(
        name: str,
        max_entries: int,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        **options: Unpack[StoreOptions],
    ) -> KeyValueStoreSupplier[K, V]:
        """A key-value store in memory with at most ``max_entries``: the one used least recently makes room.

        (0.10.2: ``inMemory().maxEntries(n)``. The name is Kafka 1.0's.)
        """
        if max_entries < 1:
            raise ValueError(f"store {name}: max_entries must be at least 1, not {max_entries}")
        return replace(_key_value(False, name, key_serde, value_serde, options), max_entries=max_entries)

    @staticmethod
    def persistent_key_value(
        name: str,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        **options: Unpack[StoreOptions],
    ) -> KeyValueStoreSupplier[K, V]:
        """A key-value store on disk."""
        return _key_value(True, name, key_serde, value_serde, options)

    @staticmethod
    def window(
        name: str,
        retention_ms: int,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        **options: Unpack[WindowStoreOptions],
    ) -> SegmentedWindowStoreSupplier[K, V]:
        """A window store that keeps its entries for ``retention_ms``, and somewhat longer."""
        return _window(None, name, retention_ms, key_serde, value_serde, options)

    @staticmethod
    def in_memory_window(
        name: str,
        retention_ms: int,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        **options: Unpack[WindowStoreOptions],
    ) -> SegmentedWindowStoreSupplier[K, V]:
        """A window store in memory."""
        return _window(False, name, retention_ms, key_serde, value_serde, options)

    @staticmethod
    def persistent_window(
        name: str,
        retention_ms: int,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        **options: Unpack[WindowStoreOptions],
    ) -> SegmentedWindowStoreSupplier[K, V]:
        """A window store on disk."""
        return _window(True, name, retention_ms, key_serde, value_serde, options)

    @staticmethod
    def session(
        name: str,
        retention_ms: int,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        **options: Unpack[StoreOptions],
    ) -> SegmentedSessionStoreSupplier[K, V]:
        """A session store that keeps a session for ``retention_ms`` after its end, and somewhat longer."""
        return _session(None, name, retention_ms, key_serde, value_serde, options)

    @staticmethod
    def in_memory_session(
        name: str,
        retention_ms: int,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        **options: Unpack[StoreOptions],
    ) -> SegmentedSessionStoreSupplier[K, V]:
        """A session store in memory."""
        return _session(False, name, retention_ms, key_serde, value_serde, options)

    @staticmethod
    def persistent_session(
        name: str,
        retention_ms: int,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        **options: Unpack[StoreOptions],
    ) -> SegmentedSessionStoreSupplier[K, V]:
        """A session store on disk."""
        return _session(True, name, retention_ms, key_serde, value_serde, options)


class _Layers(TypedDict):
    """All :class:`StoreOptions`, with none left out."""

    logging_enabled: bool
    log_config: Mapping[str, str]
    caching_enabled: bool


def _key_value(
    persistent: bool | None,
    name: str,
    key_serde: Serde[K] | None,
    value_serde: Serde[V] | None,
    options: StoreOptions,
) -> KeyValueStoreSupplier[K, V]:
    layers = _layers(name, options)
    return KeyValueStoreSupplier(
        name=name, key_serde=key_serde, value_serde=value_serde, persistent=persistent, **layers
    )


def _window(
    persistent: bool | None,
    name: str,
    retention_ms: int,
    key_serde: Serde[K] | None,
    value_serde: Serde[V] | None,
    options: WindowStoreOptions,
) -> SegmentedWindowStoreSupplier[K, V]:
    num_segments, retain_duplicates = options.get("num_segments", 3), options.get("retain_duplicates", False)
    layers = _layers(name, options, WindowStoreOptions.__optional_keys__)
    if num_segments < 2:
        raise ValueError(f"store {name}: the number of segments must be at least 2, not {num_segments}")
    if layers["caching_enabled"] and retain_duplicates:
        raise ValueError(f"store {name}: a store that keeps duplicates has nothing to cache")
    return SegmentedWindowStoreSupplier(
        name=name,
        retention_ms=retention_ms,
        num_segments=num_segments,
        retain_duplicates=retain_duplicates,
        key_serde=key_serde,
        value_serde=value_serde,
        persistent=persistent,
        **layers,
    )


def _session(
    persistent: bool | None,
    name: str,
    retention_ms: int,
    key_serde: Serde[K] | None,
    value_serde: Serde[V] | None,
    options: StoreOptions,
) -> SegmentedSessionStoreSupplier[K, V]:
    layers = _layers(name, options)
    return SegmentedSessionStoreSupplier(
        name=name,
        retention_ms=retention_ms,
        key_serde=key_serde,
        value_serde=value_serde,
        persistent=persistent,
        **layers,
    )


def _layers(name: str, options: StoreOptions, known: frozenset[str] = StoreOptions.__optional_keys__) -> _Layers:
    """Whether there is a changelog, its configuration, and whether there is a cache. Raises TypeError, ValueError."""
    if unknown := options.keys() - known:
        raise TypeError(f"store {name}: unknown options: {', '.join(sorted(unknown))}")
    logged, log_config = options.get("logging_enabled", True), options.get("log_config")
    if log_config and not logged:
        raise ValueError(f"store {name}: log_config configures a changelog, but logging is disabled")
    return {
        "logging_enabled": logged,
        "log_config": dict(log_config or {}),
        "caching_enabled": options.get("caching_enabled", False),
    }
