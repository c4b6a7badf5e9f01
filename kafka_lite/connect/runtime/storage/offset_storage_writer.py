"""Collects the source offsets of a task, and stores them from time to time.

Kafka 0.10.2: connect/runtime/.../connect/storage/OffsetStorageWriter.java · book 8.3.6
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Hashable, Mapping
from concurrent.futures import Future
from typing import Any

from kafka_lite.connect.api.converter import Converter
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.storage.offset_backing_store import OffsetBackingStore, SetCallback
from kafka_lite.connect.runtime.storage.offset_format import serialize_partition, validate_format

logger = logging.getLogger(__name__)

Partition = Mapping[str, Any]
Offset = Mapping[str, Any] | None
Entries = dict[Hashable, tuple[Partition, Offset]]


class OffsetStorageWriter:
    """A double buffer: the task's thread keeps collecting while another thread stores what there was.

    ::

        offset ─▶ [data]
                    │ begin_flush                   ▲ cancel_flush, or an error: merged back, newer entries win
                    ▼                               │
                 [to flush] ── do_flush ─▶ store ───┴─▶ success: dropped

    A flush may be given up after a time-out while its write is still under way. So each has a number, and the outcome
    of a flush that is no longer the current one is ignored.

    It only writes: a task reads its offsets from the store, when it starts, as another worker may have written them.
    """

    def __init__(
        self, store: OffsetBackingStore, namespace: str, key_converter: Converter, value_converter: Converter
    ) -> None:
        """``namespace`` is the connector's name. The converters are the worker's internal ones."""
        self._store = store
        self._namespace = namespace
        self._key_converter = key_converter
        self._value_converter = value_converter
        self._lock = threading.Lock()
        self._data: Entries = {}
        self._to_flush: Entries | None = None
        self._flush_id = 0

    def offset(self, partition: Partition, offset: Offset) -> None:
        """Note the offset of a source partition. None deletes it."""
        with self._lock:
            self._data[_identity(partition)] = partition, offset

    def begin_flush(self) -> bool:
        """Set aside what there is to store. Returns False if there is nothing. Raises ConnectError during a flush."""
        with self._lock:
            if self._to_flush is not None:
                raise ConnectError("OffsetStorageWriter is already flushing")
            if not self._data:
                return False
            self._to_flush, self._data = self._data, {}
            return True

    def do_flush(self, callback: SetCallback) -> Future[None] | None:
        """Store what ``begin_flush`` has set aside. The callback is called at the end, unless the flush was cancelled.

        Returns None if the offsets cannot be serialized. The callback has got the error then, and ``cancel_flush``
        has to be called.
        """
        with self._lock:
            flush_id, entries = self._flush_id, list((self._to_flush or {}).values())
        try:
            serialized = dict(self._serialize(partition, offset) for partition, offset in entries)
        except Exception as error:
            logger.exception(
                "CRITICAL: Failed to serialize offset data, making it impossible to commit offsets under namespace %s. "
                "This likely won't recover unless the unserializable partition or offset information is overwritten.",
                self._namespace,
            )
            callback(error)
            return None

        def finished(error: BaseException | None) -> None:
            if self._finish(flush_id, error):
                callback(error)

        return self._store.set(serialized, finished)

    def _serialize(self, partition: Partition, offset: Offset) -> tuple[bytes | None, bytes | None]:
        validate_format(offset)
        key = serialize_partition(self._key_converter, self._namespace, partition)
        return key, self._value_converter.from_connect_data(self._namespace, None, offset)

    def cancel_flush(self) -> None:
        """Give up a flush that has begun: its offsets will be part of the next one."""
        with self._lock:
            self._cancel()

    def _cancel(self) -> None:
        """Collect again what was set aside; newer entries stay. Does nothing without a flush. The lock is held."""
        if self._to_flush is not None:
            self._data = self._to_flush | self._data
            self._to_flush = None
            self._flush_id += 1

    def _finish(self, flush_id: int, error: BaseException | None) -> bool:
        """End a flush; after an error its offsets are collected again. False, and no change, if it was given up."""
        with self._lock:
            if flush_id != self._flush_id:
                return False
            if error is not None:
                self._cancel()
            else:
                self._to_flush = None
                self._flush_id += 1
            return True


def _identity(partition: Partition) -> Hashable:
    """Equal for equal partitions, whatever the order of their keys."""
    try:
        return frozenset(partition.items())
    except TypeError:
        return repr(partition)  # it has values that no offset may have: see ``validate_format``
