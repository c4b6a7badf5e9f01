"""Finds the transactions that the batches of a log open and end, for rebuilding a transaction index.

Kafka 0.11: core/.../log/LogSegment.scala (recover, updateProducerState) · book 10.3
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.log.producers.open_transactions import CompletedTxn, OpenTransactions
from kafka_lite.log.producers.producer_state_entry import ProducerStateEntry
from kafka_lite.record.control_record import ControlRecordType
from kafka_lite.record.record_batch import RecordBatch


class TransactionReplay:
    """Follows a log batch by batch, without the checks of an append: what is in the log has passed them."""

    def __init__(self, producers: Iterable[ProducerStateEntry] = ()) -> None:
        """``producers`` are the entries of the snapshot from which the replay starts."""
        self._first_offsets = {
            entry.producer_id: entry.current_txn_first_offset
            for entry in producers
            if entry.current_txn_first_offset is not None
        }

    def add(self, batch: RecordBatch) -> list[AbortedTxn]:
        """Process a batch with a producer id, a control batch with its records; return the transaction it aborts."""
        if not batch.is_control:
            if batch.is_transactional:
                self._first_offsets.setdefault(batch.producer_id, batch.base_offset)
            return []
        marker = next(batch.records(), None)
        if marker is None:
            return []
        control_type = ControlRecordType.parse(marker.key)
        first_offset = self._first_offsets.get(batch.producer_id)
        if control_type is ControlRecordType.UNKNOWN or first_offset is None:
            return []
        before = OpenTransactions({first: producer_id for producer_id, first in self._first_offsets.items()})
        del self._first_offsets[batch.producer_id]
        is_aborted = control_type is ControlRecordType.ABORT
        _, aborted = before.after((), [CompletedTxn(batch.producer_id, first_offset, batch.last_offset, is_aborted)])
        return aborted
