"""The interface of key-value stores.

Kafka 0.10.2: streams/.../state/KeyValueStore.java, ReadOnlyKeyValueStore.java · book 9.1.4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from kafka_lite.streams.processor.state_store import StateStore

K = TypeVar("K")
V = TypeVar("V")


class ReadOnlyKeyValueStore(ABC, Generic[K, V]):
    """A store as other threads may use it. All methods raise InvalidStateStoreError if the store is closed."""

    @abstractmethod
    def get(self, key: K) -> V | None:
        """The value of a key, or None."""

    @abstractmethod
    def range(self, first: K, last: K) -> Iterator[tuple[K, V]]:
        """The entries from ``first`` to ``last``, both included, in the order of the keys' bytes.

        The entries are those of the moment of the call.
        """

    @abstractmethod
    def all(self) -> Iterator[tuple[K, V]]:
        """All entries of the moment of the call, in the order of the keys' bytes."""

    @abstractmethod
    def approximate_num_entries(self) -> int:
        """The number of entries, roughly if an exact number is expensive."""


class KeyValueStore(ReadOnlyKeyValueStore[K, V], StateStore):
    """A map that a processor reads and writes. A value of None deletes the key."""

    @abstractmethod
    def put(self, key: K, value: V | None) -> None:
        """Set the value of a key."""

    @abstractmethod
    def put_if_absent(self, key: K, value: V | None) -> V | None:
        """Set the value of a key that has none. Returns the value that it had."""

    @abstractmethod
    def delete(self, key: K) -> V | None:
        """Delete a key. Returns the value that it had."""

    def put_all(self, entries: Iterable[tuple[K, V | None]]) -> None:
        """Set the values of several keys, one after the other."""
        for key, value in entries:
            self.put(key, value)
