"""Decides which records of aborted transactions, and which markers, compaction may remove.

Kafka 0.11: core/.../log/LogCleaner.scala (CleanedTransactionMetadata) · book 6.1.6
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.record.control_record import ControlRecordType
from kafka_lite.record.record_batch import RecordBatch


class CleanedTransactionMetadata:
    """Tracks the transactions of a log while the cleaner reads it from the beginning.

    ::

        producer 7     T T T   C      T: batch of a transaction; C, A: its marker (commit, abort)
                       └ seen ┘└ the marker stays, for readers of the batches
        producer 9             A      there are no batches before it: the marker may be removed
        producer 5       T T       A  aborted: nobody may see the batches, so they are removed; the marker is not yet

    A reader that waits for the end of a transaction must find its marker as long as one of its batches remains.
    """

    def __init__(self, aborted: Iterable[AbortedTxn] = ()) -> None:
        """``aborted`` are the aborted transactions of the log, from its transaction indexes."""
        self._ongoing: set[int] = set()
        """Producer ids with batches since their last marker."""
        self._aborted = deque(sorted(aborted, key=lambda transaction: transaction.first_offset))
        """Aborted transactions that have not begun yet."""
        self._end_of_aborted: dict[int, int] = {}
        """The offset of the marker that ends the producer's current or last aborted transaction."""
        self.removed_markers: set[int] = set()
        """Offsets of the markers that the cleaning removes; the transaction index must lose them, too."""

    def on_batch_read(self, batch: RecordBatch) -> bool:
        """Record a data batch. Returns True if it belongs to an aborted transaction, so it must be removed."""
        if not batch.is_transactional:
            return False
        self._ongoing.add(batch.producer_id)
        last_offset = batch.last_offset
        while self._aborted and self._aborted[0].first_offset <= last_offset:
            begun = self._aborted.popleft()
            self._end_of_aborted[begun.producer_id] = begun.last_offset
        return last_offset < self._end_of_aborted.get(batch.producer_id, -1)

    def on_control_batch_read(self, batch: RecordBatch) -> bool:
        """Record a control batch. Returns True if no batch of its transaction remains, so that it may be removed."""
        marker = next(batch.records(), None)
        if marker is None:
            return True  # emptied by an earlier cleaning
        if ControlRecordType.parse(marker.key) is ControlRecordType.UNKNOWN:
            return False
        if batch.producer_id in self._ongoing:
            self._ongoing.remove(batch.producer_id)
            return False
        return True
