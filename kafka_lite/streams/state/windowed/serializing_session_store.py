"""The typed face of a session store.

Kafka 0.10.2: streams/.../state/internals/RocksDBSessionStore.java, kstream/internals/SessionKeySerde.java · book 9.2.4
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from kafka_lite.streams.state.session_store import SessionStore
from kafka_lite.streams.state.typed_store import TypedStore
from kafka_lite.streams.state.windowed.key_schema import MAX_TIME, SESSION_SUFFIX
from kafka_lite.streams.state.windowed.segmented_bytes_store import SegmentedBytesStore
from kafka_lite.streams.windowed import SessionWindow, Windowed

K = TypeVar("K")
V = TypeVar("V")


class SerializingSessionStore(TypedStore[SegmentedBytesStore, K, V], SessionStore[K, V]):
    """The outermost store, which processors use."""

    def typed_key(self, binary: bytes) -> Windowed[K]:
        """The session."""
        size = len(binary) - SESSION_SUFFIX.size
        end, start = SESSION_SUFFIX.unpack_from(binary, size)
        return Windowed(self.record_key(binary[:size]), SessionWindow(start, end))

    def fetch(self, key: K) -> Iterator[tuple[Windowed[K], V]]:
        """All sessions of a key with their aggregates."""
        return self.find_sessions(key, 0, MAX_TIME)

    def find_sessions(
        self, key: K, earliest_session_end: int, latest_session_start: int
    ) -> Iterator[tuple[Windowed[K], V]]:
        """The sessions of a key that overlap a range of time, both bounds included, oldest first."""
        for suffix, raw in self._inner.fetch(self.raw_key(key), earliest_session_end, latest_session_start):
            end, start = SESSION_SUFFIX.unpack(suffix)
            yield Windowed(key, SessionWindow(start, end)), self.stored_value(raw)

    def put(self, session: Windowed[K], aggregate: V | None) -> None:
        """Set the aggregate of a session under its binary key. None removes the session."""
        suffix = SESSION_SUFFIX.pack(session.window.end, session.window.start)
        self._inner.put(self.raw_key(session.key) + suffix, self.raw_value(aggregate))

    def remove(self, session: Windowed[K]) -> None:
        """Remove a session."""
        self.put(session, None)
