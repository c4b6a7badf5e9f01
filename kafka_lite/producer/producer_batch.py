"""Records of one partition that are sent, acknowledged, retried and expired together.

Kafka 0.10.2: clients/.../producer/internals/RecordBatch.java (ProducerBatch since 0.11),
clients/.../producer/Callback.java · book 2.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol

from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.future_record_metadata import FutureRecordMetadata, ProduceRequestResult
from kafka_lite.producer.producer_record import UNKNOWN_OFFSET, ProducerRecord, RecordMetadata
from kafka_lite.producer.records_buffer import Headers, RecordsBuffer
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.record import MAGIC_V2, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, NO_TIMESTAMP
from kafka_lite.record.records import batches

logger = logging.getLogger(__name__)

Callback = Callable[[RecordMetadata | None, Exception | None], None]
"""Called once per record, with its metadata or the error."""


class BatchListener(Protocol):
    """Learns the outcome of many records at once, for a sender that waits for none of them: Streams.

    Its methods are called in the producer's thread, as callbacks are.
    """

    def on_stored(self, topic_partition: TopicPartition, offset: int) -> None:
        """All its records of a batch are stored, the last of them at ``offset``; -1 if the broker does not say."""
        ...

    def on_failed(self, record: ProducerRecord, error: Exception) -> None:
        """A record was not stored. Key and value are bytes; if its batch could not be encoded, they are None."""
        ...


Thunk = tuple[FutureRecordMetadata, Callback | None] | BatchListener
"""The callbacks of a record."""


class FinalState(Enum):
    """The outcome of a batch."""

    ABORTED = auto()
    """The producer was closed, or the batch expired. A response may still come, and is ignored."""
    FAILED = auto()
    SUCCEEDED = auto()


class ProducerBatch:
    """A batch, from ``append`` to its acknowledgement.

    ``created_ms`` is the time of its first record, from which ``delivery.timeout.ms`` counts. ``last_attempt_ms`` is
    the time of its last failed attempt.
    """

    def __init__(
        self,
        topic_partition: TopicPartition,
        buffer: bytearray,
        magic: int,
        compression: CompressionType,
        created_ms: float,
        compression_level: int | None = None,
    ) -> None:
        self.topic_partition = topic_partition
        self.buffer = buffer
        self.created_ms = created_ms
        self.is_part = False
        """Whether it is part of a batch that was split."""
        self.attempts = 0
        self.last_attempt_ms = created_ms
        self.final_state: FinalState | None = None
        self.in_flight = False
        """Whether it is in a request without a response yet."""
        self.producer_id = NO_PRODUCER_ID
        self.producer_epoch = NO_PRODUCER_EPOCH
        self.base_sequence = NO_SEQUENCE
        self.is_transactional = False
        self.result = ProduceRequestResult(topic_partition)
        self._records = RecordsBuffer(buffer, magic, compression, compression_level)
        self._thunks: list[Thunk] = []
        """One for each record."""
        self._built: Buffer | None = None

    # ── filling ───────────────────────────────────────────────────────────────────────────────────────────────────

    def try_append(
        self, timestamp: int, key: bytes | None, value: bytes | None, headers: Headers, callback: Callback | None
    ) -> FutureRecordMetadata | None:
        """Add a record; None if it does not fit or the batch is closed."""
        records = self._records
        if self._built is not None or not records.append(timestamp, key, value, headers):
            return None
        future = FutureRecordMetadata(
            self.result,
            records.count - 1,
            timestamp,
            -1 if key is None else len(key),
            -1 if value is None else len(value),
        )
        self._thunks.append((future, callback))
        return future

    def try_append_for(self, listener: BatchListener, timestamp: int, key: bytes | None, value: bytes | None) -> bool:
        """Add a record whose outcome only ``listener`` learns; false if it does not fit or the batch is closed."""
        if self._built is not None or not self._records.append(timestamp, key, value, ()):
            return False
        self._thunks.append(listener)
        return True

    def trim(self) -> None:
        """Accept no more records, and release the unused part of the buffer."""
        self._records.trim()

    @property
    def is_full(self) -> bool:
        """Whether the batch accepts no more records."""
        return self._built is not None or self._records.is_full

    @property
    def record_count(self) -> int:
        """The number of records."""
        return self._records.count

    @property
    def magic(self) -> int:
        """The message format."""
        return self._records.magic

    # ── sending ───────────────────────────────────────────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Accept no more records, and encode the batch unless that is done."""
        if self._built is None:
            self._built = self._records.build(
                self.producer_id, self.producer_epoch, self.base_sequence, self.is_transactional
            )

    @property
    def records(self) -> Buffer:
        """The encoded batch. Closes it if necessary."""
        self.close()
        assert self._built is not None
        return self._built

    @property
    def size_in_bytes(self) -> int:
        """The size of the batch, estimated until it is closed."""
        return self._records.estimated_size_in_bytes if self._built is None else len(self._built)

    @property
    def plain_size_in_bytes(self) -> int:
        """The size of the batch before compression."""
        return self._records.estimated_size_in_bytes

    @property
    def max_record_size(self) -> int:
        """The size of the largest record before compression."""
        return self._records.max_record_size

    @property
    def has_sequence(self) -> bool:
        """Whether the batch has a sequence number."""
        return self.base_sequence != NO_SEQUENCE

    def set_producer_state(
        self, producer_id: int, producer_epoch: int, base_sequence: int, is_transactional: bool = False
    ) -> None:
        """Set producer id, epoch and sequence number, also in the encoded batch if it is closed already.

        Whether it is transactional is set before the batch is closed, and never changes.
        """
        self.producer_id, self.producer_epoch, self.base_sequence = producer_id, producer_epoch, base_sequence
        self.is_transactional = is_transactional
        if self._built is not None and self.magic >= MAGIC_V2:
            batch = DefaultRecordBatch(self._built, 0, len(self._built))
            batch.set_producer_state(producer_id, producer_epoch, base_sequence)

    def reset_producer_state(self) -> None:
        """Remove the sequence number, because the batch will get a new one."""
        self.producer_id, self.producer_epoch, self.base_sequence = NO_PRODUCER_ID, NO_PRODUCER_EPOCH, NO_SEQUENCE

    def reenqueued(self, now_ms: float) -> None:
        """An attempt has failed, and the batch will be retried."""
        self.attempts += 1
        self.last_attempt_ms = now_ms
        self.in_flight = False

    @property
    def in_retry(self) -> bool:
        """Whether the batch was attempted before."""
        return self.attempts > 0

    def waited_ms(self, now_ms: float) -> float:
        """The time since it was created or last failed, ms."""
        return max(0.0, now_ms - self.last_attempt_ms)

    def has_reached_delivery_timeout(self, delivery_timeout_ms: float, now_ms: float) -> bool:
        """Whether the delivery timeout has expired."""
        return now_ms - self.created_ms >= delivery_timeout_ms

    def expired_error(self, now_ms: float) -> Exception:
        """The error that its records get after that."""
        return Errors.REQUEST_TIMED_OUT.exception(
            f"Expiring {self.record_count} record(s) for {self.topic_partition}: "
            f"{now_ms - self.created_ms:.0f} ms has passed since batch creation"
        )

    # ── completing ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_done(self) -> bool:
        """Whether its callbacks have been called, or are being called."""
        return self.final_state is not None

    def complete(self, base_offset: int, log_append_time_ms: int) -> bool:
        """Acknowledge the batch; true if this call completes it."""
        return self._end(FinalState.SUCCEEDED, base_offset, log_append_time_ms, None)

    def fail(self, error_of: Callable[[int], Exception]) -> bool:
        """Fail the batch, with an error by record index; true if this call completes it."""
        return self._end(FinalState.FAILED, UNKNOWN_OFFSET, NO_TIMESTAMP, error_of)

    def abort(self, error: Exception) -> bool:
        """Give the batch up, whatever the outcome of its request; true if this call completes it."""
        return self._end(FinalState.ABORTED, UNKNOWN_OFFSET, NO_TIMESTAMP, lambda _place: error)

    def _end(
        self,
        state: FinalState,
        base_offset: int,
        log_append_time_ms: int,
        error_of: Callable[[int], Exception] | None,
    ) -> bool:
        if self.final_state is not None:
            logger.debug("Batch for %s was %s, and is %s now", self.topic_partition, self.final_state.name, state.name)
            return False
        self.final_state = state
        self.result.set(base_offset, log_append_time_ms, error_of)
        last_places: dict[BatchListener, int] = {}
        for place, thunk in enumerate(self._thunks):
            if not isinstance(thunk, tuple):
                last_places[thunk] = place
            elif thunk[1] is not None:
                _call(thunk[1], thunk[0])
        if last_places:
            self._tell(last_places)
        self._thunks = []
        self.result.done()
        return True

    def _tell(self, last_places: dict[BatchListener, int]) -> None:
        """Tell the listeners, each of which has its last record at this place."""
        base_offset, error_of = self.result.base_offset, self.result.error_of
        if error_of is None:
            for listener, place in last_places.items():
                offset = UNKNOWN_OFFSET if base_offset == UNKNOWN_OFFSET else base_offset + place
                _guarded(listener.on_stored, self.topic_partition, offset)
            return
        for place, (thunk, record) in enumerate(zip(self._thunks, self._failed_records(), strict=True)):
            if not isinstance(thunk, tuple):
                _guarded(thunk.on_failed, record, error_of(place))

    def _failed_records(self) -> list[ProducerRecord]:
        topic, partition = self.topic_partition
        try:
            records = [record for each in batches(self.records) for record in each.records()]
        except Exception:
            logger.exception("The records of a failed batch for %s cannot be read", self.topic_partition)
            return [ProducerRecord(topic, partition=partition)] * self.record_count
        return [ProducerRecord(topic, each.value, each.key, partition, max(0, each.timestamp)) for each in records]

    def take_thunks(self) -> list[Thunk]:
        """Remove callbacks, futures and listeners, which other batches take over because this one is split."""
        thunks, self._thunks = self._thunks, []
        return thunks


def _call(callback: Callback, future: FutureRecordMetadata) -> None:
    error = future.error_if_failed()
    _guarded(callback, None if error else future.value(), error)


def _guarded(callback: Callable[..., None], *outcome: object) -> None:
    try:
        callback(*outcome)
    except BaseException:  # sys.exit() in a callback would end the thread, and no other record would complete
        logger.exception("Error executing user-provided callback on message")
