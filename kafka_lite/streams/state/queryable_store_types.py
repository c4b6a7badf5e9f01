"""The kinds of stores that can be queried.

Kafka 0.10.2: streams/.../state/QueryableStoreTypes.java, QueryableStoreType.java · book 9.1.4
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from kafka_lite.streams.processor.state_store import StateStore
from kafka_lite.streams.state.composite_stores import (
    CompositeReadOnlyKeyValueStore,
    CompositeReadOnlySessionStore,
    CompositeReadOnlyWindowStore,
)
from kafka_lite.streams.state.key_value_store import ReadOnlyKeyValueStore
from kafka_lite.streams.state.session_store import ReadOnlySessionStore
from kafka_lite.streams.state.window_store import ReadOnlyWindowStore

T = TypeVar("T")


class QueryableStoreType(Generic[T]):
    """One kind of stores: which class they have, and what puts those of several tasks together."""

    def __init__(self, kind: type[Any], create: Callable[[Callable[[], Sequence[Any]]], T]) -> None:
        self.name = kind.__name__
        self._kind = kind
        self._create = create

    def accepts(self, store: StateStore) -> bool:
        """Whether a store is of this kind."""
        return isinstance(store, self._kind)

    def create(self, stores: Callable[[], Sequence[StateStore]]) -> T:
        """All stores as one. ``stores`` is called for each query, since tasks come and go."""
        return self._create(stores)


class QueryableStoreTypes:
    """The kinds of stores."""

    @staticmethod
    def key_value_store() -> QueryableStoreType[ReadOnlyKeyValueStore[Any, Any]]:
        """Key-value stores."""
        return QueryableStoreType(ReadOnlyKeyValueStore, CompositeReadOnlyKeyValueStore)

    @staticmethod
    def window_store() -> QueryableStoreType[ReadOnlyWindowStore[Any, Any]]:
        """Window stores."""
        return QueryableStoreType(ReadOnlyWindowStore, CompositeReadOnlyWindowStore)

    @staticmethod
    def session_store() -> QueryableStoreType[ReadOnlySessionStore[Any, Any]]:
        """Session stores."""
        return QueryableStoreType(ReadOnlySessionStore, CompositeReadOnlySessionStore)
