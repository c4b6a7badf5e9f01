"""The caches of all stores of a thread, with a limit for their bytes.

Kafka 0.10.2: streams/.../state/internals/ThreadCache.java · book 9.1.4
"""

from __future__ import annotations

from kafka_lite.streams.metrics.streams_metrics_impl import StreamsMetricsImpl
from kafka_lite.streams.record_cache.named_cache import DirtyEntryFlushListener, LRUCacheEntry, NamedCache
from kafka_lite.streams.record_cache.named_cache_metrics import MeasuredNamedCache, NamedCacheMetrics


class ThreadCache:
    """A share of ``cache.max.bytes.buffering`` for each stream thread, which its stores divide as they need it.

    A put into a full cache evicts entries of the same store. So a store that is written seldom keeps what it has. With
    0 bytes every put is flushed at once.
    """

    def __init__(
        self, name: str = "", max_cache_size_bytes: int = 0, metrics: StreamsMetricsImpl | None = None
    ) -> None:
        """Without ``metrics``, nothing is measured."""
        self.name = name
        self._max_cache_size_bytes = max_cache_size_bytes
        self._metrics = metrics
        self._caches: dict[str, NamedCache] = {}
        self._cache_metrics: dict[str, NamedCacheMetrics] = {}
        self.puts = 0
        self.gets = 0
        self.evicts = 0
        self.flushes = 0

    def named(self, namespace: str) -> NamedCache:
        """The cache of a store, created if necessary."""
        cache = self._caches.get(namespace)
        if cache is None:
            cache = self._caches[namespace] = self._new_cache(namespace)
        return cache

    def _new_cache(self, namespace: str) -> NamedCache:
        if self._metrics is None:
            return NamedCache(namespace)
        metrics = self._cache_metrics[namespace] = NamedCacheMetrics(self._metrics, namespace)
        return MeasuredNamedCache(namespace, metrics) if metrics.hit_ratio.should_record() else NamedCache(namespace)

    def set_dirty_entry_flush_listener(self, namespace: str, listener: DirtyEntryFlushListener) -> None:
        """Set what flushes the dirty entries of a store."""
        self.named(namespace).set_listener(listener)

    @property
    def size_bytes(self) -> int:
        """The size of all entries."""
        return sum(cache.size_bytes for cache in self._caches.values())

    def get(self, namespace: str, key: bytes) -> LRUCacheEntry | None:
        """The entry of a key of a store, or None."""
        self.gets += 1
        return self.named(namespace).get(key)

    def put(self, namespace: str, key: bytes, entry: LRUCacheEntry) -> None:
        """Set the entry of a key of a store. Evicts its entries, also this one, while all stores have too many bytes.

        Increments ``puts`` and ``evicts``.
        """
        self.puts += 1
        cache = self.named(namespace)
        cache.put(key, entry)
        while len(cache) and self.size_bytes > self._max_cache_size_bytes:
            cache.evict()
            self.evicts += 1

    def range(self, namespace: str, first: bytes, last: bytes) -> list[tuple[bytes, LRUCacheEntry]]:
        """The entries of a store from ``first`` to ``last``, both included, in the order of their keys."""
        return self.named(namespace).range(first, last)

    def all(self, namespace: str) -> list[tuple[bytes, LRUCacheEntry]]:
        """All entries of a store, in the order of their keys."""
        return self.named(namespace).all()

    def flush(self, namespace: str) -> None:
        """Flush the dirty entries of a store."""
        self.flushes += 1
        self.named(namespace).flush()

    def close(self, namespace: str) -> None:
        """Drop the cache of a store."""
        cache = self._caches.pop(namespace, None)
        if cache is not None:
            cache.close()
        metrics = self._cache_metrics.pop(namespace, None)
        if metrics is not None:
            metrics.remove_all_sensors()
