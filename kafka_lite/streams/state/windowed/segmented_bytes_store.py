"""A store of bytes in segments.

Kafka 0.10.2: streams/.../state/internals/SegmentedBytesStore.java, RocksDBSegmentedBytesStore.java,
SegmentIterator.java, ChangeLoggingSegmentedBytesStore.java · book 9.2.4
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

from kafka_lite.metrics.sensor import Sensor
from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.metrics.task_metrics import dropped_records_sensor
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.state.change_logging_key_value_bytes_store import StoreChangeLogger
from kafka_lite.streams.state.windowed.in_memory_segment import InMemorySegment
from kafka_lite.streams.state.windowed.key_schema import KeySchema
from kafka_lite.streams.state.windowed.segments import Segment, Segments
from kafka_lite.streams.state.wrapped_state_store import WrappedStateStore

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=Segment)


class SegmentedBytesStore(StateStore):
    """Maps the binary keys of a :class:`KeySchema` to bytes. Methods raise InvalidStateStoreError after ``close``."""

    @abstractmethod
    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a binary key. A no-op if its time has expired."""

    @abstractmethod
    def get(self, key: bytes) -> bytes | None:
        """The value of a binary key, or None."""

    @abstractmethod
    def fetch(self, key: bytes, time_from: int, time_to: int) -> Iterator[tuple[bytes, bytes]]:
        """The entries of a record's key in a range of time: suffixes of binary keys, and values.

        They are in the order of the suffixes, and those of the moment of the call.
        """


class AbstractSegmentedBytesStore(SegmentedBytesStore, Generic[S]):
    """Keeps segments of a kind. Which one that is, and how they are restored, subclasses say."""

    def __init__(self, name: str, retention_ms: int, num_segments: int, key_schema: KeySchema) -> None:
        self._name = name
        self._schema = key_schema
        self._segments = Segments(retention_ms, num_segments, self._open_segment)
        self._open = False
        self._context: StateStoreContext | None = None
        """That of its task, once the store is open."""
        self._dropped: Sensor | None = None
        """Counts dropped records. Found for the first one: a standby task has none."""

    @abstractmethod
    def _open_segment(self, segment_id: int) -> S:
        """A segment, ready to be used."""

    @property
    def name(self) -> str:
        """The store's name."""
        return self._name

    @property
    def is_open(self) -> bool:
        """Whether it has been initialized and not closed yet."""
        return self._open

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a binary key. One that has expired is counted as a dropped record."""
        if not self._put(key, value) and self._context is not None:
            logger.warning("Store %s: Skipping record for expired segment.", self._name)
            if self._dropped is None:
                self._dropped = dropped_records_sensor(self._context.metrics, self._context.task_id)
            self._dropped.record()

    def _put(self, key: bytes, value: bytes | None) -> bool:
        """Returns False if its time has expired."""
        self._ensure_open()
        segment = self._segments.get_or_create(self._schema.segment_timestamp(key))
        if segment is not None:
            segment.put(key, value)
        return segment is not None

    def get(self, key: bytes) -> bytes | None:
        """The value of a binary key, or None."""
        self._ensure_open()
        segment = self._segments.segment_for(self._schema.segment_timestamp(key))
        return None if segment is None else segment.get(key)

    def fetch(self, key: bytes, time_from: int, time_to: int) -> Iterator[tuple[bytes, bytes]]:
        """The entries of a record's key in a range of time."""
        self._ensure_open()
        schema, first = self._schema, max(0, time_from)
        if time_to < first:
            return iter(())
        lower, upper = schema.bounds(first, time_to)
        return iter(
            [
                entry
                for segment in self._segments.segments(first, schema.last_time(time_to))
                for entry in segment.fetch(key, lower, upper)
                if schema.matches(entry[0], time_to)
            ]
        )

    def flush(self) -> None:
        """Flush the segments."""
        self._segments.flush()

    def close(self) -> None:
        """Close the segments."""
        self._open = False
        self._segments.close()

    def _ensure_open(self) -> None:
        if not self._open:
            raise InvalidStateStoreError(f"Store {self._name} is currently closed")


class InMemorySegmentedBytesStore(AbstractSegmentedBytesStore[InMemorySegment]):
    """Keeps segments in memory. After a restart, they are restored from the changelog."""

    @property
    def persistent(self) -> bool:
        """False."""
        return False

    def _open_segment(self, _: int) -> InMemorySegment:
        return InMemorySegment(self._schema.suffix_size)

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the store, and restore it."""
        self._open = True
        context.register(root, self._restore)
        self._context = context

    def _restore(self, key: bytes, value: bytes | None) -> None:
        """Entries that have expired since they were logged are not counted."""
        self._put(key, value)


class ChangeLoggingSegmentedBytesStore(WrappedStateStore[SegmentedBytesStore], SegmentedBytesStore):
    """Writes go to the inner store first, then to the changelog, even if their time has expired."""

    def __init__(self, inner: SegmentedBytesStore) -> None:
        super().__init__(inner)
        self._logger: StoreChangeLogger | None = None

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the inner store, which restores itself."""
        super().init(context, root)
        self._logger = StoreChangeLogger(self.name, context)

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a binary key, and log it."""
        assert self._logger is not None, "not initialized"
        self._inner.put(key, value)
        self._logger.log_change(key, value)

    def get(self, key: bytes) -> bytes | None:
        """The value of a binary key, or None."""
        return self._inner.get(key)

    def fetch(self, key: bytes, time_from: int, time_to: int) -> Iterator[tuple[bytes, bytes]]:
        """The inner store's entries of a record's key in a range of time."""
        return self._inner.fetch(key, time_from, time_to)
