"""The result of validating produced records.

Kafka 0.10.2: core/.../log/LogValidator.scala (ValidationAndOffsetAssignResult) · book 6.1.2
"""

from __future__ import annotations

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import DefaultRecordBatch


class ValidationResult:
    """The records to append, and their properties."""

    __slots__ = (
        "batch",
        "codec",
        "first_offset",
        "has_producer_id",
        "last_offset",
        "log_append_time_ms",
        "magic",
        "max_timestamp",
        "message_size_maybe_changed",
        "offset_of_max_timestamp",
        "record_count",
        "records",
        "source_codec",
    )

    def __init__(
        self,
        records: Buffer,
        first_offset: int,
        record_count: int,
        max_timestamp: int,
        offset_of_max_timestamp: int,
        log_append_time_ms: int,
        source_codec: CompressionType,
        codec: CompressionType,
        magic: int,
        message_size_maybe_changed: bool,
        has_producer_id: bool,
        batch: DefaultRecordBatch | None,
    ) -> None:
        self.records = records
        """The validated bytes: the original ones, changed in place, or new ones."""
        self.first_offset = first_offset
        self.last_offset = first_offset + record_count - 1
        self.record_count = record_count
        self.max_timestamp = max_timestamp
        """The largest timestamp, or -1 if there is none."""
        self.offset_of_max_timestamp = offset_of_max_timestamp
        """An offset in the batch with the largest timestamp, for the time index; -1 if there is none."""
        self.log_append_time_ms = log_append_time_ms
        """The time of the append if timestamps are LogAppendTime, otherwise -1."""
        self.source_codec = source_codec
        self.codec = codec
        self.magic = magic
        self.message_size_maybe_changed = message_size_maybe_changed
        """Whether the records were converted or recompressed."""
        self.has_producer_id = has_producer_id
        """Whether an idempotent producer sent the records, so that their sequence numbers must be checked."""
        self.batch = batch
        """The records as a parsed batch, if there is only one and it has been parsed."""

    def move(self, offset: int) -> None:
        """Shift the offsets, of which 0 is the first."""
        self.first_offset += offset
        self.last_offset += offset
        if self.offset_of_max_timestamp >= 0:
            self.offset_of_max_timestamp += offset
