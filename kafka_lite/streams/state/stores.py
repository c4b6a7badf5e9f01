"""Declares state stores.

Kafka 0.10.2: streams/.../state/Stores.java, internals/InMemoryKeyValueStoreSupplier.java,
internals/RocksDBWindowStoreSupplier.java, internals/RocksDBSessionStoreSupplier.java · book 9.1.4
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.processor.state_store import StateStoreSupplier, WindowStoreSupplier
from kafka_lite.streams.state.caching.caching_key_value_store import CachingKeyValueStore
from kafka_lite.streams.state.caching.caching_segmented_bytes_store import CachingSessionStore, CachingWindowStore
from kafka_lite.streams.state.change_logging_key_value_bytes_store import ChangeLoggingKeyValueBytesStore
from kafka_lite.streams.state.in_memory_key_value_store import InMemoryKeyValueStore
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.serializing_key_value_store import SerializingKeyValueStore
from kafka_lite.streams.state.session_store import SessionStore
from kafka_lite.streams.state.window_store import WindowStore
from kafka_lite.streams.state.windowed.key_schema import KeySchema, SessionKeySchema, WindowStoreKeySchema
from kafka_lite.streams.state.windowed.segmented_bytes_store import (
    ChangeLoggingSegmentedBytesStore,
    InMemorySegmentedBytesStore,
    SegmentedBytesStore,
)
from kafka_lite.streams.state.windowed.serializing_session_store import SerializingSessionStore
from kafka_lite.streams.state.windowed.serializing_window_store import SerializingWindowStore

K = TypeVar("K")
V = TypeVar("V")

_SESSION_SEGMENTS = 3


@dataclass(frozen=True)
class InMemoryKeyValueStoreSupplier(StateStoreSupplier[KeyValueStore[K, V]], Generic[K, V]):
    """Makes stores in memory: serdes outside, the changelog between, the entries inside."""

    name: str
    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    logging_enabled: bool = True
    log_config: Mapping[str, str] = field(default_factory=dict)
    caching_enabled: bool = False

    def get(self) -> KeyValueStore[K, V]:
        """A new store."""
        store: KeyValueStore[bytes, bytes] = InMemoryKeyValueStore(self.name)
        if self.logging_enabled:
            store = ChangeLoggingKeyValueBytesStore(store)
        if self.caching_enabled:
            store = CachingKeyValueStore(store)
        return SerializingKeyValueStore(store, self.key_serde, self.value_serde)


@dataclass(frozen=True)
class InMemoryWindowStoreSupplier(WindowStoreSupplier[WindowStore[K, V]], Generic[K, V]):
    """Makes window stores in memory."""

    name: str
    retention_ms: int
    num_segments: int
    retain_duplicates: bool
    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    logging_enabled: bool = True
    log_config: Mapping[str, str] = field(default_factory=dict)
    caching_enabled: bool = False

    def get(self) -> WindowStore[K, V]:
        """A new store."""
        schema = WindowStoreKeySchema()
        store = _segments(self, self.num_segments, schema)
        if self.caching_enabled:
            store = CachingWindowStore(store, schema)
        return SerializingWindowStore(store, self.key_serde, self.value_serde, self.retain_duplicates)


@dataclass(frozen=True)
class InMemorySessionStoreSupplier(WindowStoreSupplier[SessionStore[K, V]], Generic[K, V]):
    """Makes session stores in memory."""

    name: str
    retention_ms: int
    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    logging_enabled: bool = True
    log_config: Mapping[str, str] = field(default_factory=dict)
    caching_enabled: bool = False

    def get(self) -> SessionStore[K, V]:
        """A new store."""
        schema = SessionKeySchema()
        store = _segments(self, _SESSION_SEGMENTS, schema)
        if self.caching_enabled:
            store = CachingSessionStore(store, schema)
        return SerializingSessionStore(store, self.key_serde, self.value_serde)


def _segments(supplier: WindowStoreSupplier[Any], num_segments: int, schema: KeySchema) -> SegmentedBytesStore:
    """The inner stores: segments in memory, and around them the changelog."""
    store = InMemorySegmentedBytesStore(supplier.name, supplier.retention_ms, num_segments, schema)
    return ChangeLoggingSegmentedBytesStore(store) if supplier.logging_enabled else store


class Stores:
    """The kinds of stores."""

    @staticmethod
    def in_memory_key_value(
        name: str,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        *,
        logging_enabled: bool = True,
        log_config: Mapping[str, str] | None = None,
        caching_enabled: bool = False,
    ) -> InMemoryKeyValueStoreSupplier[K, V]:
        """A key-value store in memory, with the default serdes of the application unless others are given.

        Its changelog topic is created with ``log_config``, a topic configuration. Without logging, the content is lost
        when the task moves or the application restarts. With caching, several changes of a key become one, in the
        changelog and for the processors behind a table. Raises ValueError for a configuration without a changelog.
        """
        configs = _log_config(name, logging_enabled, log_config)
        return InMemoryKeyValueStoreSupplier(name, key_serde, value_serde, logging_enabled, configs, caching_enabled)

    @staticmethod
    def in_memory_window(
        name: str,
        retention_ms: int,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        *,
        num_segments: int = 3,
        retain_duplicates: bool = False,
        logging_enabled: bool = True,
        log_config: Mapping[str, str] | None = None,
        caching_enabled: bool = False,
    ) -> InMemoryWindowStoreSupplier[K, V]:
        """A window store in memory that keeps its entries for ``retention_ms``, and somewhat longer.

        They expire one segment at a time: more segments drop them sooner. ``retain_duplicates`` keeps all values of a
        key and time instead of the last one. The rest as for :meth:`in_memory_key_value`. Raises ValueError for
        fewer than two segments, and for caching with ``retain_duplicates``, too.
        """
        if num_segments < 2:
            raise ValueError(f"store {name}: the number of segments must be at least 2, not {num_segments}")
        if caching_enabled and retain_duplicates:
            raise ValueError(f"store {name}: a store that keeps duplicates has nothing to cache")
        configs = _log_config(name, logging_enabled, log_config)
        return InMemoryWindowStoreSupplier(
            name,
            retention_ms,
            num_segments,
            retain_duplicates,
            key_serde,
            value_serde,
            logging_enabled,
            configs,
            caching_enabled,
        )

    @staticmethod
    def in_memory_session(
        name: str,
        retention_ms: int,
        key_serde: Serde[K] | None = None,
        value_serde: Serde[V] | None = None,
        *,
        logging_enabled: bool = True,
        log_config: Mapping[str, str] | None = None,
        caching_enabled: bool = False,
    ) -> InMemorySessionStoreSupplier[K, V]:
        """A session store in memory that keeps a session for ``retention_ms`` after its end, and somewhat longer.

        The rest as for :meth:`in_memory_key_value`.
        """
        configs = _log_config(name, logging_enabled, log_config)
        return InMemorySessionStoreSupplier(
            name, retention_ms, key_serde, value_serde, logging_enabled, configs, caching_enabled
        )


def _log_config(name: str, logging_enabled: bool, log_config: Mapping[str, str] | None) -> dict[str, str]:
    if log_config and not logging_enabled:
        raise ValueError(f"store {name}: log_config configures a changelog, but logging is disabled")
    return dict(log_config or {})
