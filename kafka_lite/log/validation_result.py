"""What comes out of the validation of a produced message set.

Kafka 0.10.2: core/.../log/LogValidator.scala (ValidationAndOffsetAssignResult) · book 6.1.2
"""

from __future__ import annotations

from kafka_lite.common.sendable import Buffer
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import DefaultRecordBatch


class ValidationResult:
    """What is to be appended, and what the log wants to know about it."""

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
        """The validated bytes: those that came in, changed in place, or new ones."""
        self.first_offset = first_offset
        self.last_offset = first_offset + record_count - 1
        self.record_count = record_count
        self.max_timestamp = max_timestamp
        """The largest timestamp, -1 if there is none."""
        self.offset_of_max_timestamp = offset_of_max_timestamp
        """An offset of the batch that has it, for the time index; -1 if there is none."""
        self.log_append_time_ms = log_append_time_ms
        """The broker's time of this append where timestamps are LogAppendTime, else -1."""
        self.source_codec = source_codec
        self.codec = codec
        self.magic = magic
        self.message_size_maybe_changed = message_size_maybe_changed
        """Whether the records were converted or compressed anew."""
        self.has_producer_id = has_producer_id
        """Whether an idempotent producer sent them, so that the log must look at their sequence numbers."""
        self.batch = batch
        """The records as the one batch that they are, if that has been parsed."""
