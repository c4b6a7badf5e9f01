"""The producer's id and the numbers of its batches, by which a broker knows a batch that it has already.

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
    """What the producer knows of its id."""

    UNINITIALIZED = auto()
    """action: ask for an id · transition: INITIALIZING when the request is sent."""
    INITIALIZING = auto()
    """action: wait for the answer · transition: READY, back to UNINITIALIZED on an error that passes, or DISABLED."""
    READY = auto()
    """action: number batches · transition: UNINITIALIZED when a number is lost for good."""
    DISABLED = auto()
    """action: send without numbers, to brokers that know none · transition: none."""
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
    """The numbers of one partition."""

    next_sequence: int = 0
    """What the next new batch gets."""
    last_acked_sequence: int = NO_SEQUENCE
    """The last number that a broker acknowledged."""
    in_flight: list[ProducerBatch] = field(default_factory=list)
    """Batches with a number and without an end, in the order of the numbers; some of them wait for a retry."""
    unresolved: bool = False
    """Whether a batch with a number was given up, and nobody knows whether the broker has it."""
    needs_reset: bool = False
    """Whether the broker misses a number for good: the partition goes on with a new id."""


class TransactionManager:
    """The idempotent half: ids and sequence numbers. One thread, the sender's, calls it (and the accumulator for it).

    A broker appends a batch of a producer only if its first number follows the last one of the partition, and answers
    one that it has already as if it had just appended it. So batches must be numbered in the order in which they are
    sent, keep their number when they are sent again, and be sent again in that order:

    * a retried batch goes before all new ones of its partition (``RecordAccumulator`` sorts by number), and
    * nothing but the *oldest* batch in flight may be sent again (``may_send``).

    When a batch is given up, its number may or may not be known to the broker. New batches of the partition wait until
    those in flight have ended. If the broker has acknowledged the last number by then, it had the batch; otherwise, or
    when the broker itself says that numbers are missing, the producer takes a new id and starts at 0. Before that, the
    batches of all *other* partitions must have ended: with another id a broker could not tell that it has them.
    """

    def __init__(self, explicitly_enabled: bool = True) -> None:
        self.state = State.UNINITIALIZED
        self.producer_id = NO_PRODUCER_ID
        self.producer_epoch = NO_PRODUCER_EPOCH
        self.error: Exception | None = None
        """Why the state is FATAL_ERROR."""
        self._explicitly_enabled = explicitly_enabled
        self._partitions: dict[TopicPartition, TopicPartitionEntry] = {}

    # ── The id ────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def needs_producer_id(self) -> bool:
        """Whether it is time to ask for an id."""
        return self.state is State.UNINITIALIZED

    def initializing(self) -> None:
        """The broker was asked."""
        self._transition_to(State.INITIALIZING)

    def initialized(self, producer_id: int, producer_epoch: int) -> None:
        """The broker has given an id."""
        self._transition_to(State.READY)
        self.producer_id, self.producer_epoch = producer_id, producer_epoch
        logger.info("Producer id set to %d with epoch %d", producer_id, producer_epoch)

    def initialization_failed(self) -> None:
        """The broker could not give an id just now."""
        self._transition_to(State.UNINITIALIZED)

    def unsupported(self, error: Exception) -> None:
        """The broker has no ids (0.10 and before): do without, unless the user has insisted."""
        if self._explicitly_enabled:
            self.fatal(error)
            return
        logger.warning(
            "The brokers do not support idempotence, batches that are sent again may be there twice: %s", error
        )
        self._transition_to(State.DISABLED)

    def fatal(self, error: Exception) -> None:
        """Nothing can be sent any more."""
        self.error = error
        self._transition_to(State.FATAL_ERROR)

    def _transition_to(self, new: State) -> None:
        if self.state not in VALID_PREVIOUS_STATES[new]:
            raise RuntimeError(f"producer id: from {self.state.name} to {new.name}")
        self.state = new

    # ── The numbers ───────────────────────────────────────────────────────────────────────────────────────────────

    def may_send(self, batch: ProducerBatch) -> bool:
        """Whether the batch's turn has come."""
        if self.state is State.DISABLED:
            return True
        entry = self._entry(batch.topic_partition)
        if batch.has_sequence:
            return entry.in_flight[0] is batch and not entry.needs_reset
        # A broker that has never heard of the producer takes any number for the first. Were there several under way,
        # and the first of them refused, the second would be appended in its place.
        is_known = entry.last_acked_sequence != NO_SEQUENCE or not entry.in_flight
        return self.state is State.READY and is_known and not entry.unresolved and not self._reset_is_due

    def number(self, batch: ProducerBatch) -> None:
        """Give a new batch its number; one that is sent again keeps its own."""
        if self.state is State.DISABLED or batch.has_sequence:
            return
        entry = self._entry(batch.topic_partition)
        batch.set_producer_state(self.producer_id, self.producer_epoch, entry.next_sequence)
        entry.next_sequence = increment_sequence(entry.next_sequence, batch.record_count)
        entry.in_flight.append(batch)

    def split(self, batch: ProducerBatch, parts: Sequence[ProducerBatch]) -> None:
        """The parts of a batch share its numbers, and take its place among those in flight."""
        if not batch.has_sequence:
            return
        in_flight = self._entry(batch.topic_partition).in_flight
        place, sequence = in_flight.index(batch), batch.base_sequence
        for part in parts:
            part.set_producer_state(batch.producer_id, batch.producer_epoch, sequence)
            sequence = increment_sequence(sequence, part.record_count)
        in_flight[place : place + 1] = parts

    def order_of(self, batch: ProducerBatch) -> int:
        """By what batches in retry are sorted: their place among those in flight (numbers wrap, places do not)."""
        return self._entry(batch.topic_partition).in_flight.index(batch)

    # ── Answers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def completed(self, batch: ProducerBatch) -> None:
        """The broker has the batch."""
        if not batch.has_sequence:
            return
        entry = self._entry(batch.topic_partition)
        entry.last_acked_sequence = increment_sequence(batch.base_sequence, batch.record_count - 1)
        self._forget(entry, batch)

    def failed(self, batch: ProducerBatch, broker_has_refused: bool) -> None:
        """The batch was given up. ``broker_has_refused``: certainly not appended, so its number is missing."""
        if not batch.has_sequence:
            return
        entry = self._entry(batch.topic_partition)
        self._forget(entry, batch)
        if broker_has_refused:
            entry.needs_reset = True
        else:
            entry.unresolved = True

    def can_retry(self, batch: ProducerBatch, error: Errors) -> bool:
        """Whether an error that tells of missing numbers passes when the batch is sent again."""
        if not batch.has_sequence or error not in (
            Errors.OUT_OF_ORDER_SEQUENCE_NUMBER,
            Errors.UNKNOWN_PRODUCER_ID,
            Errors.INVALID_PRODUCER_EPOCH,
        ):
            return False
        entry = self._entry(batch.topic_partition)
        oldest = entry.in_flight[0] is batch
        if oldest:
            # Nothing before it is on its way, so what the broker misses will never come.
            logger.warning("%s answered %s: taking a new producer id", batch.topic_partition, error.name)
            entry.needs_reset = True
        return True

    def _forget(self, entry: TopicPartitionEntry, batch: ProducerBatch) -> None:
        if batch in entry.in_flight:
            entry.in_flight.remove(batch)

    # ── A new id ──────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _reset_is_due(self) -> bool:
        return any(entry.needs_reset for entry in self._partitions.values())

    def maybe_resolve(self) -> None:
        """Look at partitions that gave up a batch, and take a new id as soon as nothing stands against it."""
        for partition, entry in self._partitions.items():
            if entry.unresolved and not entry.in_flight:
                entry.unresolved = False
                if entry.next_sequence != increment_sequence(entry.last_acked_sequence, 1):
                    logger.info("%s: nobody knows whether the last batch arrived, taking a new producer id", partition)
                    entry.needs_reset = True
        if self.state is State.READY and self._reset_is_due and self._all_others_have_ended():
            self._reset()

    def _all_others_have_ended(self) -> bool:
        for entry in self._partitions.values():
            if any(batch.in_flight for batch in entry.in_flight):
                return False  # its answer is still to come
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
