"""The cache of one store: entries in the order of their use, and which of them the store does not have yet.

Kafka 0.10.2: streams/.../state/internals/NamedCache.java, LRUCacheEntry.java · book 9.1.4
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kafka_lite.streams.record_cache.processor_record_context import ProcessorRecordContext

_ENTRY_OVERHEAD_BYTES = 1 + 8 + 8 + 4
"""Of a Java entry: whether it is dirty, timestamp, offset, partition."""
_NODE_OVERHEAD_BYTES = 8 + 8 + 8
"""Of a Java node: the references to its entry and to its neighbours."""
NO_RECORD = ProcessorRecordContext(-1, topic="")


@dataclass(slots=True)
class LRUCacheEntry:
    """The bytes of a value, or None for a deletion. A dirty entry has the record that it comes from."""

    value: bytes | None
    record_context: ProcessorRecordContext = NO_RECORD
    is_dirty: bool = False
    size_bytes: int = field(init=False, compare=False)
    """The size of Kafka's entry. (Python's objects are larger.)"""

    def __post_init__(self) -> None:
        value, topic = self.value, self.record_context.topic
        self.size_bytes = (len(value) if value else 0) + _ENTRY_OVERHEAD_BYTES + (len(topic) if topic else 0)


class DirtyEntry(NamedTuple):
    """A change that the store does not have yet."""

    key: bytes
    new_value: bytes | None
    record_context: ProcessorRecordContext


DirtyEntryFlushListener = Callable[[Sequence[DirtyEntry]], None]
"""Puts changes into the store and passes them on. They are in the order in which their keys were last put."""


class NamedCache:
    """::

        least recently used                                    most recently used
              │                                                        │
              ▼                                                        ▼
            ┌─────┐   ┌─────┐   ┌─────┐   ┌─────┐   ┌─────┐   ┌─────┐
            │ b 7 │ ─ │ e 1 │ ─ │ a 3*│ ─ │ d 4 │ ─ │ c 9*│ ─ │ f 2*│      * dirty
            └─────┘   └─────┘   └─────┘   └─────┘   └─────┘   └─────┘
               └── evicted first

    A dirty entry that is evicted takes all others with it: they are flushed together, in the order of their puts, and
    stay as clean entries. Safe for threads: while the listener runs, other threads wait.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._entries: OrderedDict[bytes, LRUCacheEntry] = OrderedDict()
        self._dirty: dict[bytes, None] = {}
        self._sorted: list[bytes] | None = None
        """The keys in order; None until a range is asked for."""
        self._listener: DirtyEntryFlushListener | None = None
        self._lock = threading.RLock()
        self.size_bytes = 0
        """The size of all entries."""
        self.hits = 0
        self.misses = 0
        self.overwrites = 0
        self.flushes = 0

    def __len__(self) -> int:
        """The number of entries."""
        return len(self._entries)

    @property
    def hit_ratio(self) -> float:
        """The part of all ``get`` that found an entry; 0 before the first one."""
        total = self.hits + self.misses
        return self.hits / total if total else 0.0

    def set_listener(self, listener: DirtyEntryFlushListener) -> None:
        """Set what flushes dirty entries."""
        self._listener = listener

    # ── entries ───────────────────────────────────────────────────────────────────────────────────────────────────

    def get(self, key: bytes) -> LRUCacheEntry | None:
        """The entry of a key, now the most recently used one; None without one. Increments ``hits`` or ``misses``."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                self.misses += 1
            else:
                self.hits += 1
                self._entries.move_to_end(key)
            return entry

    def put(self, key: bytes, entry: LRUCacheEntry) -> None:
        """Set the entry of a key, now the most recently used one. A dirty entry becomes the last one to be flushed.

        Increments ``overwrites`` if the key had one. Raises RuntimeError if a clean entry would replace a dirty one.
        """
        with self._lock:
            if not entry.is_dirty and key in self._dirty:
                raise RuntimeError(f"a clean entry for key {key!r} would replace a dirty one in cache {self.name}")
            old = self._entries.get(key)
            if old is not None:
                self.overwrites += 1
                self.size_bytes -= _size(key, old)
            elif self._sorted is not None:
                insort(self._sorted, key)
            self._entries[key] = entry
            self._entries.move_to_end(key)
            if entry.is_dirty:
                self._dirty.pop(key, None)
                self._dirty[key] = None
            self.size_bytes += _size(key, entry)

    def range(self, first: bytes, last: bytes) -> list[tuple[bytes, LRUCacheEntry]]:
        """The entries from ``first`` to ``last``, both included, in the order of their keys. This uses all of them."""
        with self._lock:
            keys = self._ordered_keys()
            return self._used(keys[bisect_left(keys, first) : bisect_right(keys, last)])

    def all(self) -> list[tuple[bytes, LRUCacheEntry]]:
        """All entries, in the order of their keys. This uses all of them."""
        with self._lock:
            return self._used(self._ordered_keys())

    def _used(self, keys: list[bytes]) -> list[tuple[bytes, LRUCacheEntry]]:
        self.hits += len(keys)
        for key in keys:
            self._entries.move_to_end(key)
        return [(key, self._entries[key]) for key in keys]

    def _ordered_keys(self) -> list[bytes]:
        """Sorted once, and kept in order from then on: a store with windows asks for ranges all the time."""
        if self._sorted is None:
            self._sorted = sorted(self._entries)
        return self._sorted

    # ── flushing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def flush(self) -> None:
        """Flush all dirty entries. They stay as clean ones; deletions are dropped."""
        with self._lock:
            self._flush([])

    def evict(self) -> None:
        """Remove the least recently used entry. If it is dirty, flush all dirty ones. A no-op without entries."""
        with self._lock:
            if self._entries:
                key, entry = next(iter(self._entries.items()))
                self._remove(key)
                if entry.is_dirty:
                    del self._dirty[key]
                    self._flush([DirtyEntry(key, entry.value, entry.record_context)])

    def _flush(self, evicted: list[DirtyEntry]) -> None:
        """Pass ``evicted`` and all dirty entries to the listener, in one call, in the order of their last puts.

        They are clean before the call, because what the listener passes on may come back and be put. Deletions are
        removed after it, unless they were replaced meanwhile. Without entries the listener is not called. Increments
        ``flushes``.
        """
        self.flushes += 1
        entries, deleted = evicted, []
        for key in self._dirty:
            entry = self._entries[key]
            entries.append(DirtyEntry(key, entry.value, entry.record_context))
            entry.is_dirty = False
            if entry.value is None:
                deleted.append((key, entry))
        self._dirty.clear()  # first: what the listener passes on may come back here
        if entries:
            assert self._listener is not None, f"cache {self.name} has no listener"
            self._listener(entries)
        for key, entry in deleted:
            if self._entries.get(key) is entry:
                self._remove(key)

    def _remove(self, key: bytes) -> None:
        self.size_bytes -= _size(key, self._entries.pop(key))
        if self._sorted is not None:
            del self._sorted[bisect_left(self._sorted, key)]

    def close(self) -> None:
        """Drop all entries, also dirty ones."""
        with self._lock:
            self._entries.clear()
            self._dirty.clear()
            self._sorted = None
            self.size_bytes = 0


def _size(key: bytes, entry: LRUCacheEntry) -> int:
    return len(key) + _NODE_OVERHEAD_BYTES + entry.size_bytes
