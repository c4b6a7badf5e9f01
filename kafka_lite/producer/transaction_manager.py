"""The state of a producer's id and transactions, and the requests that they need next.

Kafka 0.11: clients/.../producer/internals/TransactionManager.java · book 10.3
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kafka_lite.clients.cluster import Node
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.transaction_errors import (
    IllegalTransactionStateError,
    ProducerFencedError,
    TransactionAbortedError,
    TransactionError,
)
from kafka_lite.producer.transaction_state import VALID_PREVIOUS_STATES, State
from kafka_lite.producer.transactional_request_result import TransactionalRequestResult
from kafka_lite.producer.txn_partition_map import TxnPartitionMap
from kafka_lite.producer.txn_requests import (
    AddOffsetsToTxn,
    AddPartitionsToTxn,
    CoordinatorType,
    EndTxn,
    FindCoordinator,
    Identity,
    InitProducerId,
    TxnOffsetCommit,
    TxnOffsets,
    TxnRequest,
)
from kafka_lite.record.record import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

if TYPE_CHECKING:
    from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
    from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata

logger = logging.getLogger(__name__)

FIRST_VERSION_WITH_BUMPS = 2
"""The level of ``transaction.version`` since which the end of a transaction raises the epoch (KIP-890)."""
FATAL_ERRORS = frozenset({
    Errors.CLUSTER_AUTHORIZATION_FAILED, Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, Errors.PRODUCER_FENCED,
    Errors.UNSUPPORTED_VERSION,
})  # fmt: skip
"""Errors of a batch after which no transaction of the producer can succeed."""


class TransactionManager:
    """A producer's id, the numbers of its batches, and its transaction, if it has a ``transactional.id``.

    The user's threads change the state. The sender's thread sends the requests that the state needs, one at a time, and
    reports what came of them::

        user's thread                      state                     next_request, in the sender's thread
        initialize_transactions            INITIALIZING              InitProducerId
        begin_transaction                  IN_TRANSACTION            –
        maybe_add_partition (send)                                   AddPartitionsToTxn, before the first batch
        send_offsets_to_transaction                                  AddOffsetsToTxn, then TxnOffsetCommit
        begin_commit, begin_abort          COMMITTING_…, ABORTING_…  EndTxn, once no batch is incomplete
                                           INITIALIZING              InitProducerId, if a batch was lost (KIP-360)

    Before each, FindCoordinator if its coordinator is unknown. A request that failed needs no queue: the state still
    needs it.

    If the cluster has ``transaction.version`` 2 (KIP-890), the brokers add partitions and groups themselves: no
    AddPartitionsToTxn and no AddOffsetsToTxn. EndTxn returns the epoch of the next transaction, whose batches are
    numbered from 0 again, so a batch that was lost needs no InitProducerId. A change of the level counts from the next
    transaction on.

    Batches are numbered by ``TxnPartitionMap``, in the sender's thread. When a partition needs a reset, an idempotent
    producer requests a new id; a transaction must be aborted, after which the coordinator gives a new epoch.
    """

    def __init__(
        self,
        explicitly_enabled: bool = True,
        *,
        transactional_id: str | None = None,
        transaction_timeout_ms: int = 60_000,
        transaction_version: Callable[[], int] = lambda: 0,
    ) -> None:
        """``transaction_version`` returns the level of the feature that the brokers have told."""
        self.state = State.UNINITIALIZED
        self.producer_id = NO_PRODUCER_ID
        self.producer_epoch = NO_PRODUCER_EPOCH
        self.error: Exception | None = None
        """The reason for FATAL_ERROR or ABORTABLE_ERROR."""
        self.transactional_id = transactional_id
        self.sequences = TxnPartitionMap()
        self._transaction_timeout_ms = transaction_timeout_ms
        self._explicitly_enabled = explicitly_enabled
        self._lock = threading.RLock()
        self._call: TransactionalRequestResult | None = None
        """The last call of init_transactions, commit_transaction or abort_transaction."""
        self._new_partitions: set[TopicPartition] = set()
        self._partitions_in_transaction: set[TopicPartition] = set()
        self._offsets: deque[TxnOffsets] = deque()
        self._transaction_started = False
        """Whether the coordinator has begun the transaction, so that EndTxn must be sent."""
        self._request_without_response: TxnRequest | None = None
        """A request that may have begun the transaction at the coordinator, although its response was lost.

        It is sent again before EndTxn: only its response tells whether there is a transaction to end.
        """
        self._id_is_unknown = False
        """Whether the coordinator has forgotten the producer, so that it would refuse EndTxn, too."""
        self._epoch_bump_required = False
        self._can_bump_epoch = False
        """Whether the coordinator supports KIP-360 (Kafka 2.5)."""
        self._transaction_version = transaction_version
        self.is_v2 = False
        """Whether the transaction is of the second version: brokers add its partitions, its end has an epoch."""
        self._coordinators: dict[tuple[CoordinatorType, str], Node] = {}

    @property
    def is_transactional(self) -> bool:
        """Whether the producer has a transactional id."""
        return self.transactional_id is not None

    def _transition_to(self, new: State) -> None:
        if self.state not in VALID_PREVIOUS_STATES[new]:
            of = f"transactional.id {self.transactional_id}" if self.is_transactional else "producer id"
            raise IllegalTransactionStateError(f"{of}: invalid transition from {self.state.name} to {new.name}")
        self.state = new

    # ── calls of the user's threads ───────────────────────────────────────────────────────────────────────────────

    def initialize_transactions(self) -> TransactionalRequestResult:
        """Request the producer id. Raises IllegalTransactionStateError, TransactionError, ProducerFencedError."""

        def begin() -> None:
            self._maybe_fail_with_error()
            self._transition_to(State.INITIALIZING)

        return self._begin("init_transactions", begin)

    def begin_transaction(self) -> None:
        """Begin a transaction. Sends nothing: the coordinator begins it with its first partition or offsets.

        Raises like ``initialize_transactions``.
        """
        with self._lock:
            self._ensure_free_for("begin_transaction")
            self._maybe_fail_with_error()
            self._transition_to(State.IN_TRANSACTION)

    def begin_commit(self) -> TransactionalRequestResult:
        """Send all batches, then commit. Raises like ``initialize_transactions``."""

        def begin() -> None:
            self._maybe_fail_with_error()
            self._transition_to(State.COMMITTING_TRANSACTION)

        return self._begin("commit_transaction", begin)

    def begin_abort(self) -> TransactionalRequestResult:
        """Drop what was not sent, then abort. Raises like ``initialize_transactions``, except for abortable errors."""

        def begin() -> None:
            if self.state is not State.ABORTABLE_ERROR:
                self._maybe_fail_with_error()
            self._transition_to(State.ABORTING_TRANSACTION)
            self._new_partitions.clear()
            self._fail_offsets(TransactionAbortedError())

        return self._begin("abort_transaction", begin)

    def abort_on_close(self) -> None:
        """Begin to abort an open transaction, even if an earlier call has timed out."""
        with self._lock:
            if self._call is not None:
                self._call.is_acked = True
            self.begin_abort()

    def fail_calls(self, error: Exception) -> None:
        """Fail the calls that are in progress: the brokers do not accept this client, or it is closed."""
        with self._lock:
            self._fail_calls(error)

    def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: ConsumerGroupMetadata
    ) -> TransactionalRequestResult:
        """Make the offsets part of the transaction. Raises like ``initialize_transactions``."""
        with self._lock:
            self._ensure_in_transaction("send_offsets_to_transaction")
            added = TxnOffsets(dict(offsets), group)
            added.is_group_added = self.is_v2
            self._transaction_started |= self.is_v2
            self._offsets.append(added)
            return added.result

    def ensure_may_send(self) -> None:
        """Raises like ``initialize_transactions`` if ``send`` is not allowed now."""
        if self.is_transactional:
            with self._lock:
                self._ensure_in_transaction("send")

    def maybe_add_partition(self, partition: TopicPartition) -> None:
        """Make the partition part of the transaction, if there is one. Raises like ``initialize_transactions``."""
        if not self.is_transactional or partition in self._partitions_in_transaction:
            return
        with self._lock:
            self._ensure_in_transaction("send")
            if self.is_v2:
                self._partitions_in_transaction.add(partition)
                self._transaction_started = True
            else:
                self._new_partitions.add(partition)

    def _begin(self, operation: str, begin: Callable[[], None]) -> TransactionalRequestResult:
        """Begin a call that changes the state, or continue the same call after it has timed out."""
        with self._lock:
            call = self._call
            if call is not None and not call.is_acked and call.operation == operation:
                return call
            self._ensure_free_for(operation)
            begin()
            self._call = call = TransactionalRequestResult(operation)
            return call

    def _ensure_in_transaction(self, operation: str) -> None:
        self._ensure_free_for(operation)
        self._maybe_fail_with_error()
        if self.state is not State.IN_TRANSACTION:
            raise IllegalTransactionStateError(f"{operation} needs a transaction, but the state is {self.state.name}")

    def _ensure_free_for(self, operation: str) -> None:
        if not self.is_transactional:
            raise IllegalTransactionStateError(
                f"Cannot use {operation} without enabling transactions by setting transactional.id"
            )
        if self._call is not None and not self._call.is_acked:
            raise IllegalTransactionStateError(
                f"Cannot attempt operation {operation} because the previous call to {self._call.operation} timed out "
                "and must be retried, or is in progress in another thread"
            )

    def _maybe_fail_with_error(self) -> None:
        if self.state not in (State.ABORTABLE_ERROR, State.FATAL_ERROR) or self.error is None:
            return
        if isinstance(self.error, ProducerFencedError):
            raise self.fenced()
        raise TransactionError(self.error, requires_abort=self.state is State.ABORTABLE_ERROR)

    # ── what the sender does next ─────────────────────────────────────────────────────────────────────────────────

    @property
    def has_fatal_error(self) -> bool:
        """Whether the producer can only be closed."""
        return self.state is State.FATAL_ERROR

    @property
    def is_completing(self) -> bool:
        """Whether the transaction is about to end, so that batches must not linger."""
        return self.state in (State.COMMITTING_TRANSACTION, State.ABORTING_TRANSACTION)

    @property
    def has_ongoing_transaction(self) -> bool:
        """Whether a transaction has begun and not ended."""
        return self.is_completing or self.state in (State.IN_TRANSACTION, State.ABORTABLE_ERROR)

    @property
    def has_pending_call(self) -> bool:
        """Whether a caller waits for the broker."""
        return self._call is not None and not self._call.is_completed

    def error_of_new_batches(self) -> Exception | None:
        """The error with which batches fail that were not sent; None if they may be sent."""
        with self._lock:
            if self.state is State.ABORTING_TRANSACTION:
                return TransactionAbortedError()
            return self.error if self.state in (State.ABORTABLE_ERROR, State.FATAL_ERROR) else None

    def next_request(self, has_incomplete_batches: bool) -> TxnRequest | None:
        """The request that the state needs next, or the lookup of its coordinator; None if it needs none.

        ``has_incomplete_batches``: whether batches must complete before the transaction may end.
        """
        with self._lock:
            request = self._wanted_request(has_incomplete_batches)
            if request is None:
                return None
            if request.coordinator is not None and request.coordinator not in self._coordinators:
                return FindCoordinator(*request.coordinator)
            if isinstance(request, AddPartitionsToTxn | AddOffsetsToTxn):
                self._request_without_response = request
            return request

    def _wanted_request(self, has_incomplete_batches: bool) -> TxnRequest | None:
        if self.transactional_id is None:
            return InitProducerId() if self.state is State.UNINITIALIZED else None
        me = Identity(self.transactional_id, self.producer_id, self.producer_epoch)
        if self.state in (State.IN_TRANSACTION, State.COMMITTING_TRANSACTION):
            if self._new_partitions:
                return AddPartitionsToTxn(me, frozenset(self._new_partitions))
            if self._offsets:
                first = self._offsets[0]
                return TxnOffsetCommit(me, first, self.is_v2) if first.is_group_added else AddOffsetsToTxn(me, first)
        if self.is_completing and not has_incomplete_batches:
            if self._request_without_response is not None and not self._id_is_unknown:
                return self._request_without_response
            if self._transaction_started and not self._id_is_unknown:
                return EndTxn(me, self.state is State.COMMITTING_TRANSACTION, self.is_v2)
            self.transaction_ended()  # nothing to end, or the coordinator has forgotten the producer
        if self.state is State.INITIALIZING:
            bumps = self._epoch_bump_required
            return InitProducerId(self.transactional_id, self._transaction_timeout_ms, me if bumps else None)
        return None

    def coordinator(self, request: TxnRequest) -> Node | None:
        """The broker that gets the request; None for any broker."""
        return None if request.coordinator is None else self._coordinators[request.coordinator]

    def coordinator_found(self, kind: CoordinatorType, key: str, node: Node) -> None:
        """A broker has named the coordinator."""
        logger.info("Discovered %s coordinator %s of %s", kind.name.lower(), node, key)
        self._coordinators[kind, key] = node

    def coordinator_lost(self, request: TxnRequest) -> None:
        """Look up the request's coordinator again: it has moved or is unreachable."""
        if request.coordinator is not None:
            self._coordinators.pop(request.coordinator, None)

    # ── responses to transactional requests ───────────────────────────────────────────────────────────────────────

    def initializing(self) -> None:
        """An idempotent producer has requested an id."""
        self._transition_to(State.INITIALIZING)

    def initialized(self, producer_id: int, producer_epoch: int, *, can_bump_epoch: bool = True) -> None:
        """The broker has returned an id and epoch."""
        with self._lock:
            self._transition_to(State.READY)
            if self._epoch_bump_required:
                self.sequences.reset()
            self.producer_id, self.producer_epoch = producer_id, producer_epoch
            self.error, self._can_bump_epoch = None, can_bump_epoch
            self.is_v2 = self.is_transactional and self._transaction_version() >= FIRST_VERSION_WITH_BUMPS
            self._epoch_bump_required = self._id_is_unknown = False
            logger.info("Producer id set to %d with epoch %d", producer_id, producer_epoch)
            if self._call is not None:
                self._call.done()

    def initialization_failed(self) -> None:
        """The broker could not return an id to an idempotent producer, but may later."""
        self._transition_to(State.UNINITIALIZED)

    def unsupported(self, error: Exception) -> None:
        """The broker has no producer ids (0.10 and before): do without, unless idempotence was enabled explicitly."""
        if self._explicitly_enabled:
            self.fatal(error)
            return
        logger.warning("The brokers do not support idempotence, so retried batches may be stored twice: %s", error)
        self._transition_to(State.DISABLED)

    def responded(self) -> None:
        """The coordinator has carried out or refused the request, so it need not be sent again before an abort."""
        with self._lock:
            self._request_without_response = None

    @property
    def has_partitions(self) -> bool:
        """Whether partitions are in the transaction."""
        return bool(self._partitions_in_transaction)

    def partitions_added(self, partitions: frozenset[TopicPartition]) -> None:
        """The coordinator has added partitions, so their batches may be sent."""
        with self._lock:
            self._new_partitions -= partitions
            self._partitions_in_transaction |= partitions
            self._transaction_started = True

    def group_added(self, offsets: TxnOffsets) -> None:
        """The coordinator has added the group, so its offsets may be sent to the group's coordinator."""
        with self._lock:
            offsets.is_group_added = self._transaction_started = True

    def offsets_accepted(self, offsets: TxnOffsets, partitions: Sequence[TopicPartition]) -> None:
        """The group's coordinator has accepted the offsets of these partitions."""
        with self._lock:
            for partition in partitions:
                offsets.pending.pop(partition, None)
            if not offsets.pending and offsets in self._offsets:
                self._offsets.remove(offsets)
                offsets.result.done()

    def transaction_ended(self, following: ProducerIdAndEpoch | None = None) -> None:
        """The coordinator has recorded the end, or there was nothing to end.

        ``following`` is the id and epoch of the next transaction, if the end has changed them.
        """
        with self._lock:
            if not self.is_completing:
                return
            if following is not None:
                self.producer_id, self.producer_epoch = following
                self.sequences.reset()
            is_v2 = self._transaction_version() >= FIRST_VERSION_WITH_BUMPS
            # The epoch of the first version ends with its last transaction: no partition of it is in the next one.
            self._epoch_bump_required |= is_v2 and not self.is_v2 and self._can_bump_epoch
            self.is_v2 &= is_v2
            self._new_partitions.clear()
            self._partitions_in_transaction.clear()
            self._transaction_started, self._request_without_response = False, None
            if self._epoch_bump_required:
                self._transition_to(State.INITIALIZING)
                return
            self.sequences.reuse_refused()
            self._transition_to(State.READY)
            self.error = None
            if self._call is not None:
                self._call.done()

    # ── errors ────────────────────────────────────────────────────────────────────────────────────────────────────

    def fenced(self) -> ProducerFencedError:
        """The error of a producer that was replaced."""
        return ProducerFencedError(self.transactional_id or "", self.producer_id, self.producer_epoch)

    def fatal(self, error: Exception) -> None:
        """No more batches can be sent."""
        with self._lock:
            if self.state is not State.FATAL_ERROR:
                self.error = error
            self._transition_to(State.FATAL_ERROR)
            self._fail_calls(error)

    def abortable(self, error: Exception, *, bumps_epoch: bool = False) -> None:
        """The transaction cannot be committed any more. ``bumps_epoch``: after it, batches need a new epoch."""
        with self._lock:
            if not self.has_ongoing_transaction:
                return
            self._epoch_bump_required |= bumps_epoch and (not self.is_v2 or self._id_is_unknown)
            if self.state in (State.IN_TRANSACTION, State.COMMITTING_TRANSACTION):
                self.error = error
                self._transition_to(State.ABORTABLE_ERROR)
                self._fail_calls(error)

    def abortable_if_epoch_can_be_bumped(self, error: Exception) -> None:
        """The coordinator has forgotten the producer's id: the transaction is lost, and a new id is requested."""
        with self._lock:
            if not self._can_bump_epoch:
                self.fatal(error)
                return
            self._id_is_unknown = True
            self.abortable(error, bumps_epoch=True)

    def record_lost(self, error: Exception) -> None:
        """A record could not be queued. Its transaction must not be committed without it."""
        if self.is_transactional:
            self.abortable(error)

    def _batch_lost(self, error: Exception, *, is_outcome_known: bool) -> None:
        if isinstance(error, ApiError) and error.error in FATAL_ERRORS:
            self.fatal(self.fenced() if error.error is Errors.PRODUCER_FENCED else error)
        elif self._can_bump_epoch:
            self.abortable(error, bumps_epoch=True)
        elif is_outcome_known:
            self.abortable(error)
        else:
            self.fatal(error)  # whether the number is used is unknown, and the coordinator cannot give a new epoch

    def _fail_calls(self, error: Exception) -> None:
        if self._call is not None:
            self._call.fail(error)
        self._fail_offsets(error)

    def _fail_offsets(self, error: Exception) -> None:
        while self._offsets:
            self._offsets.popleft().result.fail(error)

    # ── batches, in the sender's thread ───────────────────────────────────────────────────────────────────────────

    def may_send(self, batch: ProducerBatch) -> bool:
        """Whether the batch may be sent now."""
        if self.state is State.DISABLED:
            return True
        partition = batch.topic_partition
        if batch.has_sequence:
            # In a transaction even a partition that needs a reset sends its retries: their outcome must be known
            # before EndTxn, or they might be appended behind the marker.
            resends = self.is_transactional or not self.sequences.entry(partition).needs_reset
            return resends and self.state is not State.FATAL_ERROR and self.sequences.is_oldest(batch)
        return self._may_send_new(partition) and self.sequences.may_send_new(partition)

    def _may_send_new(self, partition: TopicPartition) -> bool:
        if not self.is_transactional:
            return self.state is State.READY
        is_open = self.state in (State.IN_TRANSACTION, State.COMMITTING_TRANSACTION)
        return is_open and partition in self._partitions_in_transaction

    def number(self, batch: ProducerBatch) -> None:
        """Give a new batch its sequence number. A retried batch keeps its own."""
        if self.state is not State.DISABLED and not batch.has_sequence:
            self.sequences.number(batch, self.producer_id, self.producer_epoch, is_transactional=self.is_transactional)

    def completed(self, batch: ProducerBatch) -> None:
        """The broker has appended the batch."""
        if batch.has_sequence:
            self.sequences.completed(batch)

    def failed(self, batch: ProducerBatch, error: Exception, *, broker_has_refused: bool) -> None:
        """The batch was given up. ``broker_has_refused``: it was certainly not appended, so its number is missing."""
        if batch.has_sequence:
            self.sequences.failed(batch, broker_has_refused=broker_has_refused)
        if self.is_transactional:
            self._batch_lost(error, is_outcome_known=broker_has_refused or not batch.has_sequence)

    def can_retry(self, batch: ProducerBatch, error: Errors) -> bool:
        """Whether an error about missing numbers may disappear when the batch is retried."""
        if not batch.has_sequence or error not in (
            Errors.OUT_OF_ORDER_SEQUENCE_NUMBER,
            Errors.UNKNOWN_PRODUCER_ID,
            Errors.INVALID_PRODUCER_EPOCH,
        ):
            return False
        is_oldest = self.sequences.is_oldest(batch)
        if self.is_transactional:
            return error is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER and not is_oldest
        if is_oldest:
            # No earlier batch is in flight, so the missing numbers will never arrive.
            logger.warning("%s returned %s; taking a new producer id", batch.topic_partition, error.name)
            self.sequences.entry(batch.topic_partition).needs_reset = True
        return True

    def maybe_resolve(self) -> None:
        """Resolve partitions that gave up a batch, and request a new id once that is safe."""
        self.sequences.resolve()
        if self.is_transactional or self.state is not State.READY:
            return  # after its transaction, a transactional producer gets a new epoch
        if self.sequences.reset_is_due and self.sequences.may_reset:
            self.sequences.reset()
            self._transition_to(State.UNINITIALIZED)
