"""The states of a transaction, and from which states each may be entered.

Kafka 0.11: core/.../coordinator/transaction/TransactionMetadata.scala (TransactionState) · book 10.3
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType


class TransactionState(IntEnum):
    """The state of a transactional id; the numbers are those of ``__transaction_state``."""

    EMPTY = 0
    """The producer has its id and epoch, and no transaction yet.

    Action: accept the first partitions of a transaction. Transition: to ONGOING with these, to EMPTY when a producer
    starts, to PREPARE_ABORT on an abort by EndTxn 5, to DEAD when the id expires.
    """
    ONGOING = 1
    """Partitions are in the transaction.

    Action: accept more of them, and EndTxn. Transition: to PREPARE_COMMIT or PREPARE_ABORT on EndTxn, to
    PREPARE_EPOCH_FENCE when another producer starts or the transaction times out.
    """
    PREPARE_COMMIT = 2
    """The decision to commit is in the coordinator's log.

    Action: send markers to all partitions; the producer's other requests get CONCURRENT_TRANSACTIONS. Transition: to
    COMPLETE_COMMIT when all markers are written.
    """
    PREPARE_ABORT = 3
    """The decision to abort is in the coordinator's log.

    Action: as in PREPARE_COMMIT. Transition: to COMPLETE_ABORT when all markers are written.
    """
    COMPLETE_COMMIT = 4
    """The transaction is committed: all partitions have its markers.

    Action: as in EMPTY; a repeated commit succeeds. Transition: as in EMPTY.
    """
    COMPLETE_ABORT = 5
    """The transaction is aborted: all partitions have its markers.

    Action: as in EMPTY; a repeated abort succeeds. Transition: as in EMPTY.
    """
    DEAD = 6
    """The id has expired. Action: write its tombstone, and forget it. This state is final."""
    PREPARE_EPOCH_FENCE = 7
    """Another producer starts, or the transaction has timed out. This state is never in the log.

    Action: raise the epoch, so that the producer cannot write any more. Transition: to PREPARE_ABORT at once.
    """

    @property
    def title(self) -> str:
        """The name in Kafka's tools: ``PrepareCommit``."""
        return "".join(word.title() for word in self.name.split("_"))


_S = TransactionState

VALID_PREVIOUS_STATES: Mapping[TransactionState, frozenset[TransactionState]] = MappingProxyType(
    {
        _S.EMPTY: frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT}),
        _S.ONGOING: frozenset({_S.ONGOING, _S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT}),
        _S.PREPARE_COMMIT: frozenset({_S.ONGOING}),
        _S.PREPARE_ABORT: frozenset(
            {_S.ONGOING, _S.PREPARE_EPOCH_FENCE, _S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT}
        ),
        _S.COMPLETE_COMMIT: frozenset({_S.PREPARE_COMMIT}),
        _S.COMPLETE_ABORT: frozenset({_S.PREPARE_ABORT}),
        _S.DEAD: frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT}),
        _S.PREPARE_EPOCH_FENCE: frozenset({_S.ONGOING}),
    }
)
"""The states from which each state may be entered.

::

                       AddPartitions              EndTxn(commit)                  markers written
    Empty ────────────────▶ Ongoing ─────────────────▶ PrepareCommit ────────────────▶ CompleteCommit
      ▲                      │  │  └ EndTxn(abort) ──▶ PrepareAbort ─────────────────▶ CompleteAbort
      │                      │  └ InitProducerId, timeout  ▶ PrepareEpochFence ▶ PrepareAbort      │
      └── InitProducerId ◀───┴──────────────────────────────────────────────────────────────── ◀──┘

With ``transaction.version`` 2, a producer may abort a transaction that has no partition yet, since it does not know
whether its first batch has arrived: from Empty, CompleteCommit and CompleteAbort to PrepareAbort.
"""

FINISHED = frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT})
"""No transaction is open: the id may expire, and a new transaction may begin."""
PREPARED = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
"""The decision is made, and markers are being written."""
