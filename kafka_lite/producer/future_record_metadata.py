"""What ``send`` returns at once, and what becomes of it when the batch of the record is acknowledged.

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
    """The outcome of one batch: all its records wait for the same answer."""

    __slots__ = ("_done", "base_offset", "ended_by", "error_of", "log_append_time_ms", "topic_partition")

    def __init__(self, topic_partition: TopicPartition) -> None:
        self.topic_partition = topic_partition
        self.base_offset = UNKNOWN_OFFSET
        self.log_append_time_ms = NO_TIMESTAMP
        self.error_of: Callable[[int], Exception] | None = None
        """The error of the record at a place of the batch; None if all went well."""
        self.ended_by: threading.Thread | None = None
        """Who will call ``done``, and so must not wait for it."""
        self._done = threading.Event()

    def set(self, base_offset: int, log_append_time_ms: int, error_of: Callable[[int], Exception] | None) -> None:
        """The outcome; ``done`` makes it known."""
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.error_of = error_of

    def done(self) -> None:
        """Wake all who wait."""
        self._done.set()

    @property
    def completed(self) -> bool:
        """Whether there is an outcome."""
        return self._done.is_set()

    def wait(self, timeout_ms: float | None = None) -> bool:
        """Wait for the outcome; false when ``timeout_ms`` passed without one. Raises BlockingInCallbackError."""
        if threading.current_thread() is self.ended_by and not self._done.is_set():
            raise BlockingInCallbackError("The outcome of a record")
        return self._done.wait(None if timeout_ms is None else timeout_ms / 1000)


class FutureRecordMetadata:
    """The place of one record, once it is known."""

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
        """The batch was split, and the record is in another one now: its outcome counts."""
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
        """Wait for the place of the record.

        Raises what the broker, or the producer, said instead; ApiError REQUEST_TIMED_OUT when ``timeout_ms`` passed
        without an outcome (which may still come).
        """
        if not self._result.wait(timeout_ms):
            raise Errors.REQUEST_TIMED_OUT.exception(f"no outcome within {timeout_ms:g} ms")
        if self._next is not None:
            return self._next.get(timeout_ms)
        error = self.error_if_failed()
        if error is not None:
            raise error
        return self.value()

    def exception(self, timeout_ms: float | None = None) -> Exception | None:
        """Wait for the outcome; the error instead of raising it."""
        try:
            self.get(timeout_ms)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what was asked for
            return error
        return None

    def error_if_failed(self) -> Exception | None:
        """The error of the record, for a future that is done."""
        error_of = self._result.error_of
        return None if error_of is None else error_of(self._relative_offset)

    def value(self) -> RecordMetadata:
        """The place of the record, for a future that is done and went well."""
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
