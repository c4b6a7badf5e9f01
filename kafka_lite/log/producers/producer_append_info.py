"""Checks the batches of one producer in one append and collects its new state.

Kafka 0.11: core/.../log/ProducerStateManager.scala (ProducerAppendInfo); since 3.5 ProducerAppendInfo.java · book 10.3
"""

from __future__ import annotations

import logging
from typing import Final

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.producers.open_transactions import CompletedTxn
from kafka_lite.log.producers.producer_state_entry import BatchMetadata, ProducerStateEntry
from kafka_lite.log.producers.verification_state_entry import VerificationStateEntry
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.default_record_batch import DefaultRecordBatch, increment_sequence
from kafka_lite.record.record import NO_PRODUCER_EPOCH, NO_SEQUENCE

logger = logging.getLogger(__name__)

_CLIENT: Final = AppendOrigin.CLIENT  # looked up once, see record.record


class ProducerAppendInfo:
    """The producer's state after the append has been written; nothing changes before that.

    ====================================  =====================================================================
    epoch of the batch                    rule for its first sequence number
    ====================================  =====================================================================
    older than the last one               always INVALID_PRODUCER_EPOCH: a newer producer has taken over
    newer                                 must be 0, otherwise OUT_OF_ORDER_SEQUENCE_NUMBER
    the same                              must be the last one + 1 (0 after 2**31 - 1), otherwise the same error
    the producer is unknown (or expired)  any: retention may have deleted what it wrote before
    ====================================  =====================================================================

    Duplicates are found earlier, by ``ProducerStateEntry.find_duplicate_batch``. Sequence numbers are checked only for
    clients: followers and recovery accept what a leader has accepted.
    """

    def __init__(
        self,
        topic_partition: TopicPartition,
        current_entry: ProducerStateEntry,
        origin: AppendOrigin,
        verification: VerificationStateEntry | None = None,
    ) -> None:
        self._topic_partition = topic_partition
        self._current_entry = current_entry
        self._origin = origin
        self._verification = verification
        self.has_transactional = False
        """Whether a batch is part of a transaction, or ends one."""
        self.updated_entry = current_entry.without_batches()
        self.completed: list[CompletedTxn] = []
        """The transactions that the markers among the batches end."""

    @property
    def producer_id(self) -> int:
        """The producer id of these batches."""
        return self.updated_entry.producer_id

    @property
    def changes_transactions(self) -> bool:
        """Whether a transaction begins or ends in the append."""
        before = self._current_entry.current_txn_first_offset
        return bool(self.completed) or self.updated_entry.current_txn_first_offset != before

    def append(self, batch: DefaultRecordBatch) -> None:
        """Check a batch whose offsets have been assigned, and add it. A control batch must include its records.

        ``has_transactional`` becomes true with the first transactional batch, a marker included.

        A marker is checked for both its epochs, that of the producer first. It ends the producer's transaction, which
        is then added to ``completed`` if one was open. A control batch without a record changes nothing.

        Raises ApiError: INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_TXN_STATE for data outside the
        producer's open transaction, or TRANSACTION_COORDINATOR_FENCED for a marker of an old coordinator.
        """
        self.has_transactional = self.has_transactional or batch.is_transactional
        if not batch.is_control:
            self._append_data_batch(batch)
            return
        record = next(batch.records(), None)
        if record is None:  # compacted away
            return
        marker = EndTransactionMarker.from_record(record)
        self._check_producer_epoch(batch.producer_epoch, batch.base_offset)
        self._check_coordinator_epoch(marker.coordinator_epoch, batch.base_offset)
        first_offset = self.updated_entry.current_txn_first_offset
        if first_offset is not None:
            is_aborted = marker.control_type is ControlRecordType.ABORT
            self.completed.append(CompletedTxn(self.producer_id, first_offset, batch.last_offset, is_aborted))
        self.updated_entry.end_transaction(batch.producer_epoch, marker.coordinator_epoch, record.timestamp)

    def _append_data_batch(self, batch: DefaultRecordBatch) -> None:
        entry = self.updated_entry
        self._check_producer_epoch(batch.producer_epoch, batch.base_offset)
        if self._origin is _CLIENT:
            self._check_lowest_sequence(batch.base_sequence, batch.base_offset)
            self._check_sequence(batch.producer_epoch, batch.base_sequence, batch.base_offset)
        if not batch.is_transactional and entry.current_txn_first_offset is not None:
            raise Errors.INVALID_TXN_STATE.exception(
                f"producer {entry.producer_id} has a transaction open in {self._topic_partition}, "
                f"but the batch at offset {batch.base_offset} is not part of it"
            )
        entry.add_batch(
            batch.producer_epoch,
            BatchMetadata(batch.last_sequence, batch.last_offset, batch.last_offset_delta, batch.max_timestamp),
        )
        if batch.is_transactional and entry.current_txn_first_offset is None:
            entry.current_txn_first_offset = batch.base_offset

    def _check_producer_epoch(self, producer_epoch: int, offset: int) -> None:
        """Raise ApiError INVALID_PRODUCER_EPOCH for an old epoch; from a leader it is only logged."""
        last_epoch = self.updated_entry.producer_epoch
        if producer_epoch >= last_epoch:
            return
        message = (
            f"Epoch of producer {self.producer_id} at offset {offset} in {self._topic_partition} is {producer_epoch}, "
            f"which is smaller than the last seen epoch {last_epoch}"
        )
        self._refuse(Errors.INVALID_PRODUCER_EPOCH, message, logging.WARNING)

    def _check_coordinator_epoch(self, coordinator_epoch: int, offset: int) -> None:
        """Raise ApiError TRANSACTION_COORDINATOR_FENCED for an old epoch; from a leader it is only logged."""
        last_epoch = self.updated_entry.coordinator_epoch
        if coordinator_epoch >= last_epoch:
            return
        message = (
            f"Coordinator epoch of the marker of producer {self.producer_id} at offset {offset} in "
            f"{self._topic_partition} is {coordinator_epoch}, which is smaller than the last seen epoch {last_epoch}"
        )
        self._refuse(Errors.TRANSACTION_COORDINATOR_FENCED, message, logging.INFO)

    def _refuse(self, error: Errors, message: str, level: int) -> None:
        """Raise the error as ApiError; what a leader has accepted is only logged."""
        if self._origin is not AppendOrigin.REPLICATION:
            raise error.exception(message)
        logger.log(level, "%s", message)

    def _check_lowest_sequence(self, first_seq: int, offset: int) -> None:
        """Raise OUT_OF_ORDER_SEQUENCE_NUMBER if an earlier batch of the transaction has not been verified yet.

        A producer whose epoch is raised after every transaction begins with 0 where it is unknown, too.
        """
        is_bumped = self._verification is not None and self._verification.supports_epoch_bump
        if is_bumped and first_seq != 0 and self._current_entry.is_empty:
            raise self._out_of_order(offset, f"{first_seq} (incoming seq. number) instead of 0")
        if self._verification is not None and first_seq > self._verification.lowest_sequence:
            lowest = self._verification.lowest_sequence
            raise self._out_of_order(offset, f"{first_seq} (incoming seq. number), {lowest} (not verified yet)")

    def _check_sequence(self, producer_epoch: int, first_seq: int, offset: int) -> None:
        """Check that the batch follows the last one, or begins a new epoch with sequence number 0.

        An epoch of which no batch is known begins with 0, too. Raises ApiError OUT_OF_ORDER_SEQUENCE_NUMBER. For an
        unknown producer any number is accepted, in every batch of its first append.
        """
        updated = self.updated_entry
        if producer_epoch != updated.producer_epoch:
            if first_seq != 0 and updated.producer_epoch != NO_PRODUCER_EPOCH:
                raise self._out_of_order(
                    offset, f"new epoch {producer_epoch} starts with {first_seq} instead of 0 (last epoch: "
                    f"{updated.producer_epoch})"
                )  # fmt: skip
            return
        current = self._current_entry
        known = updated if not updated.is_empty or current.producer_epoch != producer_epoch else current
        last_seq = known.last_seq
        # An epoch known only from a marker, without batches, begins with 0.
        expected = 0 if last_seq == NO_SEQUENCE else increment_sequence(last_seq, 1)
        if current.producer_epoch != NO_PRODUCER_EPOCH and first_seq != expected:
            raise self._out_of_order(
                offset, f"{first_seq} (incoming seq. number), {last_seq} (current end sequence number)"
            )

    def _out_of_order(self, offset: int, what: str) -> ApiError:
        return Errors.OUT_OF_ORDER_SEQUENCE_NUMBER.exception(
            f"Out of order sequence number for producer {self.producer_id} at offset {offset} in "
            f"partition {self._topic_partition}: {what}"
        )
