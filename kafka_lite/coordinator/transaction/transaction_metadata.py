"""A transactional id: its producer, its state, the partitions of its transaction.

Kafka 0.11: core/.../coordinator/transaction/TransactionMetadata.scala · book 10.3
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_state import PREPARED, VALID_PREVIOUS_STATES, TransactionState
from kafka_lite.record.record import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_TIMESTAMP

MAX_EPOCH = 2**15 - 1
"""No producer gets this epoch: the coordinator needs it to abort the transaction of the last epoch (fencing)."""
FIRST_VERSION_WITH_BUMPS = 2
"""From this level of ``transaction.version`` on, the end of a transaction raises the epoch."""


class IllegalTransitionError(KafkaError):
    """The table of states has no such transition, or another one is pending: a bug."""


@dataclass(frozen=True)
class TxnTransitMetadata:
    """The state of a transactional id that one record of ``__transaction_state`` holds.

    ``last_producer_id`` and ``last_producer_epoch`` are those before the last InitProducerId, by which its retry is
    recognized (KIP-360). Times are in ms.

    With ``transaction.version`` 2, EndTxn raises the epoch (KIP-890). If the epochs of the id are used up, the decision
    reserves another id, ``next_producer_id``, which the producer gets once the transaction has ended; until then it is
    NO_PRODUCER_ID. ``client_transaction_version`` is 2 if the last request of the producer was of that kind.
    """

    producer_id: int
    producer_epoch: int
    last_producer_id: int
    last_producer_epoch: int
    timeout_ms: int
    state: TransactionState
    topic_partitions: frozenset[TopicPartition]
    start_timestamp_ms: int
    last_update_timestamp_ms: int
    next_producer_id: int = NO_PRODUCER_ID
    client_transaction_version: int = 0

    @property
    def producer_after_the_end(self) -> ProducerIdAndEpoch:
        """The id and epoch of the producer once the transaction has ended."""
        if self.next_producer_id != NO_PRODUCER_ID:
            return ProducerIdAndEpoch(self.next_producer_id, 0)
        return ProducerIdAndEpoch(self.producer_id, self.producer_epoch)


def is_epoch_of_a_producer(epoch: int) -> bool:
    """Whether a producer may have the epoch: it is neither NO_PRODUCER_EPOCH nor MAX_EPOCH."""
    return 0 <= epoch < MAX_EPOCH


def new_transactional_id(producer_id: int, timeout_ms: int, now_ms: int) -> TxnTransitMetadata:
    """The first state of an id: no epoch yet."""
    return TxnTransitMetadata(
        producer_id,
        NO_PRODUCER_EPOCH,
        NO_PRODUCER_ID,
        NO_PRODUCER_EPOCH,
        timeout_ms,
        TransactionState.EMPTY,
        frozenset(),
        NO_TIMESTAMP,
        now_ms,
    )


class TransactionMetadata:
    """The current state of a transactional id, and the one that is being written to the log.

    ::

        prepare_*() ──▶ TxnTransitMetadata ──▶ append to __transaction_state ─┬─▶ complete(): it is the current state
                                                                              └─▶ cancel(): the append has failed

    While a transition is pending, no other may begin: requests get CONCURRENT_TRANSACTIONS. Callers hold ``lock``.
    """

    def __init__(self, transactional_id: str, current: TxnTransitMetadata) -> None:
        self.transactional_id = transactional_id
        self.current = current
        self.pending_state: TransactionState | None = None
        self.has_failed_epoch_fence = False
        """Whether the epoch was raised for an abort whose append failed. The retry does not raise it again."""
        self.lock = threading.RLock()

    # ── queries ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> TransactionState:
        """The state in the log."""
        return self.current.state

    @property
    def is_pending(self) -> bool:
        """Whether a transition is being written."""
        return self.pending_state is not None

    @property
    def is_busy(self) -> bool:
        """Whether a request must wait: a transition is being written, markers are being written, or the id expires."""
        return self.is_pending or self.state in PREPARED or self.state is TransactionState.DEAD

    def must_wait(self, producer: ProducerIdAndEpoch) -> bool:
        """Whether a request about this or the next transaction must wait, before anything else about it is checked.

        While a transition is being written, nobody knows yet which id and epoch are right. The producer of the next
        transaction waits for the end of the last one, also at a coordinator that has just loaded it. (Kafka 4.1
        prepares the end before it serves the id, so there a transition is pending.)
        """
        is_next = self.state in PREPARED and producer == self.current.producer_after_the_end
        return self.is_pending or is_next

    @property
    def is_producer_epoch_exhausted(self) -> bool:
        """Whether the epoch cannot be raised: the producer needs another id."""
        return self.current.producer_epoch >= MAX_EPOCH - 1

    def is_timed_out(self, now_ms: int) -> bool:
        """Whether the open transaction has lasted longer than its timeout.

        It is not while a transition is being written: the producer may be committing at this moment.
        """
        current = self.current
        return (
            current.state is TransactionState.ONGOING
            and not self.is_pending
            and current.start_timestamp_ms + current.timeout_ms < now_ms
        )

    # ── transitions ───────────────────────────────────────────────────────────────────────────────────────────────

    def prepare_increment_producer_epoch(
        self, timeout_ms: int, expected_epoch: int | None, now_ms: int
    ) -> TxnTransitMetadata | None:
        """Give a starting producer the next epoch. Returns None if ``expected_epoch`` is fenced (KIP-360).

        ``expected_epoch`` is the epoch that the producer has, or None if it has just started. If that is the current
        epoch, or None, the producer gets the next one. If it is ``last_producer_epoch``, the response was lost, and it
        gets the current one again. An id that has no epoch yet begins with 0, whatever is expected.

        ``last_producer_epoch`` becomes the epoch before. It becomes NO_PRODUCER_EPOCH if there was none, or if the
        producer has just started: then no retry of the producer before may be recognized.

        The new state is EMPTY, with this timeout: no partitions, no start, and updated now. ``last_producer_id`` is the
        producer id, which stays.
        """
        current = self.current
        epoch, last_epoch = current.producer_epoch + 1, current.producer_epoch
        if current.producer_epoch == NO_PRODUCER_EPOCH:
            last_epoch = NO_PRODUCER_EPOCH
        elif expected_epoch is None:
            last_epoch = NO_PRODUCER_EPOCH  # the producer before is fenced, and its retries, too
        elif expected_epoch == current.last_producer_epoch:
            epoch, last_epoch = current.producer_epoch, current.last_producer_epoch
        elif expected_epoch != current.producer_epoch:
            return None
        return self._prepare(
            dataclasses.replace(
                current,
                producer_epoch=epoch,
                last_producer_id=current.producer_id,
                last_producer_epoch=last_epoch,
                timeout_ms=timeout_ms,
                state=TransactionState.EMPTY,
                topic_partitions=frozenset(),
                start_timestamp_ms=NO_TIMESTAMP,
                last_update_timestamp_ms=now_ms,
            )
        )

    def prepare_producer_id_rotation(
        self, producer_id: int, timeout_ms: int, now_ms: int, *, remember_last_epoch: bool
    ) -> TxnTransitMetadata:
        """Give the producer another id with epoch 0: the epochs of its id are used up."""
        current = self.current
        return self._prepare(
            dataclasses.replace(
                current,
                producer_id=producer_id,
                producer_epoch=0,
                last_producer_id=current.producer_id,
                last_producer_epoch=current.producer_epoch if remember_last_epoch else NO_PRODUCER_EPOCH,
                timeout_ms=timeout_ms,
                state=TransactionState.EMPTY,
                topic_partitions=frozenset(),
                start_timestamp_ms=NO_TIMESTAMP,
                last_update_timestamp_ms=now_ms,
            )
        )

    def prepare_add_partitions(self, partitions: Iterable[TopicPartition], now_ms: int) -> TxnTransitMetadata:
        """Add partitions to the transaction; the first ones begin it, and only they set ``start_timestamp_ms``."""
        current = self.current
        start_ms = current.start_timestamp_ms if current.state is TransactionState.ONGOING else now_ms
        return self._prepare(
            dataclasses.replace(
                current,
                state=TransactionState.ONGOING,
                topic_partitions=current.topic_partitions | frozenset(partitions),
                start_timestamp_ms=start_ms,
                last_update_timestamp_ms=now_ms,
            )
        )

    def prepare_fence_producer_epoch(self, now_ms: int) -> TxnTransitMetadata:
        """Raise the epoch before an abort that the producer did not request, so that it cannot write any more.

        It stays as it is if it was raised for an abort whose append failed. ``last_producer_epoch`` becomes
        NO_PRODUCER_EPOCH; the transaction is updated now, and otherwise as it was. Raises IllegalTransitionError if the
        epoch would exceed MAX_EPOCH.

        This state is not written: the abort with the raised epoch follows at once (``take_fenced_epoch``).
        """
        bumped = self.current.producer_epoch + (0 if self.has_failed_epoch_fence else 1)
        if bumped > MAX_EPOCH:
            raise IllegalTransitionError(f"{self.transactional_id}: epoch {self.current.producer_epoch} is the last")
        return self._prepare(
            dataclasses.replace(
                self.current,
                producer_epoch=bumped,
                last_producer_epoch=NO_PRODUCER_EPOCH,
                state=TransactionState.PREPARE_EPOCH_FENCE,
                last_update_timestamp_ms=now_ms,
            )
        )

    def prepare_abort_or_commit(self, state: TransactionState, now_ms: int) -> TxnTransitMetadata:
        """Decide: ``state`` is PREPARE_COMMIT or PREPARE_ABORT. The partitions stay: all of them need markers."""
        return self._prepare(dataclasses.replace(self.current, state=state, last_update_timestamp_ms=now_ms))

    def prepare_bumped_abort_or_commit(
        self, state: TransactionState, next_producer_id: int, now_ms: int
    ) -> TxnTransitMetadata:
        """Decide, and raise the epoch: no batch of this transaction can be appended after the markers (KIP-890).

        ``next_producer_id`` is NO_PRODUCER_ID unless the epochs of the producer's id are used up. An abort without a
        transaction begins it now. A pending fence becomes this abort: both raise the same epoch. It stays MAX_EPOCH if
        it is that already, after a fence with ``transaction.version`` 1 that could not be written.
        """
        current = self.current
        self.pending_state = None if self.pending_state is TransactionState.PREPARE_EPOCH_FENCE else self.pending_state
        return self._prepare(
            dataclasses.replace(
                current,
                producer_epoch=min(current.producer_epoch + 1, MAX_EPOCH),
                last_producer_epoch=current.producer_epoch,
                state=state,
                start_timestamp_ms=current.start_timestamp_ms if self.state is TransactionState.ONGOING else now_ms,
                last_update_timestamp_ms=now_ms,
                next_producer_id=next_producer_id,
                client_transaction_version=FIRST_VERSION_WITH_BUMPS,
            )
        )

    def prepare_complete(self, now_ms: int) -> TxnTransitMetadata:
        """End the transaction, once all markers are written: no partition is left in it.

        If the epoch had been raised for this abort, that is over: ``has_failed_epoch_fence`` becomes false. If the
        decision reserved another producer id, the producer has it from now on, with epoch 0
        (``producer_after_the_end``); its id before is ``last_producer_id``, and none is reserved any more.
        """
        completed = {
            TransactionState.PREPARE_COMMIT: TransactionState.COMPLETE_COMMIT,
            TransactionState.PREPARE_ABORT: TransactionState.COMPLETE_ABORT,
        }
        self.has_failed_epoch_fence = False
        producer = self.current.producer_after_the_end
        rotated = producer.producer_id != self.current.producer_id
        return self._prepare(
            dataclasses.replace(
                self.current,
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                last_producer_id=self.current.producer_id if rotated else self.current.last_producer_id,
                state=completed[self.state],
                topic_partitions=frozenset(),
                last_update_timestamp_ms=now_ms,
                next_producer_id=NO_PRODUCER_ID,
            )
        )

    def prepare_dead(self, now_ms: int) -> TxnTransitMetadata:
        """Remove the id, which has expired."""
        return self._prepare(
            dataclasses.replace(self.current, state=TransactionState.DEAD, last_update_timestamp_ms=now_ms)
        )

    def _prepare(self, transit: TxnTransitMetadata) -> TxnTransitMetadata:
        """Make a transition the pending one, and return it; the current state does not change yet.

        Raises IllegalTransitionError if another transition is pending, or if ``VALID_PREVIOUS_STATES`` does not list
        the current state for the new one.
        """
        if self.pending_state is not None:
            raise IllegalTransitionError(
                f"{self.transactional_id} is on its way to {self.pending_state.title}, not to {transit.state.title}"
            )
        if self.state not in VALID_PREVIOUS_STATES[transit.state]:
            raise IllegalTransitionError(
                f"{self.transactional_id} cannot go from {self.state.title} to {transit.state.title}"
            )
        self.pending_state = transit.state
        return transit

    def complete(self, transit: TxnTransitMetadata) -> None:
        """The transition is in the log: make it the current state. No transition is pending afterwards.

        Raises IllegalTransitionError if its state is not the pending one.
        """
        if self.pending_state is not transit.state:
            pending = None if self.pending_state is None else self.pending_state.title
            raise IllegalTransitionError(
                f"{self.transactional_id}: the transition to {transit.state.title} ended, but pending is {pending}"
            )
        self.current = transit
        self.pending_state = None

    def take_fenced_epoch(self, producer_epoch: int) -> None:
        """Replace the pending fence by its epoch; ``prepare_abort_or_commit`` follows.

        No transition is pending afterwards. The state is still ONGOING, with the raised epoch and no last epoch.
        """
        self.pending_state = None
        self.current = dataclasses.replace(
            self.current, producer_epoch=producer_epoch, last_producer_epoch=NO_PRODUCER_EPOCH
        )

    def cancel(self) -> None:
        """Forget the pending transition: its append has failed."""
        self.pending_state = None

    def remove_partitions(self, partitions: Iterable[TopicPartition]) -> None:
        """Take out partitions whose markers are written, or which do not exist any more."""
        left = self.current.topic_partitions.difference(partitions)
        self.current = dataclasses.replace(self.current, topic_partitions=left)
