"""Ends of transactions that raise the producer's epoch: EndTxn 5, and aborts with ``transaction.version`` 2 (KIP-890).

Kafka 4.1: core/.../coordinator/transaction/TransactionCoordinator.scala (endTransaction) · book 10.3
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.coordinator.transaction.transaction_metadata import (
    FIRST_VERSION_WITH_BUMPS,
    MAX_EPOCH,
    TransactionMetadata,
    TxnTransitMetadata,
    is_epoch_of_a_producer,
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
        PrepareCommit            INVALID_TXN_STATE       CONCURRENT_TRANSACTIONS          CONCURRENT_TRANSACTIONS
        PrepareAbort             CONCURRENT_TRANSACTIONS INVALID_TXN_STATE                CONCURRENT_TRANSACTIONS
        CompleteCommit           INVALID_TXN_STATE       None                             abort       INVALID_TXN_STATE
        CompleteAbort            None                    INVALID_TXN_STATE                abort       INVALID_TXN_STATE

    Raises ApiError: CONCURRENT_TRANSACTIONS while the producer must wait (``must_wait``), INVALID_PRODUCER_ID_MAPPING,
    and as in the table.

    The coordinator's own abort (``from_client`` is false) has a pending fence, and the epoch that it raises. Without
    the fence, another load of the partition has replaced the id meanwhile: CONCURRENT_TRANSACTIONS, too. It also
    reserves another id if the epochs are used up. (Kafka 4.1 does not: a producer that repeats its own abort gets
    MAX_EPOCH there, and then its next transaction can neither be ended nor time out.)
    """
    if not from_client:
        if metadata.pending_state is not _S.PREPARE_EPOCH_FENCE:
            raise Errors.CONCURRENT_TRANSACTIONS.exception()
        return _prepare_with_next_epoch(metadata, target, generate_producer_id, now_ms)
    current, state = metadata.current, metadata.state
    if metadata.must_wait(producer):
        raise Errors.CONCURRENT_TRANSACTIONS.exception()
    is_repeated = _is_repeated(current, producer)
    if producer.producer_id != current.producer_id and not is_repeated:
        raise Errors.INVALID_PRODUCER_ID_MAPPING.exception()
    is_current = producer.epoch == current.producer_epoch and is_epoch_of_a_producer(producer.epoch)
    if not _is_valid_epoch(state, is_repeated, is_current):
        raise Errors.PRODUCER_FENCED.exception()
    if is_repeated:
        if state is target:
            raise Errors.CONCURRENT_TRANSACTIONS.exception()
        if state is _COMPLETED_OF[target]:
            return None
    elif state is _S.ONGOING or target is _S.PREPARE_ABORT:
        return _prepare_with_next_epoch(metadata, target, generate_producer_id, now_ms)
    raise Errors.INVALID_TXN_STATE.exception(f"{metadata.transactional_id} is {state.title}")


def _prepare_with_next_epoch(
    metadata: TransactionMetadata, target: TransactionState, generate_producer_id: Callable[[], int], now_ms: int
) -> TxnTransitMetadata:
    try:
        next_id = generate_producer_id() if metadata.is_producer_epoch_exhausted else NO_PRODUCER_ID
    except ApiError:
        metadata.cancel()  # the fence, if there is one: the abort is tried again
        raise
    return metadata.prepare_bumped_abort_or_commit(target, next_id, now_ms)


def _is_repeated(current: TxnTransitMetadata, producer: ProducerIdAndEpoch) -> bool:
    """Whether an end of this kind has raised the producer's epoch to the current one, or replaced its id.

    If the last end was one of the first version, InitProducerId had done that, for another producer: this one must not
    get the epoch. (Kafka 4.1 gives it.) A coordinator before may have ended a transaction with MAX_EPOCH, and that is
    nobody's.
    """
    if current.client_transaction_version < FIRST_VERSION_WITH_BUMPS:
        return False
    if producer.producer_id == current.producer_id:
        is_given = is_epoch_of_a_producer(current.producer_after_the_end.epoch)
        return producer.epoch == current.producer_epoch - 1 and is_given
    is_last = producer == (current.last_producer_id, MAX_EPOCH - 1)
    return is_last and current.producer_epoch == 0


def _is_valid_epoch(state: TransactionState, is_repeated: bool, is_current: bool) -> bool:
    if state in PREPARED:
        return is_repeated
    return is_current or (is_repeated and state in FINISHED and state is not _S.EMPTY)
