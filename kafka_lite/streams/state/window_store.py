"""The interface of window stores.

Kafka 0.10.2: streams/.../state/WindowStore.java, ReadOnlyWindowStore.java · book 9.2.4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

from kafka_lite.streams.processor.state_store import StateStore

K = TypeVar("K")
V = TypeVar("V")


class ReadOnlyWindowStore(ABC, Generic[K, V]):
    """A window store as other threads may use it. Raises InvalidStateStoreError if the store is closed."""

    @abstractmethod
    def fetch(self, key: K, time_from: int, time_to: int) -> Iterator[tuple[int, V]]:
        """The times and values of a key from ``time_from`` to ``time_to``, in ms, both included, in order of time.

        The time of an aggregate is the start of its window. The entries are those of the moment of the call.
        """


class WindowStore(ReadOnlyWindowStore[K, V], StateStore):
    """Keeps values by key and time, for a retention period."""

    @abstractmethod
    def put(self, key: K, value: V | None, timestamp: int | None = None) -> None:
        """Set the value of a key at a time in ms, by default that of the current record. None deletes it.

        If the retention period of that time is over, the store does not change.
        """
