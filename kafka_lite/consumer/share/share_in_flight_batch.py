"""The records of one partition that a share consumer has been given, and what it has said about them.

Kafka 4.1: clients/.../consumer/internals/ShareCompletedFetch.java, ShareInFlightBatch.java · book 4.1.5
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import IllegalConsumerStateError, RecordDeserializationError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.record_batch_reader import BatchReader, Deserialize, MessageReader, RecordBatchReader
from kafka_lite.consumer.share.acknowledgements import AcknowledgeType
from kafka_lite.protocol.messages.api_78_share_fetch import AcquiredRecords
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.record import CorruptRecordError, InvalidRecordError
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.records import batches

logger = logging.getLogger(__name__)

MAX_RECORDS = 0x7FFF_FFFF


class ShareConsumerRecord(ConsumerRecord):
    """A record with the number of its deliveries, this one included."""

    delivery_count: int

    @classmethod
    def of(cls, record: ConsumerRecord, delivery_count: int) -> ShareConsumerRecord:
        """The record, delivered so often."""
        made = cls._make(record)
        made.delivery_count = delivery_count
        return made


class ShareInFlightBatch:
    """Records from one response of one broker.

    Acknowledgements go to that broker: only it knows that the records were acquired.
    """

    def __init__(self, node_id: int, partition: TopicPartition, tip: TopicIdPartition) -> None:
        self.node_id = node_id
        self.partition = partition
        self.tip = tip
        self.records: dict[int, ShareConsumerRecord] = {}
        """By offset: those that were not acknowledged yet."""
        self.acknowledged: dict[int, AcknowledgeType] = {}
        """By offset: what is to be sent."""
        self.error: KafkaError | None = None
        """Why a record cannot be read, to be raised by the poll that comes to it."""
        self._changeable: set[int] = set()
        """Offsets that the user has acknowledged, and may change its mind about until they are sent."""

    def holds(self, offset: int) -> bool:
        """Whether the user may say what has become of the record."""
        return offset in self.records or offset in self._changeable

    def acknowledge(self, offset: int, kind: AcknowledgeType) -> None:
        """The user says what has become of a record. Raises IllegalConsumerStateError if it is not in flight."""
        if not self.holds(offset):
            raise IllegalConsumerStateError("The record cannot be acknowledged.")
        self.acknowledged[offset] = kind
        self._changeable.add(offset)
        self.records.pop(offset, None)

    def acknowledge_all(self, kind: AcknowledgeType) -> None:
        """The same for all records that nothing was said about."""
        for offset in list(self.records):
            self.acknowledge(offset, kind)

    def take_acknowledged(self) -> dict[int, AcknowledgeType]:
        """The acknowledgements to send. They cannot be changed any more."""
        taken, self.acknowledged = self.acknowledged, {}
        self._changeable.clear()
        return taken


def read_acquired(
    batch: ShareInFlightBatch,
    records: Buffer | None,
    acquired: Sequence[AcquiredRecords],
    *,
    check_crcs: bool = True,
    deserialize_key: Deserialize | None = None,
    deserialize_value: Deserialize | None = None,
) -> None:
    """Read the acquired records of a response into the batch.

    ::

        batches from the log   │ 10 11 12 │ control │ 14 15 │ (compacted) │ 19 20 …
        acquired                  11–12 ─────────────────────────── 18
        the user gets             11 12               14 15
        acknowledged as gaps               13                  16 17 18

    The broker sends whole batches, so there are records of others among them. A record that cannot be deserialized is
    released, a batch that is corrupt is rejected; ``batch.error`` has the reason.
    """
    counts = {
        offset: each.delivery_count for each in acquired for offset in range(each.first_offset, each.last_offset + 1)
    }
    left = set(counts)
    for each in batches(records or b""):
        wanted = [offset for offset in range(each.base_offset, each.last_offset + 1) if offset in left]
        if wanted:
            left.difference_update(wanted)
            reader = _Reader(each, batch.partition, check_crcs, deserialize_key, deserialize_value)
            _read_batch(batch, reader, wanted, counts)
    for offset in left:
        batch.acknowledged[offset] = AcknowledgeType.GAP


def _read_batch(batch: ShareInFlightBatch, reader: _Reader, wanted: list[int], counts: dict[int, int]) -> None:
    missing = set(wanted)
    try:
        for record in reader.records():
            if isinstance(record, RecordDeserializationError):
                if record.offset in missing:
                    missing.discard(record.offset)
                    batch.acknowledged[record.offset] = AcknowledgeType.RELEASE
                    batch.error = batch.error or record
            elif record.offset in missing:
                missing.discard(record.offset)
                batch.records[record.offset] = ShareConsumerRecord.of(record, counts[record.offset])
    except (CorruptRecordError, InvalidRecordError) as failure:
        batch.error = CorruptRecordError(f"A batch of {batch.partition} is invalid, cause: {failure}")
        for offset in wanted:
            batch.records.pop(offset, None)
            batch.acknowledged[offset] = AcknowledgeType.REJECT
        return
    for offset in missing:
        batch.acknowledged[offset] = AcknowledgeType.GAP


class _Reader:
    """Reads one batch to its end, also past records that the user's deserializers refuse."""

    def __init__(
        self,
        batch: RecordBatch,
        partition: TopicPartition,
        check_crcs: bool,
        deserialize_key: Deserialize | None,
        deserialize_value: Deserialize | None,
    ) -> None:
        self._batch = batch
        self._partition = partition
        self._check_crcs = check_crcs
        self._deserialize = deserialize_key, deserialize_value

    def records(self) -> Iterator[ConsumerRecord | RecordDeserializationError]:
        """The records, or in place of one why it cannot be deserialized. Raises CorruptRecordError."""
        if self._check_crcs:
            self._batch.ensure_valid()
        if self._batch.is_control:
            return
        reader = self._reader_from(0)
        while True:
            try:
                taken = reader.take(MAX_RECORDS)
            except RecordDeserializationError as failure:
                yield failure
                reader = self._reader_from(failure.offset + 1)
                continue
            if not taken:
                return
            yield from taken

    def _reader_from(self, offset: int) -> BatchReader:
        key, value = self._deserialize
        if isinstance(self._batch, DefaultRecordBatch):
            return RecordBatchReader(self._batch, self._partition, key, value, offset)
        return MessageReader(self._batch, self._partition, key, value, offset)
