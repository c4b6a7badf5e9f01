"""The future that ``send`` returns, completed when the record's batch is acknowledged.

Kafka 0.10.2: clients/.../producer/internals/FutureRecordMetadata.java, ProduceRequestResult.java · book 2.1.1
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.buffer_pool import BlockingInCallbackError
from kafka_lite.producer.producer_record import UNKNOWN_OFFSET, RecordMetadata
from kafka_lite.record.record import NO_TIMESTAMP


class ProduceRequestResult:
    """The outcome of one batch, shared by all its records."""

    __slots__ = ("_done", "base_offset", "ended_by", "error_of", "log_append_time_ms", "topic_partition")

    def __init__(self, topic_partition: TopicPartition) -> None:
        self.topic_partition = topic_partition
        self.base_offset = UNKNOWN_OFFSET
        self.log_append_time_ms = NO_TIMESTAMP
        self.error_of: Callable[[int], Exception] | None = None
        """The error of the record at an index in the batch; None if the batch succeeded."""
        self.ended_by: threading.Thread | None = None
        """The thread that will call ``done``, and therefore must not wait."""
        self._done = threading.Event()

    def set(self, base_offset: int, log_append_time_ms: int, error_of: Callable[[int], Exception] | None) -> None:
        """Set the outcome. ``done`` publishes it."""
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.error_of = error_of

    def done(self) -> None:
        """Wake up all waiting threads."""
        self._done.set()

    @property
    def completed(self) -> bool:
        """Whether the outcome is known."""
        return self._done.is_set()

    def wait(self, timeout_ms: float | None = None) -> bool:
        """Wait for the outcome; false if ``timeout_ms`` expires first. Raises BlockingInCallbackError."""
        if threading.current_thread() is self.ended_by and not self._done.is_set():
            raise BlockingInCallbackError("the result of a record")
        return self._done.wait(None if timeout_ms is None else timeout_ms / 1000)


class FutureRecordMetadata:
    """The future metadata of one record."""

    __slots__ = ("_create_timestamp", "_key_size", "_next", "_relative_offset", "_result", "_value_size")

    def __init__(
        self, result: ProduceRequestResult, relative_offset: int, create_timestamp: int, key_size: int, value_size: int
    ) -> None:
        self._result = result
        self._relative_offset = relative_offset
        self._create_timestamp = create_timestamp
        self._key_size = key_size
        self._value_size = value_size
        self._next: FutureRecordMetadata | None = None

    def chain(self, future: FutureRecordMetadata) -> None:
        """Follow another future, because the batch was split and the record is in another one now."""
        if self._next is None:
            self._next = future
        else:
            self._next.chain(future)

    def done(self) -> bool:
        """Whether the outcome is known."""
        if self._next is not None:
            return self._next.done()
        return self._result.completed

    def get(self, timeout_ms: float | None = None) -> RecordMetadata:
        """Wait for the record's metadata.

        Raises the error of the record; ApiError REQUEST_TIMED_OUT if ``timeout_ms`` expires first (the outcome may
        still come).
        """
        if not self._result.wait(timeout_ms):
            raise Errors.REQUEST_TIMED_OUT.exception(f"no result within {timeout_ms:g} ms")
        if self._next is not None:
            return self._next.get(timeout_ms)
        error = self.error_if_failed()
        if error is not None:
            raise error
        return self.value()

    def exception(self, timeout_ms: float | None = None) -> Exception | None:
        """Wait for the outcome, and return the error instead of raising it."""
        try:
            self.get(timeout_ms)
        except Exception as error:  # noqa: BLE001 - any error is a valid result
            return error
        return None

    def error_if_failed(self) -> Exception | None:
        """The error of the record; None if it succeeded. For a completed future."""
        error_of = self._result.error_of
        return None if error_of is None else error_of(self._relative_offset)

    def value(self) -> RecordMetadata:
        """The record's metadata. For a future that has succeeded."""
        result = self._result
        stamped = result.log_append_time_ms != NO_TIMESTAMP
        known = result.base_offset != UNKNOWN_OFFSET
        return RecordMetadata(
            result.topic_partition.topic,
            result.topic_partition.partition,
            result.base_offset + self._relative_offset if known else UNKNOWN_OFFSET,
            result.log_append_time_ms if stamped else self._create_timestamp,
            self._key_size,
            self._value_size,
        )
