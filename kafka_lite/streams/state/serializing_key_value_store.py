"""The typed face of a store of bytes: serializes keys and values on the way in, deserializes them on the way out.

Kafka 0.10.2: streams/.../state/internals/ChangeLoggingKeyValueStore.java, MeteredKeyValueStore.java
· book 9.1.4
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.typed_store import TypedStore

K = TypeVar("K")
V = TypeVar("V")


class SerializingKeyValueStore(TypedStore[KeyValueStore[bytes, bytes], K, V], KeyValueStore[K, V]):
    """The outermost store, which processors use."""

    def typed_key(self, binary: bytes) -> K | None:
        """The record's key."""
        assert self._key_serde is not None, "not initialized"
        return self._key_serde.deserializer.deserialize(self._topic, binary)

    def get(self, key: K) -> V | None:
        """The value of a key, or None."""
        return self.value(self._inner.get(self.raw_key(key)))

    def put(self, key: K, value: V | None) -> None:
        """Set or delete the value of a key."""
        self._inner.put(self.raw_key(key), self.raw_value(value))

    def put_if_absent(self, key: K, value: V | None) -> V | None:
        """Set the value of a key that has none. Returns the value that it had."""
        return self.value(self._inner.put_if_absent(self.raw_key(key), self.raw_value(value)))

    def delete(self, key: K) -> V | None:
        """Delete a key. Returns the value that it had."""
        return self.value(self._inner.delete(self.raw_key(key)))

    def range(self, first: K, last: K) -> Iterator[tuple[K, V]]:
        """The entries from ``first`` to ``last``, both included, in the order of the keys' bytes."""
        return self._typed(self._inner.range(self.raw_key(first), self.raw_key(last)))

    def all(self) -> Iterator[tuple[K, V]]:
        """All entries, in the order of the keys' bytes."""
        return self._typed(self._inner.all())

    def approximate_num_entries(self) -> int:
        """The inner store's number."""
        return self._inner.approximate_num_entries()

    def _typed(self, entries: Iterator[tuple[bytes, bytes]]) -> Iterator[tuple[K, V]]:
        for raw_key, raw_value in entries:
            key, value = self.typed_key(raw_key), self.value(raw_value)
            if key is not None and value is not None:
                yield key, value
