"""Validates produced records before they are appended, and assigns offsets, timestamps, format and codec.

Kafka 0.10.2: core/.../log/LogValidator.scala · book 6.1.2
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, cast

from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.validation.record_validation_error import RefusedRecords
from kafka_lite.log.validation.validation_result import ValidationResult
from kafka_lite.record.compression import MAX_DECOMPRESSED_BYTES, CompressionType
from kafka_lite.record.conversion import recompress
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.fast.scan import scan_records
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.message_set import MessageAndOffset
from kafka_lite.record.record import (
    LOG_APPEND_TIME,
    MAGIC_V0,
    MAGIC_V1,
    MAGIC_V2,
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    InvalidRecordError,
    Record,
    TimestampType,
)
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.record_scan import RecordScan
from kafka_lite.record.records import batches, first_batch, last_wrapper

_MAX_I64 = (1 << 63) - 1
_ORDINARY_TIME: Final = 1 << 60  # in ms, beyond any clock; still a small int for compiled code

# Looked up once, because every append needs them (see record.record).
_CLIENT: Final = AppendOrigin.CLIENT
_NO_COMPRESSION: Final = CompressionType.NONE


def validate_and_assign_offsets(
    records: Buffer,
    *,
    offset: int,
    now_ms: int,
    target_codec: CompressionType | None = None,
    compacted_topic: bool = False,
    magic: int = MAGIC_V2,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    timestamp_difference_max_ms: int = _MAX_I64,
    timestamp_after_max_ms: int | None = None,
    partition_leader_epoch: int = NO_PARTITION_LEADER_EPOCH,
    max_message_bytes: int = 0x7FFFFFFF,
    origin: AppendOrigin = AppendOrigin.CLIENT,
    compression_level: int | None = None,
) -> ValidationResult:
    """Validate produced records and assign them the offsets from ``offset`` on.

    ``records`` is changed in place if it is writable and only headers have to change; an incomplete batch at its end is
    cut off. ``target_codec`` None keeps the producer's codec. ``timestamp_difference_max_ms`` limits how far timestamps
    may be before ``now_ms``, and after it unless ``timestamp_after_max_ms`` is given.

    Raises ``ApiError``: CORRUPT_MESSAGE (checksum, sizes, codec), INVALID_RECORD (rules of the format, null key on a
    compacted topic), INVALID_TIMESTAMP, MESSAGE_TOO_LARGE, UNSUPPORTED_FOR_MESSAGE_FORMAT (a producer id or headers
    in an old format), UNSUPPORTED_COMPRESSION_TYPE (zstd in an old format).
    """
    validator = LogValidator(
        target_codec=target_codec,
        compacted_topic=compacted_topic,
        magic=magic,
        timestamp_type=timestamp_type,
        timestamp_before_max_ms=timestamp_difference_max_ms,
        timestamp_after_max_ms=timestamp_difference_max_ms
        if timestamp_after_max_ms is None
        else timestamp_after_max_ms,
        max_message_bytes=max_message_bytes,
        compression_level=compression_level,
    )
    return validator.validate(records, offset, now_ms, partition_leader_epoch, origin)


class LogValidator:
    """Validates and converts records according to one log's configuration; one append at a time.

    There are three paths, depending on what must change::

        in place     same format, same codec: only offset, leader epoch, timestamp type are written into the headers
        recompress   v2 in another codec: the encoded records stay the same, only their compression changes
        rebuild      another format, v0 compressed (its inner offsets are absolute), or inner offsets that are not
                     0, 1, 2, ... (see ``MAX_OUT_OF_ORDER``), or a compressed set among other messages: records are
                     decoded and built into a new batch

    No memory is allocated per record: a few bytes can decompress to millions of records. Every path checks all records,
    as in Kafka: otherwise consumers would run into an inconsistent batch again and again.
    """

    def __init__(
        self,
        *,
        target_codec: CompressionType | None,
        compacted_topic: bool,
        magic: int,
        timestamp_type: TimestampType,
        timestamp_before_max_ms: int,
        timestamp_after_max_ms: int,
        max_message_bytes: int,
        compression_level: int | None = None,
    ) -> None:
        self.target_codec = target_codec
        self.compacted_topic = compacted_topic
        self.magic = magic
        self.timestamp_type = timestamp_type
        self.timestamp_before_max_ms = timestamp_before_max_ms
        self.timestamp_after_max_ms = timestamp_after_max_ms
        self.max_message_bytes = max_message_bytes
        self.compression_level = compression_level
        self._stamps = timestamp_type is LOG_APPEND_TIME  # then the producers' timestamps are ignored
        self._any_time_will_do = self._stamps or min(timestamp_before_max_ms, timestamp_after_max_ms) >= _MAX_I64
        # State of the current append:
        self.offset = self.now_ms = 0
        self.partition_leader_epoch = NO_PARTITION_LEADER_EPOCH
        self.origin = AppendOrigin.CLIENT

    @classmethod
    def for_log(cls, config: LogConfig) -> LogValidator:
        """Create a validator for logs with this configuration."""
        return cls(
            target_codec=config.target_compression,
            compacted_topic=config.compact,
            magic=config.magic,
            timestamp_type=config.message_timestamp_type,
            timestamp_before_max_ms=config.timestamp_before_max_ms,
            timestamp_after_max_ms=config.timestamp_after_max_ms,
            max_message_bytes=config.max_message_bytes,
        )

    def validate(
        self, records: Buffer, offset: int, now_ms: int, leader_epoch: int, origin: AppendOrigin
    ) -> ValidationResult:
        """Validate an append; see ``validate_and_assign_offsets``."""
        self.offset, self.now_ms = offset, now_ms
        self.partition_leader_epoch, self.origin = leader_epoch, origin
        view = records if isinstance(records, memoryview) else memoryview(records)
        if view.readonly:
            view = memoryview(bytearray(view))
        first = first_batch(view)
        if first is None:
            return self._result(b"", 0, NO_TIMESTAMP, -1, _NO_COMPRESSION, _NO_COMPRESSION, changed=False)
        if isinstance(first, DefaultRecordBatch):
            if self._is_followed(view, first):
                self._check_batch(first)
                raise InvalidRecordError("More than one batch of format v2 in one append")
            return self._validate_record_batch(first)
        return self._validate_message_set(view, cast(MessageAndOffset, first))

    def _validate_message_set(self, view: memoryview, first: MessageAndOffset) -> ValidationResult:
        """Validate format v0 or v1: single messages, one compressed set, or a mixture."""
        self._check_batch(first)
        source = first.compression
        if self._is_followed(view, first) and (wrapper := last_wrapper(view)) is not None:
            return self._validate_mixed(view, first, wrapper.compression)
        if source is _NO_COMPRESSION:
            return self._validate_messages(view, first, self._target(source))
        return self._validate_wrapper(first, source, self._target(source))

    def _target(self, source: CompressionType) -> CompressionType:
        return source if self.target_codec is None else self.target_codec

    # --- checks of whole batches ---

    def _check_batch(self, batch: RecordBatch) -> None:
        self._check_size(batch.size_in_bytes)
        batch.ensure_valid()
        if self.origin is _CLIENT:
            if batch.is_control:
                raise InvalidRecordError("Clients are not allowed to write control records")
            if batch.has_producer_id and batch.base_sequence < 0:
                raise InvalidRecordError(f"Sequence number {batch.base_sequence} of producer {batch.producer_id}")
        if self.magic < MAGIC_V2 and (batch.is_transactional or batch.has_producer_id):
            kind = "Transactional" if batch.is_transactional else "Idempotent"
            raise Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT.exception(f"{kind} records need format v2, not v{self.magic}")

    def _is_followed(self, view: memoryview, first: RecordBatch) -> bool:
        # Usually nothing follows the batch, and comparing the sizes is cheap.
        return len(view) > first.size_in_bytes and first_batch(view, first.size_in_bytes) is not None

    def _check_size(self, size: int) -> None:
        if size > self.max_message_bytes:
            raise Errors.MESSAGE_TOO_LARGE.exception(
                f"The record batch size is {size} bytes which exceeds the maximum configured value "
                f"of {self.max_message_bytes}"
            )

    # --- format v2 ---

    def _validate_record_batch(self, batch: DefaultRecordBatch) -> ValidationResult:
        """Validate format v2: exactly one batch, with nothing after it."""
        self._check_batch(batch)
        source = batch.compression
        target = self._target(source)
        self._check_offset_range(batch)
        data, record_count = batch.records_data(), batch.record_count
        scan = scan_records(data, record_count)
        max_timestamp = self._check_scan(batch, scan)
        if self.magic != batch.magic or not scan.offsets_are_consecutive:
            return self._rebuild(batch, batch.records(), source, target)
        if target is not source:
            batch = recompress(batch, data, target, self.compression_level)
            self._check_size(batch.size_in_bytes)
        if self._stamps:
            max_timestamp = self.now_ms
        batch.set_last_offset_and_epoch(self.offset + record_count - 1, self.partition_leader_epoch)
        batch.set_max_timestamp(self.timestamp_type, max_timestamp)
        offset_of_max = batch.last_offset if max_timestamp > NO_TIMESTAMP else -1
        return self._result(
            batch.view,
            record_count,
            max_timestamp,
            offset_of_max,
            source,
            target,
            changed=target is not source,
            has_producer_id=batch.has_producer_id,
            batch=batch,
        )

    def _check_offset_range(self, batch: DefaultRecordBatch) -> None:
        """Check that a produced batch has no gaps: as many records as offsets, and at least one."""
        record_count = batch.record_count
        if record_count <= 0 or batch.last_offset_delta != record_count - 1:
            raise InvalidRecordError(
                f"Inconsistent record batch: {record_count} records, last offset delta {batch.last_offset_delta}"
            )

    def _check_scan(self, batch: DefaultRecordBatch, scan: RecordScan) -> int:
        """Check keys and timestamps; returns the largest timestamp."""
        oldest = batch.base_timestamp + scan.min_timestamp_delta
        newest = batch.base_timestamp + scan.max_timestamp_delta
        ordinary = -_ORDINARY_TIME < oldest <= newest < _ORDINARY_TIME
        if not ordinary and not -_MAX_I64 <= oldest <= newest <= _MAX_I64:
            raise InvalidRecordError(f"Timestamps from {oldest} to {newest} do not fit into 64 bits")
        suspicious = self.compacted_topic and scan.first_null_key is not None
        if suspicious or batch.timestamp_type is LOG_APPEND_TIME or not self._timely(oldest, newest):
            refused = RefusedRecords()
            for record in batch.records():
                refused.check(self._error_of(record.key is not None, record.timestamp, record.timestamp_type))
            refused.raise_if_any()
        return newest

    # --- formats v0 and v1 ---

    def _validate_messages(
        self, view: memoryview, first: MessageAndOffset, target: CompressionType
    ) -> ValidationResult:
        """Validate uncompressed messages: each is a batch of its own."""
        if first.magic != self.magic or target is not _NO_COMPRESSION:
            records = (
                message.to_record(-1, message.max_timestamp, message.timestamp_type)
                for message in self._checked(view, first)
            )
            return self._rebuild(first, records, _NO_COMPRESSION, target)
        max_timestamp, offset_of_max = NO_TIMESTAMP, -1
        size, offset = 0, self.offset
        for message in self._checked(view, first):
            message.set_last_offset(offset)
            timestamp = self.now_ms if self._stamps else message.max_timestamp
            message.set_max_timestamp(self.timestamp_type, timestamp)
            if message.max_timestamp > max_timestamp:
                max_timestamp, offset_of_max = message.max_timestamp, offset
            size += message.size_in_bytes
            offset += 1
        none = _NO_COMPRESSION
        return self._result(view[:size], offset - self.offset, max_timestamp, offset_of_max, none, none, changed=False)

    def _checked(self, view: memoryview, first: MessageAndOffset) -> Iterator[MessageAndOffset]:
        """Yield the messages of a set after checking each; rejected records raise at the end."""
        refused = RefusedRecords()
        for message in batches(view):
            refused.check(self._message_error(self._checked_message(message, first)))
            assert isinstance(message, MessageAndOffset)
            yield message
        refused.raise_if_any()

    def _validate_wrapper(
        self, wrapper: MessageAndOffset, source: CompressionType, target: CompressionType
    ) -> ValidationResult:
        """Validate a compressed set, whose inner messages have their own checksums."""
        data = wrapper.inner_data()
        if not (wrapper.magic == self.magic == MAGIC_V1 and source is target):
            return self._rebuild(wrapper, self._inner_records(wrapper, data), source, target)
        refused = RefusedRecords()
        max_timestamp, relative_offsets, count = NO_TIMESTAMP, True, 0
        for message in wrapper.inner_messages(data):
            message.ensure_valid()
            refused.check(self._message_error(message, wrapper.timestamp_type))
            max_timestamp = max(max_timestamp, message.max_timestamp)
            relative_offsets = relative_offsets and message.last_offset == count  # some old clients write other offsets
            count += 1
        refused.raise_if_any()
        if not relative_offsets:
            return self._rebuild(wrapper, self._inner_records(wrapper, data), source, target)
        # In place: the relative inner offsets move with the wrapper's offset.
        if self._stamps:
            max_timestamp = self.now_ms
        wrapper.set_last_offset(self.offset + count - 1)
        wrapper.set_max_timestamp(self.timestamp_type, max_timestamp)
        offset_of_max = wrapper.last_offset if max_timestamp > NO_TIMESTAMP else -1
        return self._result(wrapper.view, count, max_timestamp, offset_of_max, source, target, changed=False)

    def _inner_records(self, wrapper: MessageAndOffset, data: bytes) -> Iterator[Record]:
        """Yield the records of a compressed set after checking each; rejected ones raise at the end."""
        refused = RefusedRecords()
        yield from self._checked_records(wrapper, wrapper.inner_messages(data), refused)
        refused.raise_if_any()

    def _checked_records(
        self, outer: MessageAndOffset, messages: Iterable[MessageAndOffset], refused: RefusedRecords
    ) -> Iterator[Record]:
        kind = outer.timestamp_type
        for message in messages:
            message.ensure_valid()
            record = message.to_record(-1, message.max_timestamp, kind)
            refused.check(self._error_of(record.key is not None, record.timestamp, kind))
            yield record

    def _validate_mixed(self, view: memoryview, first: MessageAndOffset, source: CompressionType) -> ValidationResult:
        """Validate several compressed sets, or some among uncompressed messages, and convert them into one batch.

        Clients of 0.8 send these, and brokers up to 2.3 accepted them. The codec of the last compressed set counts.
        """
        return self._rebuild(first, self._unwrapped(view, first), source, self._target(source))

    def _unwrapped(self, view: memoryview, first: MessageAndOffset) -> Iterator[Record]:
        """Yield the records of a mixed set after checking each; their total size is limited to that of one wrapper."""
        refused = RefusedRecords()
        budget_bytes = MAX_DECOMPRESSED_BYTES
        for batch in batches(view):
            outer = self._checked_message(batch, first)
            inner: Iterable[MessageAndOffset] = (outer,)
            if outer.is_compressed:
                data = outer.inner_data(budget_bytes)
                budget_bytes -= len(data)
                inner = outer.inner_messages(data)
            yield from self._checked_records(outer, inner, refused)
        refused.raise_if_any()

    def _checked_message(self, batch: RecordBatch, first: MessageAndOffset) -> MessageAndOffset:
        if batch.magic != first.magic:
            raise InvalidRecordError(f"Message of magic {batch.magic} after one of {first.magic}")
        self._check_batch(batch)
        return cast(MessageAndOffset, batch)

    def _message_error(
        self, message: MessageAndOffset, timestamp_type: TimestampType | None = None
    ) -> tuple[Errors, str] | None:
        key, _value = message.key_and_value()
        return self._error_of(
            key is not None, message.max_timestamp, message.timestamp_type if timestamp_type is None else timestamp_type
        )

    # --- shared by all formats ---

    def _error_of(self, has_key: bool, timestamp: int, timestamp_type: TimestampType) -> tuple[Errors, str] | None:
        """Return the error of a record, or None."""
        if self.compacted_topic and not has_key:
            return Errors.INVALID_RECORD, "Compacted topic cannot accept message without key"
        if timestamp_type is LOG_APPEND_TIME:
            return Errors.INVALID_TIMESTAMP, "Producer should not set timestamp type to LogAppendTime"
        if timestamp != NO_TIMESTAMP and not self._timely(timestamp, timestamp):
            earliest, latest = self.now_ms - self.timestamp_before_max_ms, self.now_ms + self.timestamp_after_max_ms
            return Errors.INVALID_TIMESTAMP, f"Timestamp {timestamp} is not within [{earliest}, {latest}]"
        return None

    def _timely(self, oldest: int, newest: int) -> bool:
        """Whether a range of timestamps is close enough to now. With LogAppendTime any is, since they are replaced."""
        if self._any_time_will_do:
            return True
        before, after = min(self.now_ms - oldest, _MAX_I64), min(newest - self.now_ms, _MAX_I64)  # the default: any
        return before <= self.timestamp_before_max_ms and after <= self.timestamp_after_max_ms

    def _rebuild(
        self, batch: RecordBatch, records: Iterable[Record], source: CompressionType, target: CompressionType
    ) -> ValidationResult:
        builder = MemoryRecordsBuilder(
            self.magic,
            target,
            self.timestamp_type,
            self.offset,
            batch.producer_id,
            batch.producer_epoch,
            batch.base_sequence,
            log_append_time_ms=self.now_ms,
            is_transactional=batch.is_transactional,
            is_control=batch.is_control,
            partition_leader_epoch=self.partition_leader_epoch,
            compression_level=self.compression_level,
        )
        for record in records:
            builder.append(record.timestamp, record.key, record.value, record.headers)
        rebuilt = builder.build()
        for converted in batches(rebuilt):
            self._check_size(converted.size_in_bytes)
        # The time index points to batches. Only in an uncompressed set is each message its own batch.
        shallow = self.magic < MAGIC_V2 and target is CompressionType.NONE
        offset_of_max = builder.offset_of_max_timestamp if shallow else builder.last_offset
        return self._result(
            rebuilt,
            builder.record_count,
            builder.max_timestamp,
            offset_of_max if builder.max_timestamp > NO_TIMESTAMP else -1,
            source,
            target,
            changed=True,
            has_producer_id=builder.producer_id > NO_PRODUCER_ID,
        )

    def _result(
        self,
        records: Buffer,
        record_count: int,
        max_timestamp: int,
        offset_of_max_timestamp: int,
        source: CompressionType,
        target: CompressionType,
        *,
        changed: bool,
        has_producer_id: bool = False,
        batch: DefaultRecordBatch | None = None,
    ) -> ValidationResult:
        return ValidationResult(
            records,
            self.offset,
            record_count,
            max_timestamp,
            offset_of_max_timestamp,
            self.now_ms if self._stamps and self.magic > MAGIC_V0 else NO_TIMESTAMP,
            source,
            target,
            self.magic,
            changed,
            has_producer_id,
            batch,
        )
