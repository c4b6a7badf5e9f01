"""The states of a producer's id and of its transactions, as a table.

Kafka 0.11: clients/.../producer/internals/TransactionManager.java (State) · book 10.3
"""

from __future__ import annotations

from enum import Enum, auto


class State(Enum):
    """The state of the producer id and, of a transactional producer, of its transaction."""

    UNINITIALIZED = auto()
    """action: request an id (with a transactional id: once ``init_transactions`` is called) · transition: INITIALIZING
    when the request is sent."""
    INITIALIZING = auto()
    """action: wait for the response · transition: READY, UNINITIALIZED on a retriable error, or DISABLED."""
    READY = auto()
    """action: assign sequence numbers to batches, or wait for ``begin_transaction`` · transition: IN_TRANSACTION, or
    UNINITIALIZED when a sequence number is lost for good."""
    IN_TRANSACTION = auto()
    """action: add partitions and offsets, number and send batches · transition: COMMITTING_TRANSACTION,
    ABORTING_TRANSACTION, or ABORTABLE_ERROR when a record or offset is lost."""
    COMMITTING_TRANSACTION = auto()
    """action: send all batches, then EndTxn · transition: READY, INITIALIZING for a new epoch, ABORTABLE_ERROR."""
    ABORTING_TRANSACTION = auto()
    """action: drop new batches, complete those that were sent before, then EndTxn · transition: READY, or
    INITIALIZING for a new epoch."""
    ABORTABLE_ERROR = auto()
    """action: fail every call but ``abort_transaction`` · transition: ABORTING_TRANSACTION."""
    DISABLED = auto()
    """action: send without numbers, to brokers that do not support them · transition: none."""
    FATAL_ERROR = auto()
    """action: fail every batch and every call · transition: none."""


VALID_PREVIOUS_STATES: dict[State, frozenset[State]] = {
    State.UNINITIALIZED: frozenset({State.INITIALIZING, State.READY}),
    State.INITIALIZING: frozenset({State.UNINITIALIZED, State.COMMITTING_TRANSACTION, State.ABORTING_TRANSACTION}),
    State.READY: frozenset({State.INITIALIZING, State.COMMITTING_TRANSACTION, State.ABORTING_TRANSACTION}),
    State.IN_TRANSACTION: frozenset({State.READY}),
    State.COMMITTING_TRANSACTION: frozenset({State.IN_TRANSACTION}),
    State.ABORTING_TRANSACTION: frozenset({State.IN_TRANSACTION, State.ABORTABLE_ERROR}),
    State.ABORTABLE_ERROR: frozenset({State.IN_TRANSACTION, State.COMMITTING_TRANSACTION}),
    State.DISABLED: frozenset({State.INITIALIZING}),
    State.FATAL_ERROR: frozenset(State),
}
