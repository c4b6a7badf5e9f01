"""The properties of a set of batches that is appended to a log.

Kafka 0.10.2: core/.../log/Log.scala (LogAppendInfo, analyzeAndValidateRecords); since 1.1
UnexpectedAppendOffsetException · book 6.1.2
"""

from __future__ import annotations

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.producers.producer_state_entry import BatchMetadata
from kafka_lite.log.validation.validation_result import ValidationResult
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.record import MAGIC_V2, NO_PARTITION_LEADER_EPOCH, NO_TIMESTAMP
from kafka_lite.record.records import batches


class LogAppendInfo:
    """Offsets, timestamps and formats of an append.

    Offsets are -1 if nothing was appended. ``log_append_time`` is -1 unless the topic assigns timestamps
    (``message.timestamp.type=LogAppendTime``). ``size_in_bytes`` counts whole batches only: an incomplete last batch
    is not appended.
    """

    __slots__ = (
        "batch",
        "first_offset",
        "has_producer_id",
        "last_leader_epoch",
        "last_offset",
        "log_append_time",
        "log_start_offset",
        "magic",
        "max_timestamp",
        "offset_of_max_timestamp",
        "size_in_bytes",
        "source_codec",
        "target_codec",
    )

    def __init__(
        self,
        first_offset: int = -1,
        last_offset: int = -1,
        max_timestamp: int = NO_TIMESTAMP,
        offset_of_max_timestamp: int = -1,
        log_append_time: int = NO_TIMESTAMP,
        log_start_offset: int = -1,
        source_codec: CompressionType = CompressionType.NONE,
        target_codec: CompressionType = CompressionType.NONE,
        magic: int = MAGIC_V2,
        last_leader_epoch: int = NO_PARTITION_LEADER_EPOCH,
        size_in_bytes: int = 0,
        has_producer_id: bool = False,
        batch: DefaultRecordBatch | None = None,
    ) -> None:
        self.first_offset = first_offset
        """The offset of the first message; on a follower, for a compressed v0 or v1 message, that of its last."""
        self.last_offset = last_offset
        self.max_timestamp = max_timestamp
        self.offset_of_max_timestamp = offset_of_max_timestamp
        """The (last) offset of the batch that has the max timestamp, for the time index."""
        self.log_append_time = log_append_time
        self.log_start_offset = log_start_offset
        self.source_codec = source_codec
        self.target_codec = target_codec
        self.magic = magic
        self.last_leader_epoch = last_leader_epoch
        self.size_in_bytes = size_in_bytes
        self.has_producer_id = has_producer_id
        """Whether any batch is from an idempotent producer."""
        self.batch = batch
        """The appended batch, if there is only one and it has been parsed."""

    @staticmethod
    def of_validated(result: ValidationResult, leader_epoch: int) -> LogAppendInfo:
        """Describe an append on the leader, after validation."""
        if result.record_count == 0:
            return LogAppendInfo()
        return LogAppendInfo(
            first_offset=result.first_offset,
            last_offset=result.last_offset,
            max_timestamp=result.max_timestamp,
            offset_of_max_timestamp=result.offset_of_max_timestamp,
            log_append_time=result.log_append_time_ms,
            source_codec=result.source_codec,
            target_codec=result.codec,
            magic=result.magic,
            last_leader_epoch=leader_epoch,
            size_in_bytes=len(result.records),
            has_producer_id=result.has_producer_id,
            batch=result.batch,
        )

    @staticmethod
    def of_duplicate(batch: BatchMetadata, log_start_offset: int) -> LogAppendInfo:
        """Describe a batch that was appended before: its offsets and append time, for the response."""
        return LogAppendInfo(
            first_offset=batch.first_offset,
            last_offset=batch.last_offset,
            log_append_time=batch.timestamp,
            log_start_offset=log_start_offset,
        )


class UnexpectedAppendOffsetError(ApiError):
    """Records of the leader begin below the log end offset. Its ``error`` is CORRUPT_MESSAGE."""

    def __init__(self, topic_partition: TopicPartition, log_end_offset: int, info: LogAppendInfo) -> None:
        message = f"offset {info.first_offset} of the leader is below the log end offset {log_end_offset}"
        super().__init__(Errors.CORRUPT_MESSAGE, f"{message} of {topic_partition}")
        self.first_offset = info.first_offset
        """That of the first batch."""
        self.last_offset = info.last_offset
        """That of the last batch."""

    def is_within_first_batches(self, log_end_offset: int) -> bool:
        """Whether the records begin before the log's end and go beyond it."""
        return self.first_offset < log_end_offset <= self.last_offset


def analyze_and_validate_records(records: Buffer) -> LogAppendInfo:
    """Validate the records that a follower has fetched, and collect what the append needs; decompresses nothing.

    Sizes are not checked against ``max.message.bytes``: the leader has accepted them, perhaps with another
    configuration. Raises CORRUPT_MESSAGE if a CRC is wrong or offsets do not increase.
    """
    info = LogAppendInfo()
    for batch in batches(records):
        batch.ensure_valid()
        last_offset = batch.last_offset
        if info.size_in_bytes == 0:
            info.first_offset = batch.base_offset if batch.magic >= MAGIC_V2 else last_offset
        elif last_offset <= info.last_offset:
            raise Errors.CORRUPT_MESSAGE.exception(f"offset {last_offset} follows offset {info.last_offset}")
        info.last_offset = last_offset
        info.magic = batch.magic
        info.last_leader_epoch = batch.partition_leader_epoch
        if batch.max_timestamp > info.max_timestamp:
            info.max_timestamp = batch.max_timestamp
            info.offset_of_max_timestamp = last_offset
        info.size_in_bytes += batch.size_in_bytes
        info.has_producer_id |= batch.has_producer_id
    return info
