"""The interface of session stores.

Kafka 0.10.2: streams/.../state/SessionStore.java, ReadOnlySessionStore.java · book 9.2.4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

from kafka_lite.streams.processor.state_store import StateStore
from kafka_lite.streams.windowed import Windowed

K = TypeVar("K")
V = TypeVar("V")


class ReadOnlySessionStore(ABC, Generic[K, V]):
    """A session store as other threads may use it. Raises InvalidStateStoreError if the store is closed."""

    @abstractmethod
    def fetch(self, key: K) -> Iterator[tuple[Windowed[K], V]]:
        """All sessions of a key with their aggregates, oldest first, as they are at the call."""


class SessionStore(ReadOnlySessionStore[K, V], StateStore):
    """Keeps aggregates by key and session, for a retention period."""

    @abstractmethod
    def find_sessions(
        self, key: K, earliest_session_end: int, latest_session_start: int
    ) -> Iterator[tuple[Windowed[K], V]]:
        """The sessions of a key that overlap a range of time in ms, both bounds included, oldest first."""

    @abstractmethod
    def put(self, session: Windowed[K], aggregate: V | None) -> None:
        """Set the aggregate of a session. None removes the session.

        If the retention period of its end is over, the store does not change.
        """

    @abstractmethod
    def remove(self, session: Windowed[K]) -> None:
        """Remove a session."""
