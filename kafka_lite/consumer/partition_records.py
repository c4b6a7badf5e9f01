"""The records of one partition from one fetch, and the user's position in them.

Kafka 0.10.2: clients/.../consumer/internals/Fetcher.java (CompletedFetch, PartitionRecords) · book 4.1.5
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

from kafka_lite.common.sendable import Buffer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import RecordDeserializationError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.record_batch_reader import BatchReader, Deserialize, MessageReader, RecordBatchReader
from kafka_lite.protocol.messages.api_01_fetch import PartitionData
from kafka_lite.record.control_record import ControlRecordType
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.record import CorruptRecordError, InvalidRecordError
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.records import batches

logger = logging.getLogger(__name__)


class CompletedFetch(NamedTuple):
    """The response for one partition."""

    partition: TopicPartition
    fetch_offset: int
    """The offset that was requested."""
    data: PartitionData
    version: int
    """Version of the Fetch response."""
    on_drained: Callable[[TopicPartition, int, int], None]
    """``on_drained(partition, bytes, records)``, called when all of it is consumed or discarded: for the metrics."""


class PartitionRecords:
    """The records of a completed fetch, handed out in portions of ``max.poll.records``.

    ::

        batches of the response │ batch, from before the offset │ batch │ control batch │ aborted batch │ batch, cut off
        fetch_records               skip ─▶ records               ─▶      skipped         skipped         ignored

    A batch is checked and decompressed when it is reached, and decoded as far as records are taken.
    ``next_fetch_offset`` is the offset behind the last record handed out, or behind a batch that was skipped.

    With ``read_committed`` the response lists the aborted transactions by producer and first offset. Records of such a
    producer are skipped from that offset up to the marker (a control batch) that ends the transaction. The broker sends
    nothing behind the last stable offset.
    """

    def __init__(
        self,
        fetch: CompletedFetch,
        *,
        check_crcs: bool = True,
        read_committed: bool = False,
        deserialize_key: Deserialize | None = None,
        deserialize_value: Deserialize | None = None,
    ) -> None:
        self.partition = fetch.partition
        self.next_fetch_offset = fetch.fetch_offset
        self.is_consumed = False
        self.bytes_read = 0
        self.records_read = 0
        self._on_drained = fetch.on_drained
        self._check_crcs = check_crcs
        self._read_committed = read_committed
        self._deserialize_key = deserialize_key
        self._deserialize_value = deserialize_value
        self._batches: Iterator[RecordBatch] = batches(cast(Buffer, fetch.data.records or b""))
        self._batch: RecordBatch | None = None
        self._reader: BatchReader | None = None
        self._aborted_producer_ids: set[int] = set()
        self._aborted_transactions = [
            (each.first_offset, each.producer_id) for each in fetch.data.aborted_transactions or ()
        ]
        heapq.heapify(self._aborted_transactions)
        self._error: Exception | None = None

    def drain(self) -> None:
        """Discard what has not been taken."""
        if not self.is_consumed:
            self.is_consumed = True
            self._reader = None
            self._batches = iter(())
            self._on_drained(self.partition, self.bytes_read, self.records_read)

    def fetch_records(self, limit: int) -> list[ConsumerRecord]:
        """The next records, at most ``limit``; none at the end.

        Raises CorruptRecordError or RecordDeserializationError if the next record cannot be read, until the user seeks
        past it.
        """
        if self._error is not None:
            raise self._error
        records: list[ConsumerRecord] = []
        try:
            while len(records) < limit and not self.is_consumed:
                self._fetch_from_batch(limit - len(records), records)
        except (CorruptRecordError, InvalidRecordError) as error:
            at = f"partition {self.partition} at offset {self.next_fetch_offset}"
            self._error = CorruptRecordError(f"Record for {at} is invalid, cause: {error}")
        except RecordDeserializationError as failure:  # (mypyc has one type for a name, so not "error" again)
            self._error = failure
        if self._error is not None and not records:
            raise self._error
        return records

    def _fetch_from_batch(self, limit: int, records: list[ConsumerRecord]) -> None:
        """Take records from the current batch; at its end go to the next one."""
        reader = self._reader
        if reader is not None and (taken := reader.take(limit)):
            self.next_fetch_offset = taken[-1].offset + 1
            self.records_read += len(taken)
            records += taken
            if len(taken) == limit or not reader.is_at_end:
                return
        if self._batch is not None:  # compaction may have removed its last records
            self.next_fetch_offset = max(self.next_fetch_offset, self._batch.next_offset)
        self._next_batch()

    def _next_batch(self) -> None:
        self._reader = None
        self._batch = batch = next(self._batches, None)
        if batch is None:
            self.drain()
            return
        if self._check_crcs:
            batch.ensure_valid()
        self.bytes_read += batch.size_in_bytes
        if not isinstance(batch, DefaultRecordBatch):
            if batch.last_offset >= self.next_fetch_offset:
                self._reader = MessageReader(
                    batch, self.partition, self._deserialize_key, self._deserialize_value, self.next_fetch_offset
                )
            return
        if self._read_committed and batch.has_producer_id and self._is_aborted(batch):
            logger.debug("Skipping aborted batch of %s at offset %d", self.partition, batch.base_offset)
        elif not batch.is_control and batch.last_offset >= self.next_fetch_offset:
            self._reader = RecordBatchReader(
                batch, self.partition, self._deserialize_key, self._deserialize_value, self.next_fetch_offset
            )

    def _is_aborted(self, batch: DefaultRecordBatch) -> bool:
        """Whether the batch belongs to an aborted transaction; keeps track of those that are open here."""
        while self._aborted_transactions and self._aborted_transactions[0][0] <= batch.last_offset:
            self._aborted_producer_ids.add(heapq.heappop(self._aborted_transactions)[1])
        if _is_abort_marker(batch):
            self._aborted_producer_ids.discard(batch.producer_id)
            return False
        return batch.is_transactional and batch.producer_id in self._aborted_producer_ids


def _is_abort_marker(batch: DefaultRecordBatch) -> bool:
    if not batch.is_control:
        return False
    first = next(batch.records(), None)
    return first is not None and ControlRecordType.parse(first.key) is ControlRecordType.ABORT


def has_complete_batch(records: Buffer | None) -> bool:
    """Whether there is at least one complete batch."""
    return records is not None and next(batches(records), None) is not None
