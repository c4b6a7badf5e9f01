"""Removes records from batches, and keeps of each batch what must stay: the core of log compaction.

Kafka 0.10.2: clients/.../common/record/MemoryRecords.java (filterTo) · book 6.1.6
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple, cast

from kafka_lite.record.compression import compress
from kafka_lite.record.default_record import with_timestamp_delta
from kafka_lite.record.default_record_batch import (
    CONTROL_FLAG_MASK,
    DELETE_HORIZON_FLAG_MASK,
    TRANSACTIONAL_FLAG_MASK,
    DefaultRecordBatch,
    decode_all,
    encode_batch,
)
from kafka_lite.record.fast.decode import decode_partial_records
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.message_set import MessageAndOffset
from kafka_lite.record.record import MAGIC_V2, NO_TIMESTAMP, Record, TimestampType
from kafka_lite.record.record_batch import CODEC_MASK, TIMESTAMP_TYPE_MASK, RecordBatch

_KEPT_FLAGS = CODEC_MASK | TIMESTAMP_TYPE_MASK | TRANSACTIONAL_FLAG_MASK | CONTROL_FLAG_MASK | DELETE_HORIZON_FLAG_MASK


class BatchRetention(Enum):
    """How a batch is retained."""

    DELETE = "delete"
    """It is removed, with all of its records."""
    RETAIN_EMPTY = "retain empty"
    """It stays, even without records, since its last offset and sequence number are still needed."""
    DELETE_EMPTY = "delete empty"
    """It is removed if none of its records stays."""


class BatchRetentionResult(NamedTuple):
    """A filter's decision on a batch."""

    retention: BatchRetention
    contains_marker_for_empty_txn: bool = False
    """Whether it is the marker of a transaction without remaining records, which may be removed later."""


class RecordFilter(ABC):
    """Decides which records stay."""

    def __init__(self, current_time_ms: int, delete_retention_ms: int) -> None:
        self.current_time_ms = current_time_ms
        self.delete_retention_ms = delete_retention_ms

    @abstractmethod
    def check_batch_retention(self, batch: RecordBatch) -> BatchRetentionResult:
        """Called once for each batch, before its records."""

    @abstractmethod
    def should_retain_record(self, batch: RecordBatch, offset: int, key: bytes | None, has_value: bool) -> bool:
        """Whether a record stays. Not called for a batch that is deleted."""


class FilteredBatch(NamedTuple):
    """The retained part of a batch, with the numbers that the log needs. ``data`` is empty if nothing is left."""

    data: bytes | memoryview
    messages_read: int = 0
    messages_retained: int = 0
    first_offset: int = -1
    last_offset: int = -1
    max_timestamp: int = NO_TIMESTAMP
    magic: int = MAGIC_V2


def filter_batch(batch: RecordBatch, record_filter: RecordFilter) -> FilteredBatch:
    """The batch without the records that the filter does not retain.

    A batch whose records all stay is returned as it is, byte for byte. Otherwise it is rebuilt with the same offsets,
    format, codec and producer. A v2 batch keeps its first and last offset, and so its sequence numbers, even without
    any record; v0 and v1 have no empty batches.

    When tombstones stay in a v2 batch for the first time, the batch gets a *delete horizon*: the time after which they
    may be removed. It replaces the base timestamp, so the records get new timestamp deltas.

    Raises ``CorruptRecordError`` or ``InvalidRecordError`` if the batch cannot be read. A wrong checksum is never
    replaced by a right one.
    """
    retention, contains_marker_for_empty_txn = record_filter.check_batch_retention(batch)
    if retention is BatchRetention.DELETE:
        return FilteredBatch(b"")
    if batch.magic < MAGIC_V2:
        return _filter_messages(cast(MessageAndOffset, batch), record_filter)
    return _filter_records(cast(DefaultRecordBatch, batch), record_filter, retention, contains_marker_for_empty_txn)


def _unchanged(batch: RecordBatch, first_offset: int, messages: int) -> FilteredBatch:
    return FilteredBatch(
        batch.view, messages, messages, first_offset, batch.last_offset, batch.max_timestamp, batch.magic
    )


# --- v2 ---

_EncodedRecord = tuple[int, int, int]
"""Where a record begins and ends among the encoded records of its batch, and its timestamp delta."""


def _filter_records(
    batch: DefaultRecordBatch,
    record_filter: RecordFilter,
    retention: BatchRetention,
    contains_marker_for_empty_txn: bool,
) -> FilteredBatch:
    count, base_offset = batch.record_count, batch.base_offset
    data = batch.records_data() if count else b""
    should_retain = record_filter.should_retain_record
    retained: list[_EncodedRecord] = []
    contains_tombstones = False
    start = 0
    for timestamp_delta, offset_delta, key, has_value, end in decode_all(data, count, decode_partial_records):
        if should_retain(batch, base_offset + offset_delta, key, has_value):
            retained.append((start, end, timestamp_delta))
            if not has_value:
                contains_tombstones = True
        start = end
    if not retained:
        return _empty_batch(batch) if retention is BatchRetention.RETAIN_EMPTY else FilteredBatch(b"", count)
    needs_delete_horizon = (contains_tombstones or contains_marker_for_empty_txn) and batch.delete_horizon_ms is None
    if len(retained) == count and not needs_delete_horizon:
        return _unchanged(batch, base_offset, count)
    batch.ensure_valid()
    horizon_ms = record_filter.current_time_ms + record_filter.delete_retention_ms if needs_delete_horizon else None
    return _rebuilt_batch(batch, data, retained, horizon_ms)


