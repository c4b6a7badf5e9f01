"""What a fetch has brought of one partition, and how far the user has come in it.

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
    """The answer for one partition, as it came."""

    partition: TopicPartition
    fetch_offset: int
    """The offset that was asked for."""
    data: PartitionData
    version: int
    """Of the Fetch answer."""
    on_drained: Callable[[TopicPartition, int, int], None]
    """``on_drained(partition, bytes, records)`` when all of it is consumed or thrown away: for the metrics."""


class PartitionRecords:
    """The records of a completed fetch, handed out in portions of ``max.poll.records``.

    ::

        batches of the answer   │ batch, from before the offset │ batch │ control batch │ aborted batch │ batch, cut off
        fetch_records               skip ─▶ records               ─▶      skipped         skipped         ignored

    Batches are checked and decompressed when their turn has come, and decoded as far as records are wanted.
    ``next_fetch_offset`` is where to go on: behind the last record handed out, or a batch without any for the user.

    With ``read_committed`` the answer lists the transactions that were aborted, by producer and first offset. Records
    of such a producer are skipped from that offset on, up to the marker (a control batch) that says that the
    transaction is over. What is behind the last stable offset the broker does not send.
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
        """Nothing more is wanted of it."""
        if not self.is_consumed:
            self.is_consumed = True
            self._reader = None
            self._batches = iter(())
            self._on_drained(self.partition, self.bytes_read, self.records_read)

    def fetch_records(self, limit: int) -> list[ConsumerRecord]:
        """The next records, at most ``limit``; none at the end.

        Raises CorruptRecordError or RecordDeserializationError when the next record is not readable, until the user
        seeks past it.
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
        """Take from the batch at hand; at its end go to the next, or be consumed."""
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
        """Whether the batch belongs to an aborted transaction; keeps track of which are going on."""
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
    """Whether at least one whole batch is in what a fetch has brought."""
    return records is not None and next(batches(records), None) is not None
