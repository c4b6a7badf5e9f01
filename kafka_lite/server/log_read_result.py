"""What reading one partition for a fetch request gave, and what was asked.

Kafka 0.10.2: core/.../server/ReplicaManager.scala (LogReadResult), FetchRequest's PartitionData · book 6.2.1
"""

from __future__ import annotations

from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Part, size_of
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata


class FetchPartition:
    """One partition of a fetch request: from where, and at most how much."""

    __slots__ = ("current_leader_epoch", "fetch_offset", "log_start_offset", "max_bytes")

    def __init__(
        self, fetch_offset: int, max_bytes: int, log_start_offset: int = -1, current_leader_epoch: int = -1
    ) -> None:
        self.fetch_offset = fetch_offset
        self.max_bytes = max_bytes
        self.log_start_offset = log_start_offset
        self.current_leader_epoch = current_leader_epoch


class LogReadResult:
    """One partition's part of the answer; ``records`` is a slice of a log file that nobody has read yet."""

    __slots__ = ("error", "fetch_offset_metadata", "high_watermark", "log_start_offset", "records", "size_in_bytes")

    def __init__(
        self,
        error: Errors,
        high_watermark: int = -1,
        log_start_offset: int = -1,
        fetch_offset_metadata: LogOffsetMetadata | None = None,
        records: Part = b"",
    ) -> None:
        self.error = error
        self.high_watermark = high_watermark
        self.log_start_offset = log_start_offset
        self.fetch_offset_metadata = fetch_offset_metadata
        self.records = records
        self.size_in_bytes = size_of(records)
        """Bytes of records."""
