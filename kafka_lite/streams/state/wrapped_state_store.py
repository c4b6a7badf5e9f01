"""A store around another one.

Kafka 0.10.2: streams/.../state/internals/WrappedStateStore.java · book 9.1.4
"""

from __future__ import annotations

from typing import Generic, TypeVar

from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext

S = TypeVar("S", bound=StateStore)


class WrappedStateStore(StateStore, Generic[S]):
    """Delegates the methods of every store to the inner store; subclasses add their own."""

    def __init__(self, inner: S) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The inner store's name."""
        return self._inner.name

    @property
    def persistent(self) -> bool:
        """Whether the inner store is."""
        return self._inner.persistent

    @property
    def is_open(self) -> bool:
        """Whether the inner store is."""
        return self._inner.is_open

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the inner store, which restores itself."""
        self._inner.init(context, root)

    def flush(self) -> None:
        """Flush the inner store."""
        self._inner.flush()

    def close(self) -> None:
        """Close the inner store."""
        self._inner.close()
