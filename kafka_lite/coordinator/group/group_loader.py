"""Restores groups and offsets from a partition of ``__consumer_offsets``, which is read from its beginning.

Kafka 0.10.2: core/.../coordinator/GroupMetadataManager.scala (loadGroupsForPartition) · book 7.2.3
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group import group_metadata_records as group_records
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.modern import consumer_group_records
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.share import share_group_records
from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup
from kafka_lite.coordinator.group.offset_cache import CommittedOffset
from kafka_lite.log.log import Log
from kafka_lite.protocol.messages.group_records import GroupMetadataKey, OffsetCommitKey
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.record.control_record import ControlRecordType
from kafka_lite.record.record import Record
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.records import batches

logger = logging.getLogger(__name__)

GroupOffset = tuple[str, TopicPartition]
"""The group, and the partition whose offset it committed."""


def batches_of(log: Log, max_bytes: int) -> Iterator[RecordBatch]:
    """All batches of a log, read ``max_bytes`` at a time, or more for a single batch that is larger."""
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        read = log.read(offset, max_bytes, min_one_message=True).records
        at_start = offset
        for batch in batches(read if isinstance(read, Buffer) else read.to_bytes()):
            if batch.last_offset >= offset:
                yield batch
                offset = batch.next_offset
        if offset == at_start:
            return  # the rest was compacted away


@dataclass
class GroupLoader:
    """The state after the records so far. The last value of each key counts; a tombstone removes the key.

    Offsets committed in a transaction count once its commit marker is read, and never after an abort (KIP-98).
    """

    time: Time
    offsets: dict[GroupOffset, CommittedOffset] = field(default_factory=dict)
    groups: dict[str, GroupMetadata] = field(default_factory=dict)
    modern_groups: dict[str, ConsumerGroup] = field(default_factory=dict)
    """Groups of KIP-848."""
    share_groups: dict[str, ShareGroup] = field(default_factory=dict)
    removed_groups: set[str] = field(default_factory=set)
    """Groups whose last record is a tombstone."""
    _open_transactions: dict[int, dict[GroupOffset, CommittedOffset | None]] = field(default_factory=dict)

    def add_batch(self, batch: RecordBatch) -> None:
        """Apply the records of one batch. A record that cannot be decoded is logged and skipped."""
        if batch.is_control:
            self._end_transaction(batch)
            return
        for record in batch.records():
            try:
                self._add_record(record, batch)
            except SchemaError as failure:
                logger.error("Skipping the record at offset %d of __consumer_offsets: %s", record.offset, failure)

    def _add_record(self, record: Record, batch: RecordBatch) -> None:
        key = group_records.read_key(record.key or b"")
        match key:
            case OffsetCommitKey():
                self._add_offset((key.group, TopicPartition(key.topic, key.partition)), record, batch)
            case GroupMetadataKey():
                self._add_group(key.group, record.value)
            case None:
                self._add_modern(record)

    def _add_modern(self, record: Record) -> None:
        key = consumer_group_records.KINDS.read_key(record.key or b"")
        if key is None:
            self._add_share(record)
            return
        group = self.modern_groups.setdefault(key.group_id, ConsumerGroup(key.group_id))
        group.replay((key, consumer_group_records.KINDS.read_value(key, record.value)))

    def _add_share(self, record: Record) -> None:
        key = share_group_records.KINDS.read_key(record.key or b"")
        if key is None:
            # Left behind by a later version of Kafka, after a downgrade.
            logger.warning("Ignoring the record with an unknown key at offset %d", record.offset)
            return
        group = self.share_groups.setdefault(key.group_id, ShareGroup(key.group_id))
        group.replay((key, share_group_records.KINDS.read_value(key, record.value)))

    def _add_offset(self, whose: GroupOffset, record: Record, batch: RecordBatch) -> None:
        committed = None
        if record.value is not None:
            committed = CommittedOffset(batch.base_offset, group_records.read_offset_value(record.value))
        if batch.is_transactional:
            self._open_transactions.setdefault(batch.producer_id, {})[whose] = committed
        else:
            self._apply(whose, committed)

    def _apply(self, whose: GroupOffset, committed: CommittedOffset | None) -> None:
        if committed is None:
            self.offsets.pop(whose, None)
        else:
            self.offsets[whose] = committed

    def _end_transaction(self, batch: RecordBatch) -> None:
        ended = self._open_transactions.pop(batch.producer_id, {})
        marker = next(iter(batch.records()), None)
        if marker is None or ControlRecordType.parse(marker.key) is not ControlRecordType.COMMIT:
            return
        for whose, committed in ended.items():
            known = self.offsets.get(whose)
            # A later commit outside the transaction is newer, even though the marker comes last.
            if known is None or committed is None or known.appended_offset < committed.appended_offset:
                self._apply(whose, committed)

    def _add_group(self, group_id: str, value: bytes | None) -> None:
        if value is None:
            self.groups.pop(group_id, None)
            self.removed_groups.add(group_id)
        else:
            self.groups[group_id] = group_records.read_group_value(group_id, value, self.time)
            self.removed_groups.discard(group_id)

    def finish(self) -> list[GroupMetadata]:
        """The groups with their offsets, including those of open transactions.

        Offsets without a group record get an empty group.
        """
        for (group_id, topic_partition), committed in self.offsets.items():
            group = self.groups.get(group_id)
            if group is None:
                group = self.groups[group_id] = GroupMetadata(group_id, self.time)
            group.offsets.initialize({topic_partition: committed})
        for group_id, modern in self.modern_groups.items():
            if modern.has_records:
                self.groups.setdefault(group_id, GroupMetadata(group_id, self.time)).modern = modern
        for group_id, share in self.share_groups.items():
            if share.has_records:
                self.groups.setdefault(group_id, GroupMetadata(group_id, self.time)).share = share
        for producer_id, offsets in self._open_transactions.items():
            self._add_open_transaction(producer_id, offsets)
        return list(self.groups.values())

    def _add_open_transaction(self, producer_id: int, offsets: Mapping[GroupOffset, CommittedOffset | None]) -> None:
        for (group_id, topic_partition), committed in offsets.items():
            if committed is not None:
                group = self.groups.setdefault(group_id, GroupMetadata(group_id, self.time))
                group.offsets.initialize_txn(producer_id, {topic_partition: committed})
