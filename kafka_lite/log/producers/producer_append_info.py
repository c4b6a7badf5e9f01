"""Checks the batches of one producer in one append, and collects what the log is to remember of them.

Kafka 0.11: core/.../log/ProducerStateManager.scala (ProducerAppendInfo); since 3.5 ProducerAppendInfo.java · book 10.3
"""

from __future__ import annotations

import logging
from typing import Final

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_validator import AppendOrigin
from kafka_lite.log.producers.producer_state_entry import BatchMetadata, ProducerStateEntry
from kafka_lite.record.control_record import EndTransactionMarker
from kafka_lite.record.default_record_batch import DefaultRecordBatch, increment_sequence
from kafka_lite.record.record import NO_PRODUCER_EPOCH, NO_SEQUENCE

logger = logging.getLogger(__name__)

_CLIENT: Final = AppendOrigin.CLIENT  # found once, see record.record


class ProducerAppendInfo:
    """The state that a producer will have when the append has been written; until then nothing changes.

    ====================================  =====================================================================
    epoch of the batch                    what its first sequence number must be
    ====================================  =====================================================================
    older than the last one               none is right: INVALID_PRODUCER_EPOCH, a newer producer has taken over
    newer                                 0, or else OUT_OF_ORDER_SEQUENCE_NUMBER
    the same                              the last one + 1 (0 after 2**31 - 1), or else the same error
    the producer is not known (any more)  any: retention may have taken what it wrote before
    ====================================  =====================================================================

    What has come before is found earlier, by ``ProducerStateEntry.find_duplicate_batch``. Only clients' sequences are
    checked: what a leader has accepted, its followers and recovery take as it is.
    """

    def __init__(
        self, topic_partition: TopicPartition, current_entry: ProducerStateEntry, origin: AppendOrigin
    ) -> None:
        self._topic_partition = topic_partition
        self._current_entry = current_entry
        self._origin = origin
        self.updated_entry = current_entry.without_batches()

    @property
    def producer_id(self) -> int:
        """Whose batches these are."""
        return self.updated_entry.producer_id

    def append(self, batch: DefaultRecordBatch) -> None:
        """Check a batch that has its offsets, and take it in. A control batch must be there with its records.

        Raises ApiError: INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_TXN_STATE for data outside the
        transaction that the producer has open.
        """
        if not batch.is_control:
            self._append_data_batch(batch)
            return
        marker = next(batch.records(), None)
        if marker is not None:  # else all of the transaction has been compacted away
            self._check_producer_epoch(batch.producer_epoch, batch.base_offset)
            epoch = EndTransactionMarker.from_record(marker).coordinator_epoch
            self.updated_entry.end_transaction(batch.producer_epoch, epoch, marker.timestamp)

    def _append_data_batch(self, batch: DefaultRecordBatch) -> None:
        entry = self.updated_entry
        self._check_producer_epoch(batch.producer_epoch, batch.base_offset)
        if self._origin is _CLIENT:
            self._check_sequence(batch.producer_epoch, batch.base_sequence, batch.base_offset)
        if not batch.is_transactional and entry.current_txn_first_offset is not None:
            raise Errors.INVALID_TXN_STATE.exception(
                f"producer {entry.producer_id} has a transaction open in {self._topic_partition}, "
                f"but the batch at offset {batch.base_offset} is no part of it"
            )
        entry.add_batch(
            batch.producer_epoch,
            BatchMetadata(batch.last_sequence, batch.last_offset, batch.last_offset_delta, batch.max_timestamp),
        )
        if batch.is_transactional and entry.current_txn_first_offset is None:
            entry.current_txn_first_offset = batch.base_offset

    def _check_producer_epoch(self, producer_epoch: int, offset: int) -> None:
        """Raises ApiError INVALID_PRODUCER_EPOCH for an epoch that is over; what a leader says is only logged."""
        last_epoch = self.updated_entry.producer_epoch
        if producer_epoch >= last_epoch:
            return
        message = (
            f"Epoch of producer {self.producer_id} at offset {offset} in {self._topic_partition} is {producer_epoch}, "
            f"which is smaller than the last seen epoch {last_epoch}"
        )
        if self._origin is not AppendOrigin.REPLICATION:
            raise Errors.INVALID_PRODUCER_EPOCH.exception(message)
        logger.warning("%s", message)

    def _check_sequence(self, producer_epoch: int, first_seq: int, offset: int) -> None:
        """Whether the batch follows on the last one, or begins an epoch with 0.

        Raises ApiError OUT_OF_ORDER_SEQUENCE_NUMBER. Of whom nothing is known, any number is taken.
        """
        updated = self.updated_entry
        if producer_epoch != updated.producer_epoch:
            if first_seq != 0 and updated.producer_epoch != NO_PRODUCER_EPOCH:
                raise self._out_of_order(
                    offset, f"new epoch {producer_epoch} begins with {first_seq} instead of 0 (it was "
                    f"{updated.producer_epoch})"
                )  # fmt: skip
            return
        current = self._current_entry
        known = updated if not updated.is_empty or current.producer_epoch != producer_epoch else current
        last_seq = known.last_seq
        # An epoch that is known from a marker only, without a batch, begins with 0.
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
