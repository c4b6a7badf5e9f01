"""A store that may have a cache.

Kafka 0.10.2: streams/.../state/internals/CachedStateStore.java, kstream/internals/CacheFlushListener.java · book 9.1.4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kafka_lite.streams.processor.state_store import StateStoreContext
from kafka_lite.streams.record_cache.named_cache import LRUCacheEntry
from kafka_lite.streams.record_cache.processor_record_context import ProcessorRecordContext

CacheFlushListener = Callable[[Any, Any, Any], None]
"""Called with a key, the new value and the old one, when a change leaves the cache. Either value may be None."""


class CachedStateStore(ABC):
    """A store that may have a cache, as the typed stores around it see it."""

    @abstractmethod
    def set_flush_listener(self, listener: CacheFlushListener) -> bool:
        """Call ``listener`` for each change that leaves the cache. Returns False if there is no cache."""


@contextmanager
def record_context_set(context: StateStoreContext, record_context: ProcessorRecordContext) -> Iterator[None]:
    """Inside the block, all that is sent belongs to ``record_context`` instead of the current record."""
    current = context.record_context
    context.record_context = record_context
    try:
        yield
    finally:
        context.record_context = current


def merged(
    stored: Iterator[tuple[bytes, bytes]], cached: Iterable[tuple[bytes, LRUCacheEntry]]
) -> Iterator[tuple[bytes, bytes]]:
    """The entries of a store as its cache has changed them. Both are in the order of their keys."""
    in_store = next(stored, None)
    for key, entry in cached:
        while in_store is not None and in_store[0] < key:
            yield in_store
            in_store = next(stored, None)
        if in_store is not None and in_store[0] == key:
            in_store = next(stored, None)
        if entry.value is not None:
            yield key, entry.value
    while in_store is not None:
        yield in_store
        in_store = next(stored, None)
