"""The state of one producer in a log: its epoch and its last batches.

Kafka 0.11: core/.../log/ProducerStateManager.scala (ProducerIdEntry); since 3.5 ProducerStateEntry · book 10.3
"""

from __future__ import annotations

from collections import deque
from typing import Final

from kafka_lite.record.default_record_batch import increment_sequence
from kafka_lite.record.record import NO_PRODUCER_EPOCH, NO_SEQUENCE, NO_TIMESTAMP

NUM_BATCHES_TO_RETAIN: Final = 5
"""The maximum number of requests that an idempotent producer may have in flight; any of them may be retried."""

NO_COORDINATOR_EPOCH = -1


class BatchMetadata:
    """The properties of an appended batch that are needed to recognize a duplicate."""

    __slots__ = ("last_offset", "last_seq", "offset_delta", "timestamp")

    def __init__(self, last_seq: int, last_offset: int, offset_delta: int, timestamp: int) -> None:
        self.last_seq = last_seq
        self.last_offset = last_offset
        self.offset_delta = offset_delta
        """Last offset minus first offset: the number of records minus one."""
        self.timestamp = timestamp
        """The max timestamp of the batch, in ms."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BatchMetadata)
            and (self.last_seq, self.last_offset) == (other.last_seq, other.last_offset)
            and (self.offset_delta, self.timestamp) == (other.offset_delta, other.timestamp)
        )

    def __repr__(self) -> str:
        return f"BatchMetadata({self.last_seq}, {self.last_offset}, {self.offset_delta}, {self.timestamp})"

    @property
    def first_seq(self) -> int:
        """The sequence number of the first record; the numbers wrap from 2**31 - 1 to 0."""
        return increment_sequence(self.last_seq, -self.offset_delta)

    @property
    def first_offset(self) -> int:
        """The offset of the first record."""
        return self.last_offset - self.offset_delta


class ProducerStateEntry:
    """The latest epoch of a producer id and up to five of its batches in that epoch, oldest first.

    ::

        sequences  │ 10 ─ 14 │ 15 ─ 15 │ 16 ─ 29 │        30 must come next; for example, 15 ─ 15 is a duplicate
        offsets    │ 70 ─ 74 │ 78 ─ 78 │ 90 ─ 103│        other producers wrote in between

    A new epoch clears the batches of the previous one.
    """

    __slots__ = (
        "batch_metadata",
        "coordinator_epoch",
        "current_txn_first_offset",
        "last_timestamp",
        "producer_epoch",
        "producer_id",
    )

    def __init__(
        self,
        producer_id: int,
        producer_epoch: int = NO_PRODUCER_EPOCH,
        coordinator_epoch: int = NO_COORDINATOR_EPOCH,
        last_timestamp: int = NO_TIMESTAMP,
        current_txn_first_offset: int | None = None,
        batch_metadata: deque[BatchMetadata] | None = None,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.coordinator_epoch = coordinator_epoch
        """The epoch of the transaction coordinator that wrote the last marker."""
        self.last_timestamp = last_timestamp
        """The timestamp of the producer's last batch, in ms; determines when the producer expires."""
        self.current_txn_first_offset = current_txn_first_offset
        """The first offset of the open transaction; only in a log that another Kafka wrote."""
        self.batch_metadata = deque(batch_metadata or (), NUM_BATCHES_TO_RETAIN)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProducerStateEntry) and self._as_tuple() == other._as_tuple()

    def _as_tuple(self) -> tuple[object, ...]:
        epochs = (self.producer_epoch, self.coordinator_epoch)
        return (self.producer_id, *epochs, self.last_timestamp, self.current_txn_first_offset, self.batch_metadata)

    @property
    def is_empty(self) -> bool:
        """Whether no batch of the epoch is known."""
        return not self.batch_metadata

    @property
    def last_seq(self) -> int:
        """The last sequence number, or -1 if no batch is known."""
        return self.batch_metadata[-1].last_seq if self.batch_metadata else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        """The last offset, or -1 if no batch is known."""
        return self.batch_metadata[-1].last_offset if self.batch_metadata else -1

    @property
    def last_offset_delta(self) -> int:
        """The last batch's last offset minus its first, or 0 if no batch is known."""
        return self.batch_metadata[-1].offset_delta if self.batch_metadata else 0

    def without_batches(self) -> ProducerStateEntry:
        """Return a copy without batches, to be filled by an append and merged by ``update`` once it is written."""
        return ProducerStateEntry(
            self.producer_id,
            self.producer_epoch,
            self.coordinator_epoch,
            self.last_timestamp,
            self.current_txn_first_offset,
        )

    def add_batch(self, producer_epoch: int, batch: BatchMetadata) -> None:
        """Add a batch; only the last five are kept."""
        self._maybe_update_producer_epoch(producer_epoch)
        self.batch_metadata.append(batch)
        self.last_timestamp = batch.timestamp

    def end_transaction(self, producer_epoch: int, coordinator_epoch: int, timestamp: int) -> None:
        """Record the marker that ends a transaction, and its epochs: those of the producer and of the coordinator.

        If the producer's epoch is a new one, no batch of it is known.
        """
        self._maybe_update_producer_epoch(producer_epoch)
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_first_offset = None
        self.last_timestamp = timestamp

    def update(self, newer: ProducerStateEntry) -> None:
        """Merge the state of a completed append."""
        self._maybe_update_producer_epoch(newer.producer_epoch)
        self.batch_metadata.extend(newer.batch_metadata)
        self.coordinator_epoch = newer.coordinator_epoch
        self.current_txn_first_offset = newer.current_txn_first_offset
        self.last_timestamp = newer.last_timestamp

    def _maybe_update_producer_epoch(self, producer_epoch: int) -> None:
        """Change the epoch; clears the batches if it is a different one."""
        if self.producer_epoch != producer_epoch:
            self.batch_metadata.clear()
            self.producer_epoch = producer_epoch

    def find_duplicate_batch(self, producer_epoch: int, first_seq: int, last_seq: int) -> BatchMetadata | None:
        """Find a remembered batch with exactly these sequence numbers; None for another epoch."""
        if producer_epoch != self.producer_epoch:
            return None
        for batch in self.batch_metadata:
            if batch.last_seq == last_seq and batch.first_seq == first_seq:
                return batch
        return None
