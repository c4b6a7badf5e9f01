"""The producer's id and the sequence numbers of its batches, by which a broker recognizes duplicates.

Kafka 0.11: clients/.../producer/internals/TransactionManager.java · book 10.3
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.record.default_record_batch import increment_sequence
from kafka_lite.record.record import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE

logger = logging.getLogger(__name__)


class State(Enum):
    """The state of the producer id."""

    UNINITIALIZED = auto()
    """action: request an id · transition: INITIALIZING when the request is sent."""
    INITIALIZING = auto()
    """action: wait for the response · transition: READY, UNINITIALIZED on a retriable error, or DISABLED."""
    READY = auto()
    """action: number batches · transition: UNINITIALIZED when a sequence number is lost for good."""
    DISABLED = auto()
    """action: send without numbers, to brokers that do not support them · transition: none."""
    FATAL_ERROR = auto()
    """action: fail every batch · transition: none."""


VALID_PREVIOUS_STATES: dict[State, frozenset[State]] = {
    State.UNINITIALIZED: frozenset({State.INITIALIZING, State.READY}),
    State.INITIALIZING: frozenset({State.UNINITIALIZED}),
    State.READY: frozenset({State.INITIALIZING}),
    State.DISABLED: frozenset({State.INITIALIZING}),
    State.FATAL_ERROR: frozenset(State),
}


@dataclass
class TopicPartitionEntry:
    """The sequence numbers of one partition."""

    next_sequence: int = 0
    """The number of the next new batch."""
    last_acked_sequence: int = NO_SEQUENCE
    """The last number that the broker has acknowledged."""
    in_flight: list[ProducerBatch] = field(default_factory=list)
    """Numbered batches without an outcome, in order of their numbers. Some of them wait for a retry."""
    unresolved: bool = False
    """Whether a numbered batch was given up, and it is unknown whether the broker has appended it."""
    needs_reset: bool = False
    """Whether the broker misses a number for good, so that the partition needs a new producer id."""


class TransactionManager:
    """The idempotent half: producer ids and sequence numbers. Only used in the sender's thread, also via the
    accumulator.

    A broker appends a producer's batch only if its first number follows the last one of the partition. For a duplicate,
    it responds as if it had just appended it. So batches must be numbered in the order in which they are sent, keep
    their numbers in retries, and be retried in that order:

    * a retried batch goes before all new ones of its partition (``RecordAccumulator`` sorts by number), and
    * only the *oldest* batch in flight may be retried (``may_send``).

    When a batch is given up, the broker may or may not have appended it. New batches of the partition then wait until
    those in flight have completed. If the broker has acknowledged the last number by then, it has the batch. Otherwise,
    or if the broker itself reports missing numbers, the producer requests a new id and starts at 0. Before that, the
    batches of all *other* partitions must complete: under a new id, a broker could not recognize them as duplicates.
    """

    def __init__(self, explicitly_enabled: bool = True) -> None:
        self.state = State.UNINITIALIZED
        self.producer_id = NO_PRODUCER_ID
        self.producer_epoch = NO_PRODUCER_EPOCH
        self.error: Exception | None = None
        """The reason for FATAL_ERROR."""
        self._explicitly_enabled = explicitly_enabled
        self._partitions: dict[TopicPartition, TopicPartitionEntry] = {}

    # ── the producer id ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def needs_producer_id(self) -> bool:
        """Whether an id must be requested."""
        return self.state is State.UNINITIALIZED

    def initializing(self) -> None:
        """An id was requested."""
        self._transition_to(State.INITIALIZING)

    def initialized(self, producer_id: int, producer_epoch: int) -> None:
        """The broker has returned an id."""
        self._transition_to(State.READY)
        self.producer_id, self.producer_epoch = producer_id, producer_epoch
        logger.info("Producer id set to %d with epoch %d", producer_id, producer_epoch)

    def initialization_failed(self) -> None:
        """The broker could not return an id, but may later."""
        self._transition_to(State.UNINITIALIZED)

    def unsupported(self, error: Exception) -> None:
        """The broker has no producer ids (0.10 and before): do without, unless idempotence was enabled explicitly."""
        if self._explicitly_enabled:
            self.fatal(error)
            return
        logger.warning("The brokers do not support idempotence, so retried batches may be stored twice: %s", error)
        self._transition_to(State.DISABLED)

    def fatal(self, error: Exception) -> None:
        """No more batches can be sent."""
        self.error = error
        self._transition_to(State.FATAL_ERROR)

    def _transition_to(self, new: State) -> None:
        if self.state not in VALID_PREVIOUS_STATES[new]:
            raise RuntimeError(f"producer id: from {self.state.name} to {new.name}")
        self.state = new

    # ── sequence numbers ──────────────────────────────────────────────────────────────────────────────────────────

    def may_send(self, batch: ProducerBatch) -> bool:
        """Whether the batch may be sent now."""
        if self.state is State.DISABLED:
            return True
        entry = self._entry(batch.topic_partition)
        if batch.has_sequence:
            return entry.in_flight[0] is batch and not entry.needs_reset
        # A broker that does not know the producer accepts any number as the first. If several batches were in flight
        # and the first one was refused, the second would be appended in its place.
        is_known = entry.last_acked_sequence != NO_SEQUENCE or not entry.in_flight
        return self.state is State.READY and is_known and not entry.unresolved and not self._reset_is_due

    def number(self, batch: ProducerBatch) -> None:
        """Give a new batch its sequence number. A retried batch keeps its own."""
        if self.state is State.DISABLED or batch.has_sequence:
            return
        entry = self._entry(batch.topic_partition)
        batch.set_producer_state(self.producer_id, self.producer_epoch, entry.next_sequence)
        entry.next_sequence = increment_sequence(entry.next_sequence, batch.record_count)
        entry.in_flight.append(batch)

    def split(self, batch: ProducerBatch, parts: Sequence[ProducerBatch]) -> None:
        """Distribute a batch's numbers over its parts, which take its place among those in flight."""
        if not batch.has_sequence:
            return
        in_flight = self._entry(batch.topic_partition).in_flight
        place, sequence = in_flight.index(batch), batch.base_sequence
        for part in parts:
            part.set_producer_state(batch.producer_id, batch.producer_epoch, sequence)
            sequence = increment_sequence(sequence, part.record_count)
        in_flight[place : place + 1] = parts

    def order_of(self, batch: ProducerBatch) -> int:
        """The sort key of retried batches: their position among those in flight, because numbers may wrap."""
        return self._entry(batch.topic_partition).in_flight.index(batch)

    # ── responses ─────────────────────────────────────────────────────────────────────────────────────────────────

    def completed(self, batch: ProducerBatch) -> None:
        """The broker has appended the batch."""
        if not batch.has_sequence:
            return
        entry = self._entry(batch.topic_partition)
        entry.last_acked_sequence = increment_sequence(batch.base_sequence, batch.record_count - 1)
        self._forget(entry, batch)

    def failed(self, batch: ProducerBatch, broker_has_refused: bool) -> None:
        """The batch was given up. ``broker_has_refused``: it was certainly not appended, so its number is missing."""
        if not batch.has_sequence:
            return
        entry = self._entry(batch.topic_partition)
        self._forget(entry, batch)
        if broker_has_refused:
            entry.needs_reset = True
        else:
            entry.unresolved = True

    def can_retry(self, batch: ProducerBatch, error: Errors) -> bool:
        """Whether an error about missing numbers may disappear when the batch is retried."""
        if not batch.has_sequence or error not in (
            Errors.OUT_OF_ORDER_SEQUENCE_NUMBER,
            Errors.UNKNOWN_PRODUCER_ID,
            Errors.INVALID_PRODUCER_EPOCH,
        ):
            return False
        entry = self._entry(batch.topic_partition)
        oldest = entry.in_flight[0] is batch
        if oldest:
            # No earlier batch is in flight, so the missing numbers will never arrive.
            logger.warning("%s returned %s: taking a new producer id", batch.topic_partition, error.name)
            entry.needs_reset = True
        return True

    def _forget(self, entry: TopicPartitionEntry, batch: ProducerBatch) -> None:
        if batch in entry.in_flight:
            entry.in_flight.remove(batch)

    # ── a new producer id ─────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _reset_is_due(self) -> bool:
        return any(entry.needs_reset for entry in self._partitions.values())

    def maybe_resolve(self) -> None:
        """Resolve partitions that gave up a batch, and request a new id once that is safe."""
        for partition, entry in self._partitions.items():
            if entry.unresolved and not entry.in_flight:
                entry.unresolved = False
                if entry.next_sequence != increment_sequence(entry.last_acked_sequence, 1):
                    logger.info("%s: the last batch may have been appended or not, taking a new producer id", partition)
                    entry.needs_reset = True
        if self.state is State.READY and self._reset_is_due and self._all_others_have_ended():
            self._reset()

    def _all_others_have_ended(self) -> bool:
        for entry in self._partitions.values():
            if any(batch.in_flight for batch in entry.in_flight):
                return False  # its response is outstanding
            if entry.in_flight and not entry.needs_reset:
                return False
        return True

    def _reset(self) -> None:
        for entry in self._partitions.values():
            for batch in entry.in_flight:
                batch.reset_producer_state()
        self._partitions.clear()
        self._transition_to(State.UNINITIALIZED)

    def _entry(self, partition: TopicPartition) -> TopicPartitionEntry:
        return self._partitions.setdefault(partition, TopicPartitionEntry())
