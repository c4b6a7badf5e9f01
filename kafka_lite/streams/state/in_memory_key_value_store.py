"""A key-value store in memory. After a restart, its content comes from the changelog alone.

Kafka 0.10.2: streams/.../state/internals/InMemoryKeyValueStore.java · book 9.1.4
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.state.key_value_store import KeyValueStore


class InMemoryKeyValueStore(KeyValueStore[bytes, bytes]):
    """Maps bytes to bytes, as a persistent store does.

    0.10.2 keeps objects, ordered by ``compareTo``. With bytes every type of key is hashable and ordered, and a
    processor that changes an object after ``put`` cannot change the store. (Kafka's has had bytes since 2.2.)
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._entries: dict[bytes, bytes] = {}
        self._open = False

    @property
    def name(self) -> str:
        """The store's name."""
        return self._name

    @property
    def persistent(self) -> bool:
        """False."""
        return False

    @property
    def is_open(self) -> bool:
        """Whether it has been initialized and not closed yet."""
        return self._open

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the store, and restore it."""
        self._open = True
        context.register(root, self.put)

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None."""
        self._ensure_open()
        return self._entries.get(key)

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a key."""
        self._ensure_open()
        if value is None:
            self._entries.pop(key, None)
        else:
            self._entries[key] = value

    def put_if_absent(self, key: bytes, value: bytes | None) -> bytes | None:
        """Set the value of a key that has none. Returns the value that it had."""
        original = self.get(key)
        if original is None:
            self.put(key, value)
        return original

    def delete(self, key: bytes) -> bytes | None:
        """Delete a key. Returns the value that it had."""
        self._ensure_open()
        return self._entries.pop(key, None)

    def range(self, first: bytes, last: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The entries from ``first`` to ``last``, both included."""
        entries = self._sorted()
        return iter(entries[bisect_left(entries, first, key=_key) : bisect_right(entries, last, key=_key)])

    def all(self) -> Iterator[tuple[bytes, bytes]]:
        """All entries."""
        return iter(self._sorted())

    def approximate_num_entries(self) -> int:
        """The exact number."""
        self._ensure_open()
        return len(self._entries)

    def flush(self) -> None:
        """A no-op: nothing is durable but the changelog."""

    def close(self) -> None:
        """Drop all entries."""
        self._entries.clear()
        self._open = False

    def _sorted(self) -> list[tuple[bytes, bytes]]:
        self._ensure_open()
        return sorted(self._entries.copy().items())  # the copy is atomic: another thread may read

    def _ensure_open(self) -> None:
        if not self._open:
            raise InvalidStateStoreError(f"Store {self._name} is currently closed")


def _key(entry: tuple[bytes, bytes]) -> bytes:
    return entry[0]
