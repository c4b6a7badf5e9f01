"""Makes the stores that :class:`Stores` declares, layer around layer.

Kafka 0.10.2: streams/.../state/internals/InMemoryKeyValueStoreSupplier.java, RocksDBKeyValueStoreSupplier.java,
RocksDBWindowStoreSupplier.java, RocksDBSessionStoreSupplier.java · book 9.1.4

``persistent`` says where the entries are: on disk if it is true, in memory if it is false. The DSL leaves it open with
None, and ``default.dsl.store`` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.processor.state_store import StateStoreSupplier, WindowStoreSupplier
from kafka_lite.streams.state.caching.caching_key_value_store import CachingKeyValueStore
from kafka_lite.streams.state.caching.caching_segmented_bytes_store import CachingSessionStore, CachingWindowStore
from kafka_lite.streams.state.change_logging_key_value_bytes_store import ChangeLoggingKeyValueBytesStore
from kafka_lite.streams.state.in_memory_key_value_store import InMemoryKeyValueStore
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.metered_key_value_store import MeteredKeyValueStore
from kafka_lite.streams.state.rocksdb.rocksdb_segmented_bytes_store import RocksDBSegmentedBytesStore
from kafka_lite.streams.state.rocksdb.rocksdb_store import RocksDBStore
from kafka_lite.streams.state.serializing_key_value_store import SerializingKeyValueStore
from kafka_lite.streams.state.session_store import SessionStore
from kafka_lite.streams.state.window_store import WindowStore
from kafka_lite.streams.state.windowed.key_schema import KeySchema, SessionKeySchema, WindowStoreKeySchema
from kafka_lite.streams.state.windowed.metered_segmented_bytes_store import MeteredSegmentedBytesStore
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
class KeyValueStoreSupplier(StateStoreSupplier[KeyValueStore[K, V]], Generic[K, V]):
    """Makes key-value stores: serdes outside, cache and changelog between, the entries inside."""

    name: str
    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    logging_enabled: bool = True
    log_config: Mapping[str, str] = field(default_factory=dict)
    caching_enabled: bool = False
    persistent: bool | None = False

    def of_dsl(self, persistent: bool) -> Self:
        """Fill in what the DSL leaves open."""
        return replace(self, persistent=persistent) if self.persistent is None else self

    def get(self) -> KeyValueStore[K, V]:
        """A new store."""
        store: KeyValueStore[bytes, bytes]
        store = RocksDBStore(self.name) if self.persistent else InMemoryKeyValueStore(self.name)
        if self.logging_enabled:
            store = ChangeLoggingKeyValueBytesStore(store)
        store = MeteredKeyValueStore(store, _scope(self.persistent, "state"))
        if self.caching_enabled:
            store = CachingKeyValueStore(store)
        return SerializingKeyValueStore(store, self.key_serde, self.value_serde)


@dataclass(frozen=True)
class SegmentedWindowStoreSupplier(WindowStoreSupplier[WindowStore[K, V]], Generic[K, V]):
    """Makes window stores."""

    name: str
    retention_ms: int
    num_segments: int
    retain_duplicates: bool
    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    logging_enabled: bool = True
    log_config: Mapping[str, str] = field(default_factory=dict)
    caching_enabled: bool = False
    persistent: bool | None = False

    def of_dsl(self, persistent: bool) -> Self:
        """Fill in what the DSL leaves open."""
        return replace(self, persistent=persistent) if self.persistent is None else self

    def get(self) -> WindowStore[K, V]:
        """A new store."""
        schema = WindowStoreKeySchema()
        store = _segments(self, self.persistent, self.num_segments, schema, "window")
        if self.caching_enabled:
            store = CachingWindowStore(store, schema)
        return SerializingWindowStore(store, self.key_serde, self.value_serde, self.retain_duplicates)


@dataclass(frozen=True)
class SegmentedSessionStoreSupplier(WindowStoreSupplier[SessionStore[K, V]], Generic[K, V]):
    """Makes session stores."""

    name: str
    retention_ms: int
    key_serde: Serde[K] | None = None
    value_serde: Serde[V] | None = None
    logging_enabled: bool = True
    log_config: Mapping[str, str] = field(default_factory=dict)
    caching_enabled: bool = False
    persistent: bool | None = False

    def of_dsl(self, persistent: bool) -> Self:
        """Fill in what the DSL leaves open."""
        return replace(self, persistent=persistent) if self.persistent is None else self

    def get(self) -> SessionStore[K, V]:
        """A new store."""
        schema = SessionKeySchema()
        store = _segments(self, self.persistent, _SESSION_SEGMENTS, schema, "session-store")
        if self.caching_enabled:
            store = CachingSessionStore(store, schema)
        return SerializingSessionStore(store, self.key_serde, self.value_serde)


def _segments(
    supplier: WindowStoreSupplier[Any], persistent: bool | None, num_segments: int, schema: KeySchema, kind: str
) -> SegmentedBytesStore:
    """The inner stores: the segments, around them the changelog, and what measures both."""
    make = RocksDBSegmentedBytesStore if persistent else InMemorySegmentedBytesStore
    store: SegmentedBytesStore = make(supplier.name, supplier.retention_ms, num_segments, schema)
    if supplier.logging_enabled:
        store = ChangeLoggingSegmentedBytesStore(store)
    return MeteredSegmentedBytesStore(store, _scope(persistent, kind))


def _scope(persistent: bool | None, kind: str) -> str:
    """The part of the metrics' group that says which stores they are of."""
    return f"{'rocksdb' if persistent else 'in-memory'}-{kind}"
