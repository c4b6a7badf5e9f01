"""Finds the stores of an instance for a query.

Kafka 0.10.2: streams/.../state/internals/QueryableStoreProvider.java, StreamThreadStateStoreProvider.java,
GlobalStateStoreProvider.java, WrappingStoreProvider.java · book 9.1.4
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.processor.state_store import StateStore
from kafka_lite.streams.state.queryable_store_types import QueryableStoreType

T = TypeVar("T")

StoresOfThread = Callable[[str], list[StateStore]]
"""The stores of a thread's active tasks by their name. Raises InvalidStateStoreError while the thread rebalances."""


class QueryableStoreProvider:
    """Looks at the global stores first, then at the active tasks of all threads."""

    def __init__(self, threads: Iterable[StoresOfThread], global_stores: Mapping[str, StateStore]) -> None:
        self._threads = tuple(threads)
        self._global_stores = global_stores

    def store(self, name: str, kind: QueryableStoreType[T]) -> T:
        """All stores of a name as one. It looks the stores up at each query, so it outlives rebalances.

        Raises InvalidStateStoreError if there is none of this name and kind; each query does, too.
        """
        self._stores(name, kind)
        return kind.create(lambda: self._stores(name, kind))

    def _stores(self, name: str, kind: QueryableStoreType[T]) -> Sequence[StateStore]:
        if name in self._global_stores:
            found = [self._global_stores[name]]
        else:
            found = [store for thread in self._threads for store in thread(name)]
        found = [store for store in found if kind.accepts(store)]
        for store in found:
            if not store.is_open:
                raise InvalidStateStoreError(f"the state store, {name}, isn't open")
        if not found:
            raise InvalidStateStoreError(
                f"the state store, {name}, of type {kind.name} may have migrated to another instance."
            )
        return found
