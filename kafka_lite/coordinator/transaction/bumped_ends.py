"""Ends of transactions that raise the producer's epoch: EndTxn 5, and aborts with ``transaction.version`` 2 (KIP-890).

Kafka 4.1: core/.../coordinator/transaction/TransactionCoordinator.scala (endTransaction) · book 10.3
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.coordinator.transaction.transaction_metadata import (
    FIRST_VERSION_WITH_BUMPS,
    MAX_EPOCH,
    TransactionMetadata,
    TxnTransitMetadata,
)
from kafka_lite.coordinator.transaction.transaction_state import FINISHED, PREPARED, TransactionState
from kafka_lite.record.record import NO_PRODUCER_ID

_S = TransactionState
_COMPLETED_OF = {_S.PREPARE_COMMIT: _S.COMPLETE_COMMIT, _S.PREPARE_ABORT: _S.COMPLETE_ABORT}


def prepare_bumped_end(
    metadata: TransactionMetadata,
    producer: ProducerIdAndEpoch,
    target: TransactionState,
    from_client: bool,
    generate_producer_id: Callable[[], int],
    now_ms: int,
) -> TxnTransitMetadata | None:
    """The decision, with the next epoch; None if it repeats a request whose end is in the log.

    ``target`` is PREPARE_COMMIT or PREPARE_ABORT. The epoch tells a repeated request from the next one::

        epoch of the request     one below the current (or the last of the id before)     the current one
                                 abort                   commit                           abort       commit
        Empty                    PRODUCER_FENCED         PRODUCER_FENCED                  abort       INVALID_TXN_STATE
        Ongoing                  PRODUCER_FENCED         PRODUCER_FENCED                  abort       commit
        PrepareCommit            INVALID_TXN_STATE       CONCURRENT_TRANSACTIONS          PRODUCER_FENCED
        PrepareAbort             CONCURRENT_TRANSACTIONS INVALID_TXN_STATE                PRODUCER_FENCED
        CompleteCommit           INVALID_TXN_STATE       None                             abort       INVALID_TXN_STATE
        CompleteAbort            None                    INVALID_TXN_STATE                abort       INVALID_TXN_STATE

    Raises ApiError: CONCURRENT_TRANSACTIONS while a transition is written (first, for the producer may have the id that
    is being written), INVALID_PRODUCER_ID_MAPPING, and as in the table. The coordinator's own abort (``from_client`` is
    false) has a pending fence, and the epoch that it raises.
    """
    current, state = metadata.current, metadata.state
    is_fence = metadata.pending_state is _S.PREPARE_EPOCH_FENCE
    if metadata.is_pending and (from_client or not is_fence):
        raise Errors.CONCURRENT_TRANSACTIONS.exception()
    is_after_overflow = (
        producer.producer_id == current.last_producer_id
        and producer.producer_id != current.producer_id
        and (producer.epoch, current.producer_epoch) == (MAX_EPOCH - 1, 0)
    )
    if producer.producer_id != current.producer_id and not is_after_overflow:
        raise Errors.INVALID_PRODUCER_ID_MAPPING.exception()
    is_repeated = not is_fence and (is_after_overflow or _is_epoch_before(current, producer))
    if not (is_fence or _is_valid_epoch(state, is_repeated, producer.epoch == current.producer_epoch)):
        raise Errors.PRODUCER_FENCED.exception()
    if is_repeated:
        if state is target:
            raise Errors.CONCURRENT_TRANSACTIONS.exception()
        if state is _COMPLETED_OF[target]:
            return None
    elif state is _S.ONGOING or target is _S.PREPARE_ABORT:
        is_exhausted = metadata.is_producer_epoch_exhausted and not is_fence
        next_id = generate_producer_id() if is_exhausted else NO_PRODUCER_ID
        return metadata.prepare_bumped_abort_or_commit(target, next_id, now_ms)
    raise Errors.INVALID_TXN_STATE.exception(f"{metadata.transactional_id} is {state.title}")


def _is_epoch_before(current: TxnTransitMetadata, producer: ProducerIdAndEpoch) -> bool:
    """Whether an end of this kind has raised the producer's epoch to the current one.

    If the last end was one of the first version, InitProducerId had raised the epoch, for another producer: this one
    must not get it. (Kafka 4.1 gives it.)
    """
    is_below = producer.epoch == current.producer_epoch - 1
    return is_below and current.client_transaction_version >= FIRST_VERSION_WITH_BUMPS


def _is_valid_epoch(state: TransactionState, is_repeated: bool, is_current: bool) -> bool:
    if state in PREPARED:
        return is_repeated
    return is_current or (is_repeated and state in FINISHED and state is not _S.EMPTY)
