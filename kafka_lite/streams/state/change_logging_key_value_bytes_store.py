"""Sends every change of a key-value store to its changelog topic.

Kafka 0.10.2: streams/.../state/internals/ChangeLoggingKeyValueBytesStore.java, StoreChangeLogger.java · book 9.1.4
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lite.common.serialization import ByteArraySerializer
from kafka_lite.streams.processor.internals.changelog_topics import store_changelog_topic
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.memory_lru_cache import MemoryLRUCache
from kafka_lite.streams.state.wrapped_state_store import WrappedStateStore

_SERIALIZER = ByteArraySerializer()


class StoreChangeLogger:
    """Sends to the changelog partition of the task, with the time of the current record."""

    def __init__(self, store_name: str, context: StateStoreContext) -> None:
        self._topic = store_changelog_topic(context.application_id, store_name)
        self._context = context

    def log_change(self, key: bytes, value: bytes | None) -> None:
        """Log a new value, or None for a deletion."""
        context = self._context
        context.record_collector.send(
            self._topic, key, value, context.task_id.partition, context.timestamp, _SERIALIZER, _SERIALIZER
        )


class ChangeLoggingKeyValueBytesStore(WrappedStateStore[KeyValueStore[bytes, bytes]], KeyValueStore[bytes, bytes]):
    """Writes go to the inner store first, then to the changelog. Reads and restoring go to the inner store only."""

    def __init__(self, inner: KeyValueStore[bytes, bytes]) -> None:
        super().__init__(inner)
        self._logger: StoreChangeLogger | None = None

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the inner store, which restores itself."""
        super().init(context, root)
        self._logger = StoreChangeLogger(self.name, context)
        if isinstance(self._inner, MemoryLRUCache):
            self._inner.when_eldest_removed(lambda key: self._log(key, None))

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None."""
        return self._inner.get(key)

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a key, and log it."""
        self._inner.put(key, value)
        self._log(key, value)

    def put_if_absent(self, key: bytes, value: bytes | None) -> bytes | None:
        """Set the value of a key that has none, and log it. Returns the value that it had."""
        original = self._inner.put_if_absent(key, value)
        if original is None:
            self._log(key, value)
        return original

    def delete(self, key: bytes) -> bytes | None:
        """Delete a key, and log that even if it had no value. Returns the value that it had."""
        original = self._inner.delete(key)
        self._log(key, None)
        return original

    def range(self, first: bytes, last: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The entries from ``first`` to ``last``, both included."""
        return self._inner.range(first, last)

    def all(self) -> Iterator[tuple[bytes, bytes]]:
        """All entries."""
        return self._inner.all()

    def approximate_num_entries(self) -> int:
        """The inner store's number."""
        return self._inner.approximate_num_entries()

    def _log(self, key: bytes, value: bytes | None) -> None:
        assert self._logger is not None, "not initialized"
        self._logger.log_change(key, value)