def _rebuilt_batch(
    batch: DefaultRecordBatch, data: bytes, retained: list[_EncodedRecord], new_delete_horizon_ms: int | None
) -> FilteredBatch:
    """A batch of the retained records. Their bytes stay the same unless the base timestamp changes."""
    base_timestamp, attributes = batch.base_timestamp, batch.attributes & _KEPT_FLAGS
    if new_delete_horizon_ms is None:
        records = b"".join([data[start:end] for start, end, _ in retained])
    else:
        shift = base_timestamp - new_delete_horizon_ms
        records = b"".join([with_timestamp_delta(data[start:end], delta + shift) for start, end, delta in retained])
        attributes |= DELETE_HORIZON_FLAG_MASK
    is_stamped = batch.timestamp_type is TimestampType.LOG_APPEND_TIME  # then the time of all records is in the header
    max_timestamp = batch.max_timestamp if is_stamped else base_timestamp + max(delta for *_, delta in retained)
    rebuilt = encode_batch(
        compress(batch.compression, records, MAGIC_V2),
        base_offset=batch.base_offset,
        last_offset_delta=batch.last_offset_delta,
        attributes=attributes,
        base_timestamp=base_timestamp if new_delete_horizon_ms is None else new_delete_horizon_ms,
        max_timestamp=max_timestamp,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        partition_leader_epoch=batch.partition_leader_epoch,
        record_count=len(retained),
    )
    return FilteredBatch(
        rebuilt, batch.record_count, len(retained), batch.base_offset, batch.last_offset, max_timestamp
    )


def _empty_batch(batch: DefaultRecordBatch) -> FilteredBatch:
    """The header of a batch without records, for which codec and delete horizon mean nothing."""
    kept_flags = TIMESTAMP_TYPE_MASK | TRANSACTIONAL_FLAG_MASK | CONTROL_FLAG_MASK
    header = encode_batch(
        b"",
        base_offset=batch.base_offset,
        last_offset_delta=batch.last_offset_delta,
        attributes=batch.attributes & kept_flags,
        base_timestamp=NO_TIMESTAMP,
        max_timestamp=batch.max_timestamp,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        partition_leader_epoch=batch.partition_leader_epoch,
        record_count=0,
    )
    return FilteredBatch(header, batch.record_count, 0, batch.base_offset, batch.last_offset, batch.max_timestamp)


# --- v0 and v1 ---


def _filter_messages(batch: MessageAndOffset, record_filter: RecordFilter) -> FilteredBatch:
    """A message, or the messages inside a wrapper."""
    if not batch.is_compressed:
        return _filter_message(batch, record_filter)
    records = list(batch.records())
    should_retain = record_filter.should_retain_record
    retained = [r for r in records if should_retain(batch, r.offset, r.key, r.value is not None)]
    if not retained:
        return FilteredBatch(b"", len(records))
    if len(retained) == len(records):
        return _unchanged(batch, records[0].offset, len(records))
    batch.ensure_valid()
    return _rebuilt_wrapper(batch, retained, len(records))


def _filter_message(message: MessageAndOffset, record_filter: RecordFilter) -> FilteredBatch:
    key, value = message.key_and_value()
    offset = message.last_offset
    if record_filter.should_retain_record(message, offset, None if key is None else bytes(key), value is not None):
        return _unchanged(message, offset, 1)
    return FilteredBatch(b"", 1)


def _rebuilt_wrapper(batch: MessageAndOffset, retained: list[Record], messages_read: int) -> FilteredBatch:
    builder = MemoryRecordsBuilder(
        batch.magic,
        batch.compression,
        batch.timestamp_type,
        base_offset=retained[0].offset,
        log_append_time_ms=batch.max_timestamp,
    )
    for record in retained:
        builder.append(record.timestamp, record.key, record.value, offset=record.offset)
    return FilteredBatch(
        builder.build(),
        messages_read,
        len(retained),
        retained[0].offset,
        builder.last_offset,
        builder.max_timestamp,
        batch.magic,
    )


# --- keys ---


def offsets_and_keys(batch: RecordBatch) -> Iterator[tuple[int, bytes | None]]:
    """Offset and key of each record, for the offset map. Raises what ``filter_batch`` raises."""
    if batch.magic < MAGIC_V2:
        for record in batch.records():
            yield record.offset, record.key
        return
    v2 = cast(DefaultRecordBatch, batch)
    if v2.record_count:
        base_offset = v2.base_offset
        records = decode_all(v2.records_data(), v2.record_count, decode_partial_records)
        for _timestamp_delta, offset_delta, key, _has_value, _end in records:
            yield base_offset + offset_delta, key
