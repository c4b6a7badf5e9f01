"""Makes the stores that :class:`Stores` declares, layer around layer.

Kafka 0.10.2: streams/.../state/internals/InMemoryKeyValueStoreSupplier.java, InMemoryLRUCacheStoreSupplier.java,
RocksDBKeyValueStoreSupplier.java, RocksDBWindowStoreSupplier.java, RocksDBSessionStoreSupplier.java · book 9.1.4

``persistent`` says where the entries are: on disk if it is true, in memory if it is false. The DSL leaves it open with
None, and ``default.dsl.store`` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, Self, TypeVar

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.processor.state_store import StateStore, StateStoreSupplier, WindowStoreSupplier
from kafka_lite.streams.state.caching.caching_key_value_store import CachingKeyValueStore
from kafka_lite.streams.state.caching.caching_segmented_bytes_store import (
    CachingSegmentedBytesStore,
    CachingSessionStore,
    CachingWindowStore,
)
from kafka_lite.streams.state.change_logging_key_value_bytes_store import ChangeLoggingKeyValueBytesStore
from kafka_lite.streams.state.in_memory_key_value_store import InMemoryKeyValueStore
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.memory_lru_cache import MemoryLRUCache
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

S_co = TypeVar("S_co", bound=StateStore, covariant=True)

_SESSION_SEGMENTS = 3


@dataclass(frozen=True, kw_only=True)
class LayeredStoreSupplier(StateStoreSupplier[S_co], Generic[S_co, K, V]):
    """The declaration of any store: serdes outside, cache and changelog between, the entries inside."""

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

    def _scope(self, kind: str) -> str:
        """The part of the metrics' group that says which stores they are of."""
        return f"{'rocksdb' if self.persistent else 'in-memory'}-{kind}"


@dataclass(frozen=True, kw_only=True)
class KeyValueStoreSupplier(LayeredStoreSupplier[KeyValueStore[K, V], K, V]):
    """Makes key-value stores."""

    max_entries: int | None = None
    """How many entries a store in memory keeps, those used last; None for all."""

    def without_cache(self) -> Self:
        """Leave the cache out. (That of a window store stays: what it sends has the time of the window.)"""
        return replace(self, caching_enabled=False) if self.caching_enabled else self

    def get(self) -> KeyValueStore[K, V]:
        """A new store."""
        store = self._innermost()
        if self.logging_enabled:
            store = ChangeLoggingKeyValueBytesStore(store)
        store = MeteredKeyValueStore(store, self._scope("state" if self.max_entries is None else "lru-state"))
        if self.caching_enabled:
            store = CachingKeyValueStore(store)
        return SerializingKeyValueStore(store, self.key_serde, self.value_serde)

    def _innermost(self) -> KeyValueStore[bytes, bytes]:
        """Where the entries are."""
        if self.max_entries is not None:
            return MemoryLRUCache(self.name, self.max_entries)
        return RocksDBStore(self.name) if self.persistent else InMemoryKeyValueStore(self.name)


@dataclass(frozen=True, kw_only=True)
class SegmentedStoreSupplier(LayeredStoreSupplier[S_co, K, V], WindowStoreSupplier[S_co]):
    """The common base of window and session stores: the layers that know only bytes."""

    retention_ms: int

    def _layers(
        self, num_segments: int, schema: KeySchema, kind: str, caching: type[CachingSegmentedBytesStore]
    ) -> SegmentedBytesStore:
        """The segments, around them the changelog, what measures both, and the cache."""
        make = RocksDBSegmentedBytesStore if self.persistent else InMemorySegmentedBytesStore
        store: SegmentedBytesStore = make(self.name, self.retention_ms, num_segments, schema)
        if self.logging_enabled:
            store = ChangeLoggingSegmentedBytesStore(store)
        store = MeteredSegmentedBytesStore(store, self._scope(kind))
        return caching(store, schema) if self.caching_enabled else store


@dataclass(frozen=True, kw_only=True)
class SegmentedWindowStoreSupplier(SegmentedStoreSupplier[WindowStore[K, V], K, V]):
    """Makes window stores."""

    num_segments: int
    retain_duplicates: bool

    def get(self) -> WindowStore[K, V]:
        """A new store."""
        layers = self._layers(self.num_segments, WindowStoreKeySchema(), "window", CachingWindowStore)
        return SerializingWindowStore(layers, self.key_serde, self.value_serde, self.retain_duplicates)


@dataclass(frozen=True, kw_only=True)
class SegmentedSessionStoreSupplier(SegmentedStoreSupplier[SessionStore[K, V], K, V]):
    """Makes session stores."""

    def get(self) -> SessionStore[K, V]:
        """A new store."""
        layers = self._layers(_SESSION_SEGMENTS, SessionKeySchema(), "session-store", CachingSessionStore)
        return SerializingSessionStore(layers, self.key_serde, self.value_serde)
