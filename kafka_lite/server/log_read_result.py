"""What reading one partition for a fetch request gave, and what was asked.

Kafka 0.10.2: core/.../server/ReplicaManager.scala (LogReadResult), FetchRequest's PartitionData · book 6.2.1
"""

from __future__ import annotations

from typing import NamedTuple

from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Part, size_of
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata


class FetchPartition(NamedTuple):
    """One partition of a fetch request: from where, and at most how much."""

    fetch_offset: int
    max_bytes: int
    log_start_offset: int = -1
    current_leader_epoch: int = -1


class LogReadResult(NamedTuple):
    """One partition's part of the answer; ``records`` is a slice of a log file that nobody has read yet."""

    error: Errors
    high_watermark: int = -1
    log_start_offset: int = -1
    fetch_offset_metadata: LogOffsetMetadata | None = None
    records: Part = b""

    @property
    def size_in_bytes(self) -> int:
        """Bytes of records."""
        return size_of(self.records)
