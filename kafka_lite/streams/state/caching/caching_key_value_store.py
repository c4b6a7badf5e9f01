"""A key-value store with a cache in front of it.

Kafka 0.10.2: streams/.../state/internals/CachingKeyValueStore.java,
MergedSortedCacheKeyValueStoreIterator.java · book 9.1.4
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.record_cache.named_cache import DirtyEntry, LRUCacheEntry
from kafka_lite.streams.state.cached_state_store import (
    CachedStateStore,
    CacheFlushListener,
    merged,
    record_context_set,
)
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.wrapped_state_store import WrappedStateStore


class CachingKeyValueStore(
    WrappedStateStore[KeyValueStore[bytes, bytes]], KeyValueStore[bytes, bytes], CachedStateStore
):
    """Puts end in the cache. A flush puts the last value of each key into the inner store, and so into the changelog,
    and passes it on to the listener::

        put a 1 ─▶ ┌─────────┐
        put b 1 ─▶ │  a  2*  │ ── flush ─▶ inner store · changelog · listener (a: 2<-0), (b: 1<-None)
        put a 2 ─▶ │  b  1*  │
                   └─────────┘

    The old value is the inner store's. (0.10.2 calls the listener before it changes the inner store: so a join that
    looks the key up may find the old value, and leave it in the cache.)
    """

    def __init__(self, inner: KeyValueStore[bytes, bytes]) -> None:
        super().__init__(inner)
        self._listener: CacheFlushListener | None = None
        self._cache_name = ""
        self._thread_id = 0
        self._is_closed = True
        """The same as ``not self.is_open``, without asking all the stores inside for every record."""

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the inner store, which restores itself. The calling thread is the one that uses the store."""
        super().init(context, root)
        self._is_closed = False
        self._context = context
        self._cache = context.cache
        self._cache_name = f"{context.task_id}-{self.name}"
        self._thread_id = threading.get_ident()
        self._cache.set_dirty_entry_flush_listener(self._cache_name, self._flush_entries)

    def set_flush_listener(self, listener: CacheFlushListener) -> bool:
        """Call ``listener`` with bytes."""
        self._listener = listener
        return True

    def _flush_entries(self, entries: Sequence[DirtyEntry]) -> None:
        """Put each change into the inner store, then call the listener, if there is one, with key, new and old value.

        Everything that follows from a change has the time and position of its record, see ``record_context_set``.
        """
        for key, new, record_context in entries:
            with record_context_set(self._context, record_context):
                old = self._inner.get(key) if self._listener is not None else None
                self._inner.put(key, new)
                if self._listener is not None:
                    self._listener(key, new, old)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, from the cache if it is there. Otherwise the store's thread puts it there, as clean.

        Other threads only read: a put might evict, and so flush, in a thread that must not process anything.
        """
        self._ensure_open()
        entry = self._cache.get(self._cache_name, key)
        if entry is not None:
            return entry.value
        value = self._inner.get(key)
        if value is not None and threading.get_ident() == self._thread_id:  # others must not evict
            self._cache.put(self._cache_name, key, LRUCacheEntry(value))
        return value

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a key, in the cache."""
        self._ensure_open()
        record_context = self._context.record_context
        assert record_context is not None, "a store is written while a record is processed"
        self._cache.put(self._cache_name, key, LRUCacheEntry(value, record_context, is_dirty=True))

    def put_if_absent(self, key: bytes, value: bytes | None) -> bytes | None:
        """Set the value of a key that has none. Returns the value that it had."""
        original = self.get(key)
        if original is None:
            self.put(key, value)
        return original

    def delete(self, key: bytes) -> bytes | None:
        """Delete a key. Returns the value that it had."""
        original = self.get(key)
        self.put(key, None)
        return original

    def range(self, first: bytes, last: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The entries from ``first`` to ``last``, both included."""
        self._ensure_open()
        return merged(self._inner.range(first, last), self._cache.range(self._cache_name, first, last))

    def all(self) -> Iterator[tuple[bytes, bytes]]:
        """All entries."""
        self._ensure_open()
        return merged(self._inner.all(), self._cache.all(self._cache_name))

    def approximate_num_entries(self) -> int:
        """The inner store's number."""
        return self._inner.approximate_num_entries()

    def flush(self) -> None:
        """Flush the cache, then the inner store."""
        self._cache.flush(self._cache_name)
        super().flush()

    def close(self) -> None:
        """Drop the cache, and close the inner store. Changes that are not flushed belong to records that
        are not committed either."""
        self._is_closed = True
        if self._cache_name:
            self._cache.close(self._cache_name)
        super().close()

    def _ensure_open(self) -> None:
        if self._is_closed:
            raise InvalidStateStoreError(f"Store {self.name} is currently closed")
