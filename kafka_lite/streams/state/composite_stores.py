"""The stores of all tasks of an instance under one name, as one store that can only be read.

Kafka 0.10.2: streams/.../state/internals/CompositeReadOnlyKeyValueStore.java, CompositeReadOnlyWindowStore.java,
CompositeReadOnlySessionStore.java · book 9.1.4
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from kafka_lite.streams.state.key_value_store import ReadOnlyKeyValueStore
from kafka_lite.streams.state.session_store import ReadOnlySessionStore
from kafka_lite.streams.state.window_store import ReadOnlyWindowStore
from kafka_lite.streams.windowed import Windowed

K = TypeVar("K")
V = TypeVar("V")


class CompositeReadOnlyKeyValueStore(ReadOnlyKeyValueStore[K, V]):
    """A key is in the store of one task. Several keys come task by task, each task's in the order of their bytes."""

    def __init__(self, stores: Callable[[], Sequence[ReadOnlyKeyValueStore[K, V]]]) -> None:
        self._stores = stores

    def get(self, key: K) -> V | None:
        """The value of a key; None if no task of this instance has it."""
        for store in self._stores():
            if (value := store.get(key)) is not None:
                return value
        return None

    def range(self, first: K, last: K) -> Iterator[tuple[K, V]]:
        """The entries of this instance from ``first`` to ``last``, both included."""
        return chain.from_iterable([store.range(first, last) for store in self._stores()])

    def all(self) -> Iterator[tuple[K, V]]:
        """All entries of this instance."""
        return chain.from_iterable([store.all() for store in self._stores()])

    def approximate_num_entries(self) -> int:
        """The number of entries of this instance."""
        return sum(store.approximate_num_entries() for store in self._stores())


class CompositeReadOnlyWindowStore(ReadOnlyWindowStore[K, V]):
    """A key with all its windows is in the store of one task."""

    def __init__(self, stores: Callable[[], Sequence[ReadOnlyWindowStore[K, V]]]) -> None:
        self._stores = stores

    def fetch(self, key: K, time_from: int, time_to: int) -> Iterator[tuple[int, V]]:
        """The times and values of a key; none if no task of this instance has it."""
        return chain.from_iterable(store.fetch(key, time_from, time_to) for store in self._stores())


class CompositeReadOnlySessionStore(ReadOnlySessionStore[K, V]):
    """A key with all its sessions is in the store of one task."""

    def __init__(self, stores: Callable[[], Sequence[ReadOnlySessionStore[K, V]]]) -> None:
        self._stores = stores

    def fetch(self, key: K) -> Iterator[tuple[Windowed[K], V]]:
        """The sessions of a key; none if no task of this instance has it."""
        return chain.from_iterable(store.fetch(key) for store in self._stores())
