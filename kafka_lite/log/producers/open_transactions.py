"""The transactions of a log that readers of committed records must wait for, and so the last stable offset.

Kafka 0.11: core/.../log/ProducerStateManager.scala (ongoingTxns, unreplicatedTxns) · book 10.3
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from kafka_lite.log.producers.aborted_txn import AbortedTxn


class CompletedTxn(NamedTuple):
    """A transaction whose marker is in the log."""

    producer_id: int
    first_offset: int
    last_offset: int
    """That of the marker."""
    is_aborted: bool


class OpenTransactions:
    """Transactions without a marker, and those whose marker lies at or above the high watermark.

    ::

        offsets          40    42          45          48      HW = 48
        producer 7        T     ·     ·     ·     C     ·      committed at 46: decided, but is its marker replicated?
        producer 9        ·     T     ·     T     ·     ·      open
                                └ last stable offset = 42: nothing from here on may be read as committed yet

    A transaction stops counting when its marker is below the high watermark: until then, another leader might never
    have seen the marker. The object does not change, so that readers need no lock; ``after`` returns the next one.
    """

    __slots__ = ("_first_unended", "ended", "is_empty", "unended")

    def __init__(self, unended: Mapping[int, int] | None = None, ended: tuple[CompletedTxn, ...] = ()) -> None:
        self.unended: Mapping[int, int] = MappingProxyType(dict(unended or {}))
        """Producer ids by the first offset of their open transactions."""
        self.ended = ended
        """Transactions whose markers may not be replicated yet, in the order of the markers."""
        self.is_empty = not self.unended and not ended
        self._first_unended = min(self.unended, default=None)

    def first_unstable_offset(self, high_watermark: int) -> int | None:
        """The first offset of the earliest transaction that is open or not replicated; None if there is none."""
        first = self._first_unended
        for transaction in self.ended:
            if transaction.last_offset >= high_watermark and (first is None or transaction.first_offset < first):
                first = transaction.first_offset
        return first

    def after(
        self, begun: Iterable[tuple[int, int]], completed: Iterable[CompletedTxn]
    ) -> tuple[OpenTransactions, list[AbortedTxn]]:
        """The transactions after an append, and the entries of its aborted ones for the transaction index.

        ``begun`` are (first offset, producer id) of transactions that are open after the append.
        """
        unended = dict(self.unended)
        unended.update(begun)
        in_order = sorted(completed, key=lambda transaction: transaction.last_offset)
        # A transaction may begin and end in one append, of a follower.
        unended.update((transaction.first_offset, transaction.producer_id) for transaction in in_order)
        aborted = []
        for transaction in in_order:
            del unended[transaction.first_offset]
            if transaction.is_aborted:
                stable = min(unended, default=transaction.last_offset + 1)
                aborted.append(AbortedTxn(*transaction[:3], min(stable, transaction.last_offset + 1)))
        return OpenTransactions(unended, (*self.ended, *in_order)), aborted

    def replicated_up_to(self, high_watermark: int) -> OpenTransactions:
        """Without the transactions whose markers are below the high watermark; this object if there are none."""
        ended = tuple(each for each in self.ended if each.last_offset >= high_watermark)
        return self if len(ended) == len(self.ended) else OpenTransactions(self.unended, ended)
