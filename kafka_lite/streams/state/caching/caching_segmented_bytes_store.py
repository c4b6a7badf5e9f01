"""Window and session stores with a cache in front of them.

Kafka 0.10.2: streams/.../state/internals/CachingWindowStore.java, CachingSessionStore.java,
MergedSortedCacheWindowStoreIterator.java, MergedSortedCacheSessionStoreIterator.java · book 9.2.4
"""

from __future__ import annotations

from abc import abstractmethod
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
from kafka_lite.streams.state.windowed.key_schema import KeySchema
from kafka_lite.streams.state.windowed.segmented_bytes_store import SegmentedBytesStore
from kafka_lite.streams.state.wrapped_state_store import WrappedStateStore


class CachingSegmentedBytesStore(WrappedStateStore[SegmentedBytesStore], SegmentedBytesStore, CachedStateStore):
    """Caches the binary keys of a schema.

    An entry has the position of its record, but the time of its binary key. So results are sent with the start of
    their window, or with the end of their session, as timestamp. The listener gets the bytes of binary keys.
    """

    def __init__(self, inner: SegmentedBytesStore, key_schema: KeySchema) -> None:
        super().__init__(inner)
        self._schema = key_schema
        self._listener: CacheFlushListener | None = None
        self._cache_name = ""

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the inner store, which restores itself."""
        super().init(context, root)
        self._context = context
        self._cache = context.cache
        self._cache_name = f"{context.task_id}-{self.name}"
        self._cache.set_dirty_entry_flush_listener(self._cache_name, self._flush_entries)

    def set_flush_listener(self, listener: CacheFlushListener) -> bool:
        """Call ``listener`` with bytes."""
        self._listener = listener
        return True

    def _flush_entries(self, entries: Sequence[DirtyEntry]) -> None:
        for entry in entries:
            self._flush_entry(entry)

    @abstractmethod
    def _flush_entry(self, entry: DirtyEntry) -> None:
        """Put a change into the inner store, and pass it on."""

    def _old_value(self, key: bytes) -> bytes | None:
        """The inner store's value, if a later processor needs it."""
        return self._inner.get(key) if self._listener is not None else None

    def _pass_on(self, entry: DirtyEntry, old: bytes | None) -> None:
        if self._listener is not None:
            self._listener(entry.key, entry.new_value, old)

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a binary key, in the cache."""
        self._ensure_open()
        record_context = self._context.record_context
        assert record_context is not None, "a store is written while a record is processed"
        record_context = record_context._replace(timestamp=self._schema.segment_timestamp(key))
        self._cache.put(self._cache_name, key, LRUCacheEntry(value, record_context, is_dirty=True))

    def get(self, key: bytes) -> bytes | None:
        """The value of a binary key, or None."""
        self._ensure_open()
        entry = self._cache.get(self._cache_name, key)
        return entry.value if entry is not None else self._inner.get(key)

    def fetch(self, key: bytes, time_from: int, time_to: int) -> Iterator[tuple[bytes, bytes]]:
        """The entries of a record's key in a range of time."""
        self._ensure_open()
        return merged(self._inner.fetch(key, time_from, time_to), self._cached(key, time_from, time_to))

    def _cached(self, key: bytes, time_from: int, time_to: int) -> list[tuple[bytes, LRUCacheEntry]]:
        """Suffixes and entries. Between the binary keys of a key there may be those of longer keys."""
        schema, first = self._schema, max(0, time_from)
        if time_to < first:
            return []
        lower, upper = schema.bounds(first, time_to)
        size, start = len(key) + schema.suffix_size, len(key)
        return [
            (suffix, entry)
            for binary, entry in self._cache.range(self._cache_name, key + lower, key + upper)
            if len(binary) == size
            and binary.startswith(key)
            and lower <= (suffix := binary[start:]) < upper
            and schema.matches(suffix, time_to)
        ]

    def flush(self) -> None:
        """Flush the cache, then the inner store."""
        self._cache.flush(self._cache_name)
        super().flush()

    def close(self) -> None:
        """Drop the cache, and close the inner store. Changes that are not flushed belong to records that
        are not committed either."""
        if self._cache_name:
            self._cache.close(self._cache_name)
        super().close()

    def _ensure_open(self) -> None:
        if not self.is_open:
            raise InvalidStateStoreError(f"Store {self.name} is currently closed")


class CachingWindowStore(CachingSegmentedBytesStore):
    """Caches windows. Only what is passed on has the start of the window as its time; the changelog does not."""

    def _flush_entry(self, entry: DirtyEntry) -> None:
        old = self._old_value(entry.key)
        self._inner.put(entry.key, entry.new_value)
        with record_context_set(self._context, entry.record_context):
            self._pass_on(entry, old)


class CachingSessionStore(CachingSegmentedBytesStore):
    """Caches sessions. The changelog, too, has the end of the session as its time.

    A session that was put and removed again before a flush leaves no trace but its deletion in the changelog. (0.10.2
    never finds the old value of a session, and so does not pass deletions on at all. That was a bug.)
    """

    def _flush_entry(self, entry: DirtyEntry) -> None:
        with record_context_set(self._context, entry.record_context):
            old = self._old_value(entry.key)
            self._inner.put(entry.key, entry.new_value)
            if not (entry.new_value is None and old is None):
                self._pass_on(entry, old)
