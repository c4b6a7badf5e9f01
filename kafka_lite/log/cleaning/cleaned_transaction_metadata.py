"""Which transaction markers compaction may remove.

Kafka 0.11: core/.../log/LogCleaner.scala (CleanedTransactionMetadata) · book 6.1.6
"""

from __future__ import annotations

from kafka_lite.record.control_record import ControlRecordType
from kafka_lite.record.record_batch import RecordBatch


class CleanedTransactionMetadata:
    """Follows the transactions of a log while the cleaner goes through it, from the beginning.

    ::

        producer 7     T T T   C      T: batch of a transaction; C, A: its marker (commit, abort)
                       └ met ─┘└ the marker stays, for those who read the batches
        producer 9             A      no batch is left before it: the marker may go

    A reader that waits for the end of a transaction must find its marker as long as one of its batches is there.
    """

    def __init__(self) -> None:
        self._ongoing: set[int] = set()
        """Producer ids with batches since their last marker."""

    def on_batch_read(self, batch: RecordBatch) -> None:
        """A batch of data."""
        if batch.is_transactional:
            self._ongoing.add(batch.producer_id)

    def on_control_batch_read(self, batch: RecordBatch) -> bool:
        """A control batch; true when it ends a transaction of which no batch is left, so that it may be removed."""
        marker = next(batch.records(), None)
        if marker is None:
            return True  # emptied by an earlier cleaning
        if ControlRecordType.parse(marker.key) is ControlRecordType.UNKNOWN:
            return False
        if batch.producer_id in self._ongoing:
            self._ongoing.remove(batch.producer_id)
            return False
        return True
