"""Decides which transaction markers compaction may remove.

Kafka 0.11: core/.../log/LogCleaner.scala (CleanedTransactionMetadata) · book 6.1.6
"""

from __future__ import annotations

from kafka_lite.record.control_record import ControlRecordType
from kafka_lite.record.record_batch import RecordBatch


class CleanedTransactionMetadata:
    """Tracks the transactions of a log while the cleaner reads it from the beginning.

    ::

        producer 7     T T T   C      T: batch of a transaction; C, A: its marker (commit, abort)
                       └ seen ┘└ the marker stays, for readers of the batches
        producer 9             A      there are no batches before it: the marker may be removed

    A reader that waits for the end of a transaction must find its marker as long as one of its batches remains.
    """

    def __init__(self) -> None:
        self._ongoing: set[int] = set()
        """Producer ids with batches since their last marker."""

    def on_batch_read(self, batch: RecordBatch) -> None:
        """Record a data batch."""
        if batch.is_transactional:
            self._ongoing.add(batch.producer_id)

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
