"""The verification of a transaction's first batch in a log: is the partition part of the transaction?

Kafka 3.6: storage/.../log/VerificationStateEntry.java, VerificationGuard.java · book 10.3
"""

from __future__ import annotations


class VerificationGuard:
    """Identifies one verification. No two guards are equal."""

    __slots__ = ()


class VerificationStateEntry:
    """The verification of one producer id, from its request until a batch or a marker of the producer is appended.

    ::

        Produce ─▶ guard 1 ─▶ ask the coordinator ─▶ "it is in" ─▶ append: is guard 1 still in place?
                                          marker ─▶ removes guard 1 ┘ no: INVALID_TXN_STATE

    Between the coordinator's response and the append, the transaction may end. Its marker removes the entry, so a late
    batch cannot begin a transaction that nobody will end. The next transaction has another guard.

    The entry also keeps the lowest sequence number that the producer has tried. If its verification fails and is
    retried, the batches after it must not be appended before it.

    If the producer's epoch is raised after every transaction (KIP-890), its next transaction may begin before the
    marker of the last one arrives. That marker has the epoch of the next transaction, whose entry it leaves in place.
    """

    __slots__ = ("epoch", "lowest_sequence", "supports_epoch_bump", "timestamp", "verification_guard")

    def __init__(self, timestamp: int, sequence: int, epoch: int, supports_epoch_bump: bool = False) -> None:
        self.timestamp = timestamp
        """When the verification began, in ms; determines when the entry expires."""
        self.verification_guard = VerificationGuard()
        self.lowest_sequence = sequence
        self.epoch = epoch
        self.supports_epoch_bump = supports_epoch_bump

    def maybe_update_lowest_sequence_and_epoch(self, sequence: int, epoch: int) -> None:
        """Note another attempt. A newer epoch begins with new sequence numbers; an older one changes nothing."""
        if epoch > self.epoch or (epoch == self.epoch and sequence < self.lowest_sequence):
            self.epoch, self.lowest_sequence = epoch, sequence
