"""A key-value store in memory that keeps the entries that were used last.

Kafka 0.10.2: streams/.../state/internals/MemoryLRUCache.java, MemoryNavigableLRUCache.java · book 9.1.4
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.state.in_memory_key_value_store import InMemoryKeyValueStore


class MemoryLRUCache(InMemoryKeyValueStore):
    """Holds at most ``max_entries``. One more drops the entry that was read or written least recently.

    A dropped entry is lost for good: a changelogging store around this one deletes it from the changelog, too.
    """

    def __init__(self, name: str, max_entries: int) -> None:
        super().__init__(name)
        self._max_entries = max_entries
        self._entries: OrderedDict[bytes, bytes] = OrderedDict()
        """Used least recently first."""
        self._lock = threading.Lock()  # a query of another thread changes the order, too
        self._on_dropped: Callable[[bytes], None] | None = None

    def when_eldest_removed(self, listener: Callable[[bytes], None]) -> None:
        """Call a function with each key that is dropped, except by restoring: the changelog has dropped it before."""
        self._on_dropped = listener

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the store, and restore it."""
        self._open = True
        context.register(root, self._restore)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None."""
        with self._lock:
            value = super().get(key)
            if value is not None:
                self._entries.move_to_end(key)
            return value

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a key."""
        dropped = self._set(key, value)
        if dropped is not None and self._on_dropped is not None:
            self._on_dropped(dropped)

    def delete(self, key: bytes) -> bytes | None:
        """Delete a key. Returns the value that it had."""
        with self._lock:
            return super().delete(key)

    def _sorted(self) -> list[tuple[bytes, bytes]]:
        with self._lock:
            return super()._sorted()

    def _restore(self, key: bytes, value: bytes | None) -> None:
        self._set(key, value)

    def _set(self, key: bytes, value: bytes | None) -> bytes | None:
        """Set or delete the value of a key. Returns the key that was dropped, if any."""
        with self._lock:
            super().put(key, value)
            if value is not None:
                self._entries.move_to_end(key)
            return self._entries.popitem(last=False)[0] if len(self._entries) > self._max_entries else None
