"""The typed face of a window store.

Kafka 0.10.2: streams/.../state/internals/RocksDBWindowStore.java · book 9.2.4
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.state.typed_store import TypedStore
from kafka_lite.streams.state.window_store import WindowStore
from kafka_lite.streams.state.windowed.key_schema import TIMESTAMP_SIZE, WINDOW_SUFFIX
from kafka_lite.streams.state.windowed.segmented_bytes_store import SegmentedBytesStore

K = TypeVar("K")
V = TypeVar("V")


class SerializingWindowStore(TypedStore[SegmentedBytesStore, K, V], WindowStore[K, V]):
    """The outermost store, which processors use.

    With ``retain_duplicates``, values of the same key and time are kept beside each other; they are numbered in turn,
    again from 1 after a restart.
    """

    def __init__(
        self,
        inner: SegmentedBytesStore,
        key_serde: Serde[K] | None,
        value_serde: Serde[V] | None,
        retain_duplicates: bool,
    ) -> None:
        super().__init__(inner, key_serde, value_serde)
        self._retain_duplicates = retain_duplicates
        self._seqnum = 0
        self._context: StateStoreContext | None = None

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the inner store."""
        self._context = context
        super().init(context, root)

    def typed_key(self, binary: bytes) -> tuple[K, int]:
        """The record's key and the time."""
        end = len(binary) - WINDOW_SUFFIX.size
        timestamp, _ = WINDOW_SUFFIX.unpack_from(binary, end)
        return self.record_key(binary[:end]), timestamp

    def put(self, key: K, value: V | None, timestamp: int | None = None) -> None:
        """Set or delete the value of a key at a time."""
        if timestamp is None:
            assert self._context is not None, "not initialized"
            timestamp = self._context.timestamp
        if self._retain_duplicates:
            self._seqnum = (self._seqnum + 1) & 0x7FFFFFFF
        self._inner.put(self.raw_key(key) + WINDOW_SUFFIX.pack(timestamp, self._seqnum), self.raw_value(value))

    def fetch(self, key: K, time_from: int, time_to: int) -> Iterator[tuple[int, V]]:
        """The times and values of a key in a range of time."""
        for suffix, raw in self._inner.fetch(self.raw_key(key), time_from, time_to):
            yield int.from_bytes(suffix[:TIMESTAMP_SIZE]), self.stored_value(raw)
