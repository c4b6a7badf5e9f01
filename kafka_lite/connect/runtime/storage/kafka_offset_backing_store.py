"""Keeps source offsets in a topic.

Kafka 0.10.2: connect/runtime/.../connect/storage/KafkaOffsetBackingStore.java · book 8.3.6
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from kafka_lite.connect.runtime.storage.kafka_based_log import KafkaBasedLog
from kafka_lite.connect.runtime.storage.offset_backing_store import OffsetBackingStore, Offsets, SetCallback
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.producer.producer_record import RecordMetadata

NewLog = Callable[[Callable[[ConsumerRecord], None]], KafkaBasedLog]
"""Makes the log of a store. It gets what is to be called for each record."""


class KafkaOffsetBackingStore(OffsetBackingStore):
    """Keys and values of records are those of the store: ``["file-source",{"filename":"/a"}]``, ``{"position":14}``."""

    def __init__(self, new_log: NewLog) -> None:
        self._log = new_log(self._consumed)
        self._data: dict[bytes | None, bytes | None] = {}

    def start(self) -> None:
        """Read the topic to its end. Raises ConnectError."""
        self._log.start()

    def stop(self) -> None:
        """Close the log."""
        self._log.stop()

    def get(self, keys: Iterable[bytes | None]) -> Future[dict[bytes | None, bytes | None]]:
        """The values of the keys, after reading the log to its end: another worker may have run the task until now."""
        wanted = list(keys)
        return self._at_end(lambda: {key: self._data.get(key) for key in wanted})

    def all(self) -> Future[dict[bytes | None, bytes | None]]:
        """All keys and values, after reading the log to its end."""
        return self._at_end(lambda: dict(self._data))

    def _at_end(self, read: Callable[[], dict[bytes | None, bytes | None]]) -> Future[dict[bytes | None, bytes | None]]:
        found: Future[dict[bytes | None, bytes | None]] = Future()

        def at_end(done: Future[None]) -> None:
            error = done.exception()
            if error is not None:
                found.set_exception(error)
            else:
                found.set_result(read())

        self._log.read_to_end().add_done_callback(at_end)
        return found

    def set(self, values: Offsets, callback: SetCallback | None = None) -> Future[None]:
        """Store values. The future is done when all records are acknowledged, or one has failed."""
        acknowledgements = _Acknowledgements(len(values), callback)
        for key, value in values.items():
            self._log.send(key, value, acknowledgements)
        return acknowledgements.future

    def _consumed(self, record: ConsumerRecord) -> None:
        self._data[record.key] = record.value


class _Acknowledgements:
    """Counts the records of one ``set``: the callback of each of them. Kafka: SetCallbackFuture."""

    def __init__(self, count: int, callback: SetCallback | None) -> None:
        self.future: Future[None] = Future()
        self._lock = threading.Lock()
        self._left = count
        self._callback = callback
        if not count:
            self._complete(None)

    def __call__(self, _: RecordMetadata | None, error: Exception | None) -> None:
        with self._lock:
            if self.future.done():
                return
            self._left -= 1
            if error is None and self._left:
                return
        self._complete(error)

    def _complete(self, error: Exception | None) -> None:
        if error is None:
            self.future.set_result(None)
        else:
            self.future.set_exception(error)
        if self._callback is not None:
            self._callback(error)
