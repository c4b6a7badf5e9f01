"""Coordinates transactions: which producer may write, which partitions belong together, how a transaction ends.

Kafka 0.11: core/.../coordinator/transaction/TransactionCoordinator.scala · book 10.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.bumped_ends import prepare_bumped_end
from kafka_lite.coordinator.transaction.pending_completion import PendingCompletion
from kafka_lite.coordinator.transaction.transaction_marker_channel_manager import TransactionMarkerChannelManager
from kafka_lite.coordinator.transaction.transaction_metadata import (
    FIRST_VERSION_WITH_BUMPS,
    MAX_EPOCH,
    TransactionMetadata,
    TxnTransitMetadata,
    is_epoch_of_a_producer,
    new_transactional_id,
)
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.coordinator.transaction.transaction_state_manager import TransactionStateManager
from kafka_lite.record.record import NO_PRODUCER_EPOCH

logger = logging.getLogger(__name__)

_State = TransactionState


class InitProducerIdResult(NamedTuple):
    """The id and epoch, or an error."""

    producer: ProducerIdAndEpoch
    error: Errors = Errors.NONE


class EndTxnResult(NamedTuple):
    """The id and epoch with which the producer continues, or an error."""

    error: Errors
    producer: ProducerIdAndEpoch = ProducerIdAndEpoch()


def _refused(error: Errors) -> InitProducerIdResult:
    return InitProducerIdResult(ProducerIdAndEpoch(), error)


class TransactionCoordinator:
    """Serves the transactional ids whose partitions of ``__transaction_state`` this broker leads.

    ::

        producer          coordinator              __transaction_state        leaders of the partitions
          │ InitProducerId ──▶ Empty ──────────────────▶ epoch + 1
          │ AddPartitionsToTxn ▶ Ongoing ──────────────▶ partitions
          │ Produce ─────────────────────────────────────────────────────────▶ T T T
          │ EndTxn(commit) ──▶ PrepareCommit ──────────▶ the decision
          │ ◀── response       WriteTxnMarkers ─────────────────────────────▶ C (commit marker)
          │                    CompleteCommit ─────────▶ the end

    The decision is made when PrepareCommit or PrepareAbort is in the log. From then on this coordinator, or the next
    one, sends markers until all are written. Nothing reverses the decision.
    """

    def __init__(
        self,
        manager: TransactionStateManager,
        markers: TransactionMarkerChannelManager,
        generate_producer_id: Callable[[], int],
        scheduler: Scheduler,
        time: Time,
    ) -> None:
        """``generate_producer_id`` raises COORDINATOR_LOAD_IN_PROGRESS if no id is available at the moment."""
        self.manager = manager
        self._markers = markers
        self._generate_producer_id = generate_producer_id
        self._scheduler = scheduler
        self._time = time

    def startup(self, num_partitions: int) -> None:
        """Start to serve ids, and to abort transactions that have timed out."""
        self.manager.startup(num_partitions)
        interval_ms = self.manager.config.abort_timed_out_interval_ms
        self._scheduler.schedule("transaction-abort", self.abort_timed_out_transactions, interval_ms, interval_ms)

    def shutdown(self) -> None:
        """Stop serving ids. The next coordinator completes the transactions in progress."""
        self.manager.shutdown()
        self._markers.shutdown()

    # ── InitProducerId ────────────────────────────────────────────────────────────────────────────────────────────

    def handle_init_producer_id(
        self,
        transactional_id: str,
        timeout_ms: int,
        expected: ProducerIdAndEpoch | None,
        respond: Callable[[InitProducerIdResult], None],
    ) -> None:
        """Give the producer of an id its producer id and a new epoch, which fences the producer before.

        An open transaction is aborted first; the producer gets CONCURRENT_TRANSACTIONS and retries. A producer that
        continues after an error names its id and epoch in ``expected`` (KIP-360).
        """
        try:
            if not transactional_id:
                raise Errors.INVALID_REQUEST.exception("the transactional id is empty")
            if not 0 < timeout_ms <= self.manager.config.max_timeout_ms:
                raise Errors.INVALID_TRANSACTION_TIMEOUT.exception(f"{timeout_ms} ms")
            coordinator_epoch, metadata = self._get_or_create(transactional_id, timeout_ms)
            with metadata.lock:
                transit = self._prepare_init(metadata, timeout_ms, expected)
        except ApiError as failure:
            respond(_refused(failure.error))
            return
        if transit.state is _State.PREPARE_EPOCH_FENCE:
            fenced = ProducerIdAndEpoch(transit.producer_id, transit.producer_epoch)
            retry = Errors.CONCURRENT_TRANSACTIONS  # once the transaction is aborted
            refuse = lambda error: respond(_refused(retry if error is Errors.NONE else error))  # noqa: E731
            self._end(transactional_id, fenced, _State.PREPARE_ABORT, False, refuse)
            return
        given = ProducerIdAndEpoch(transit.producer_id, transit.producer_epoch)
        self.manager.append(
            metadata,
            coordinator_epoch,
            transit,
            lambda error: respond(InitProducerIdResult(given) if error is Errors.NONE else _refused(error)),
        )

    def _get_or_create(self, transactional_id: str, timeout_ms: int) -> tuple[int, TransactionMetadata]:
        coordinator_epoch, metadata = self.manager.get(transactional_id)
        if metadata is not None:
            return coordinator_epoch, metadata
        first = new_transactional_id(self._generate_producer_id(), timeout_ms, self._time.milliseconds())
        return self.manager.put_if_absent(TransactionMetadata(transactional_id, first))

    def _prepare_init(
        self, metadata: TransactionMetadata, timeout_ms: int, expected: ProducerIdAndEpoch | None
    ) -> TxnTransitMetadata:
        """The next state of an id whose producer starts. Raises CONCURRENT_TRANSACTIONS and PRODUCER_FENCED.

        CONCURRENT_TRANSACTIONS comes first: while the id is busy, nothing is known about its next epoch. An open
        transaction is fenced. If the epochs are used up, the producer gets another id, unless it repeats a request.
        Otherwise it gets the next epoch, or PRODUCER_FENCED if the epoch in ``expected`` is an older one.
        """
        if metadata.is_busy:
            raise Errors.CONCURRENT_TRANSACTIONS.exception()
        if expected is not None and not _may_continue(metadata.current, expected):
            raise Errors.PRODUCER_FENCED.exception()
        now_ms = self._time.milliseconds()
        if metadata.state is _State.ONGOING:
            return metadata.prepare_fence_producer_epoch(now_ms)
        current_epoch = metadata.current.producer_epoch
        if metadata.is_producer_epoch_exhausted and (expected is None or expected.epoch == current_epoch):
            new_id = self._generate_producer_id()
            return metadata.prepare_producer_id_rotation(
                new_id, timeout_ms, now_ms, remember_last_epoch=expected is not None
            )
        transit = metadata.prepare_increment_producer_epoch(
            timeout_ms, None if expected is None else expected.epoch, now_ms
        )
        if transit is None:
            raise Errors.PRODUCER_FENCED.exception()
        return transit

    # ── AddPartitionsToTxn ────────────────────────────────────────────────────────────────────────────────────────

    def handle_add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        respond: Callable[[Errors], None],
        client_version: int = 0,
    ) -> None:
        """Add partitions to the transaction, before the producer writes to them.

        ``client_version`` is 2 if the partition's leader adds it, since the producer does not (KIP-890).
        """
        try:
            coordinator_epoch, metadata = self._known(transactional_id)
            with metadata.lock:
                if metadata.must_wait(producer):
                    raise Errors.CONCURRENT_TRANSACTIONS.exception()
                self._check_producer(metadata, producer)
                if not is_epoch_of_a_producer(producer.epoch):
                    raise Errors.PRODUCER_FENCED.exception()
                if metadata.is_busy:
                    raise Errors.CONCURRENT_TRANSACTIONS.exception()
                has_all = metadata.current.topic_partitions.issuperset(partitions)
                if is_new := metadata.state is not _State.ONGOING or not has_all:
                    transit = metadata.prepare_add_partitions(partitions, self._time.milliseconds())
        except ApiError as failure:
            respond(failure.error)
            return
        if is_new:
            transit = replace(transit, client_transaction_version=client_version)
            self.manager.append(metadata, coordinator_epoch, transit, respond)
        else:
            respond(Errors.NONE)

    def verify_partitions(
        self, transactional_id: str, producer: ProducerIdAndEpoch, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, Errors]:
        """Whether partitions are part of the producer's open transaction: TRANSACTION_ABORTABLE for those that are not.

        If the question cannot be answered, all of them get the reason (KIP-890).
        """
        try:
            _, metadata = self._known(transactional_id)
            with metadata.lock:
                self._check_producer(metadata, producer)
                # A pending transition does not count: the log will check once more that no marker came in between.
                if metadata.state in _COMPLETED_OF:
                    raise Errors.CONCURRENT_TRANSACTIONS.exception()
                known = metadata.current.topic_partitions
        except ApiError as failure:
            return dict.fromkeys(partitions, failure.error)
        return {tp: Errors.NONE if tp in known else Errors.TRANSACTION_ABORTABLE for tp in partitions}

    def _known(self, transactional_id: str) -> tuple[int, TransactionMetadata]:
        if not transactional_id:
            raise Errors.INVALID_REQUEST.exception("the transactional id is empty")
        coordinator_epoch, metadata = self.manager.get(transactional_id)
        if metadata is None:
            raise Errors.INVALID_PRODUCER_ID_MAPPING.exception()
        return coordinator_epoch, metadata

    @staticmethod
    def _check_producer(metadata: TransactionMetadata, producer: ProducerIdAndEpoch) -> None:
        """Raise INVALID_PRODUCER_ID_MAPPING for another producer id, PRODUCER_FENCED for another epoch."""
        if metadata.current.producer_id != producer.producer_id:
            raise Errors.INVALID_PRODUCER_ID_MAPPING.exception()
        if metadata.current.producer_epoch != producer.epoch:
            raise Errors.PRODUCER_FENCED.exception()

    # ── EndTxn ────────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_end_transaction(
        self, transactional_id: str, producer: ProducerIdAndEpoch, commit: bool, respond: Callable[[Errors], None]
    ) -> None:
        """Commit or abort. ``respond`` is called when the decision is in the log; the markers follow."""
        target = _State.PREPARE_COMMIT if commit else _State.PREPARE_ABORT
        self._end(transactional_id, producer, target, True, respond)

    def handle_bumped_end(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        commit: bool,
        respond: Callable[[EndTxnResult], None],
        *,
        from_client: bool = True,
    ) -> None:
        """The same with the next epoch, or with another producer id if the epochs are used up (EndTxn 5, KIP-890)."""
        target = _State.PREPARE_COMMIT if commit else _State.PREPARE_ABORT
        try:
            coordinator_epoch, metadata = self._known(transactional_id)
            with metadata.lock:
                transit = prepare_bumped_end(
                    metadata, producer, target, from_client, self._generate_producer_id, self._time.milliseconds()
                )
                current = metadata.current
        except ApiError as failure:
            respond(EndTxnResult(failure.error))
            return
        if transit is None:
            given = ProducerIdAndEpoch(current.producer_id, current.producer_epoch)
            respond(EndTxnResult(Errors.NONE, given))
            return

        def on_decided(error: Errors) -> None:
            if error is Errors.NONE:
                self.complete(coordinator_epoch, metadata)  # first, as in _end
                respond(EndTxnResult(error, transit.producer_after_the_end))
            else:
                respond(EndTxnResult(error))

        self.manager.append(metadata, coordinator_epoch, transit, on_decided)

    def _end(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        target: TransactionState,
        from_client: bool,
        respond: Callable[[Errors], None],
    ) -> None:
        """``producer`` has the raised epoch if the coordinator itself aborts (``from_client`` is false)."""
        if not from_client and self.manager.transaction_version() >= FIRST_VERSION_WITH_BUMPS:
            self.handle_bumped_end(
                transactional_id, producer, False, lambda result: respond(result.error), from_client=False
            )
            return
        try:
            coordinator_epoch, metadata = self._known(transactional_id)
            with metadata.lock:
                transit, is_fence = self._prepare_end(metadata, producer, target, from_client)
        except ApiError as failure:
            respond(failure.error)
            return
        if transit is None:
            respond(Errors.NONE)
            return
        transit = replace(transit, client_transaction_version=0)  # an EndTxn 5 cannot be a retry of this one

        def on_decided(error: Errors) -> None:
            if error is not Errors.NONE:
                metadata.has_failed_epoch_fence = metadata.has_failed_epoch_fence or is_fence
                respond(error)
                return
            self.complete(coordinator_epoch, metadata)  # first: the producer may begin its next transaction sooner
            respond(Errors.NONE)

        self.manager.append(metadata, coordinator_epoch, transit, on_decided)

    def _prepare_end(
        self, metadata: TransactionMetadata, producer: ProducerIdAndEpoch, target: TransactionState, from_client: bool
    ) -> tuple[TxnTransitMetadata | None, bool]:
        """The transition (None if it was made before), and whether it raises the epoch. Raises ApiError.

        - INVALID_PRODUCER_ID_MAPPING: another producer id;
        - PRODUCER_FENCED: an older epoch, or from a client a newer one;
        - CONCURRENT_TRANSACTIONS: a transition is being written, or the markers of ``target`` are. The pending fence
          does not count if the coordinator aborts because of it;
        - INVALID_TXN_STATE: there is nothing to end, or the transaction was decided, or ended, the other way.
        """
        current = metadata.current
        if current.producer_id != producer.producer_id:
            raise Errors.INVALID_PRODUCER_ID_MAPPING.exception()
        if producer.epoch < current.producer_epoch or (from_client and producer.epoch != current.producer_epoch):
            raise Errors.PRODUCER_FENCED.exception()
        is_fence = metadata.pending_state is _State.PREPARE_EPOCH_FENCE
        if (metadata.is_pending and (from_client or not is_fence)) or metadata.state is target:
            raise Errors.CONCURRENT_TRANSACTIONS.exception()
        if metadata.state is _State.ONGOING:
            if is_fence:
                metadata.take_fenced_epoch(producer.epoch)
            return metadata.prepare_abort_or_commit(target, self._time.milliseconds()), is_fence
        if metadata.state is _COMPLETED_OF[target]:
            return None, False
        raise Errors.INVALID_TXN_STATE.exception(f"{metadata.transactional_id} is {metadata.state.title}")

    def complete(self, coordinator_epoch: int, metadata: TransactionMetadata) -> None:
        """Write the markers of a transaction that this coordinator, or the one before, has decided.

        The end is prepared now, and appended by ``TransactionMarkerChannelManager`` after the last marker.
        """
        with metadata.lock:
            commit = metadata.state is _State.PREPARE_COMMIT
            partitions = metadata.current.topic_partitions
            transit = metadata.prepare_complete(self._time.milliseconds())
        self._markers.add(PendingCompletion(metadata, coordinator_epoch, commit, transit), partitions)

    # ── DescribeTransactions, ListTransactions ────────────────────────────────────────────────────────────────────

    def describe_transaction(self, transactional_id: str) -> TxnTransitMetadata:
        """The current state of an id. Raises INVALID_REQUEST, TRANSACTIONAL_ID_NOT_FOUND, and as the manager's
        ``get``."""
        if not transactional_id:
            raise Errors.INVALID_REQUEST.exception("the transactional id is empty")
        _, metadata = self.manager.get(transactional_id)
        if metadata is None or metadata.state is _State.DEAD:
            raise Errors.TRANSACTIONAL_ID_NOT_FOUND.exception()
        return metadata.current

    def list_transactions(
        self, states: Collection[TransactionState] | None, producer_ids: Collection[int], min_duration_ms: int
    ) -> dict[str, TxnTransitMetadata]:
        """The ids of this coordinator that are in one of the states (None: any), belong to one of the producers
        (empty: any) and have had their transaction for longer than ``min_duration_ms`` (if it is not negative).

        Raises COORDINATOR_LOAD_IN_PROGRESS while any partition is loading.
        """
        if self.manager.is_loading:
            raise Errors.COORDINATOR_LOAD_IN_PROGRESS.exception()
        now_ms = self._time.milliseconds()
        return {
            metadata.transactional_id: current
            for _, metadata in self.manager.all_transactions()
            if (current := metadata.current).state is not _State.DEAD
            and (states is None or current.state in states)
            and (not producer_ids or current.producer_id in producer_ids)
            and (min_duration_ms < 0 or now_ms - current.start_timestamp_ms > min_duration_ms)
        }

    # ── leadership of the partitions of __transaction_state ───────────────────────────────────────────────────────

    def on_election(self, partition: int, coordinator_epoch: int) -> None:
        """This broker leads a partition of ``__transaction_state``."""
        logger.info("Elected as the txn coordinator for partition %d at epoch %d", partition, coordinator_epoch)
        self.manager.schedule_load(partition, coordinator_epoch, self.complete)

    def on_resignation(self, partition: int, coordinator_epoch: int | None) -> None:
        """This broker does not, or no longer, lead the partition. None as epoch: the replica is deleted."""
        logger.info("Resigned as the txn coordinator for partition %d at epoch %s", partition, coordinator_epoch)
        self.manager.unload(partition, coordinator_epoch)

    # ── timeouts ──────────────────────────────────────────────────────────────────────────────────────────────────

    def abort_timed_out_transactions(self) -> None:
        """Abort the transactions that have been open for longer than their producers' ``transaction.timeout.ms``.

        The epoch is raised first, so that the producer cannot write any more. A transaction that has been ended
        between the search and the lock is left alone.
        """
        for _, metadata in self.manager.timed_out():
            with metadata.lock:
                if not metadata.is_timed_out(self._time.milliseconds()):
                    continue
                fence = metadata.prepare_fence_producer_epoch(self._time.milliseconds())
            logger.info("Aborting the transaction of %s, which has timed out", metadata.transactional_id)
            producer = ProducerIdAndEpoch(fence.producer_id, fence.producer_epoch)
            self._end(metadata.transactional_id, producer, _State.PREPARE_ABORT, False, _log_abort(metadata))


_COMPLETED_OF = {
    _State.PREPARE_COMMIT: _State.COMPLETE_COMMIT,
    _State.PREPARE_ABORT: _State.COMPLETE_ABORT,
}


def _may_continue(current: TxnTransitMetadata, expected: ProducerIdAndEpoch) -> bool:
    """Whether a producer that names its id may continue: with the current producer id, or with the last one.

    It names the last one if it got no response when its producer id was replaced; then its epoch was used up, so it
    is at least ``MAX_EPOCH - 1``. If the id has no epoch yet, any producer may continue.
    """
    if current.producer_epoch == NO_PRODUCER_EPOCH or expected.producer_id == current.producer_id:
        return True
    return expected.producer_id == current.last_producer_id and expected.epoch >= MAX_EPOCH - 1


def _log_abort(metadata: TransactionMetadata) -> Callable[[Errors], None]:
    def respond(error: Errors) -> None:
        if error is not Errors.NONE:
            logger.warning("Cannot abort the transaction of %s: %s", metadata.transactional_id, error.name)

    return respond
