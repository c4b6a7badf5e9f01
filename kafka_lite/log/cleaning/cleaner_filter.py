"""Decides which records of a compacted log are retained.

Kafka 0.10.2: core/.../log/LogCleaner.scala (shouldRetainRecord); later checkBatchRetention · book 6.1.6
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from kafka_lite.log.cleaning.cleaned_transaction_metadata import CleanedTransactionMetadata
from kafka_lite.log.cleaning.cleaner_stats import CleanerStats
from kafka_lite.log.cleaning.offset_map import OffsetMap
from kafka_lite.log.producers.producer_state_manager import LastRecord
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.record_filter import BatchRetention, BatchRetentionResult, RecordFilter


class CleanerFilter(RecordFilter):
    """The retention rules of compaction.

    A record is retained if

    * the offset map does not cover its offset, or
    * no later record has its key, and it has a value or is a tombstone that is still needed.

    A tombstone (a null value) is needed as long as a reader may have seen the old value: a reader that started before
    the tombstone was written has ``delete.retention.ms`` to reach it. In v2 the batch stores the end of that period,
    its delete horizon; the first cleaning that retains a tombstone in the batch sets it. v0 and v1 have no field for
    it: their tombstones are retained as long as their segment was modified later than ``delete.retention.ms`` before
    the newest clean segment.

    A record without a key (written before the topic was compacted) is removed, and so is one of an aborted transaction.
    """

    def __init__(
        self,
        offset_map: OffsetMap,
        transactions: CleanedTransactionMetadata,
        last_records: Mapping[int, LastRecord],
        stats: CleanerStats,
        *,
        current_time_ms: int,
        delete_retention_ms: int,
        upper_bound_offset: int,
    ) -> None:
        """``upper_bound_offset`` is the end of this cleaning (exclusive)."""
        super().__init__(current_time_ms, delete_retention_ms)
        self._offset_map = offset_map
        self._latest_offset = offset_map.latest_offset
        self._transactions = transactions
        self._last_records = last_records
        self._stats = stats
        self._upper_bound_offset = upper_bound_offset
        self._discard_records = False
        self.retain_legacy_deletes = True
        """Whether v0 and v1 tombstones in the current segment are retained."""

    @property
    def removed_markers(self) -> Set[int]:
        """The offsets of the transaction markers that were removed so far."""
        return self._transactions.removed_markers

    def check_batch_retention(self, batch: RecordBatch) -> BatchRetentionResult:
        """Retain a batch that the log still needs even if it is empty."""
        marker_for_empty_txn = False
        self._discard_records = False
        if batch.is_control:
            marker_for_empty_txn = self._transactions.on_control_batch_read(batch)
            self._discard_records = marker_for_empty_txn and self._is_past_delete_horizon(batch)
            if self._discard_records:
                self._transactions.removed_markers.add(batch.last_offset)
        else:
            self._discard_records = self._transactions.on_batch_read(batch)
        # The last batch of a cleaning is retained even if it is empty, because it marks the log's end offset.
        if self._is_last_of_producer(batch) or batch.next_offset == self._upper_bound_offset:
            retention = BatchRetention.RETAIN_EMPTY
        else:
            retention = BatchRetention.DELETE if self._discard_records else BatchRetention.DELETE_EMPTY
        return BatchRetentionResult(retention, marker_for_empty_txn)

    def _is_last_of_producer(self, batch: RecordBatch) -> bool:
        """Whether the batch is a known producer's last data batch, or if it has none, a control batch of its epoch."""
        last = self._last_records.get(batch.producer_id) if batch.has_producer_id else None
        if last is None:
            return False
        if last.last_data_offset is not None:
            return batch.last_offset == last.last_data_offset
        return batch.is_control and batch.producer_epoch == last.producer_epoch

    def _is_past_delete_horizon(self, batch: RecordBatch) -> bool:
        horizon_ms = batch.delete_horizon_ms if isinstance(batch, DefaultRecordBatch) else None
        return horizon_ms is not None and horizon_ms <= self.current_time_ms

    def should_retain_record(self, batch: RecordBatch, offset: int, key: bytes | None, has_value: bool) -> bool:
        """Apply the rules above; control records are retained or removed with their batch."""
        if self._discard_records:
            return False
        if batch.is_control or offset > self._latest_offset:
            return True
        if key is None:
            self._stats.invalid_messages_read += 1
            return False
        return offset >= self._offset_map.get(key) and (has_value or self._retain_deletes(batch))

    def _retain_deletes(self, batch: RecordBatch) -> bool:
        return self.retain_legacy_deletes if batch.magic < MAGIC_V2 else not self._is_past_delete_horizon(batch)
