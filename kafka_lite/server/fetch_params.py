"""What a fetch request asks for, and what reading the logs for it gave.

Kafka 0.10.2: core/.../server/ReplicaManager.scala (parameters of fetchMessages, LogReadResult),
clients/.../common/requests/FetchRequest.java (PartitionData); since 3.2 core/.../server/FetchParams.scala · book 6.2.1
"""

from __future__ import annotations

from kafka_lite.common.errors import Errors
from kafka_lite.common.sendable import Part, size_of
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata


class FetchParams:
    """The part of a fetch request that concerns all of its partitions."""

    __slots__ = ("from_follower", "hard_max_bytes", "max_bytes", "max_wait_ms", "min_bytes", "replica_id")

    def __init__(self, replica_id: int, max_wait_ms: int, min_bytes: int, max_bytes: int, hard_max_bytes: bool) -> None:
        self.replica_id = replica_id
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.hard_max_bytes = hard_max_bytes
        """Fetch up to version 2 cuts the records off at the limit, even in the middle of the first message."""
        self.from_follower = replica_id >= 0
        """Whether the client is another broker (consumers send -1)."""


class FetchPartition:
    """One partition of a fetch request: where to begin, and how much to read at most."""

    __slots__ = ("current_leader_epoch", "fetch_offset", "log_start_offset", "max_bytes")

    def __init__(
        self, fetch_offset: int, max_bytes: int, log_start_offset: int = -1, current_leader_epoch: int = -1
    ) -> None:
        self.fetch_offset = fetch_offset
        self.max_bytes = max_bytes
        self.log_start_offset = log_start_offset
        self.current_leader_epoch = current_leader_epoch


class LogReadResult:
    """One partition's part of the response; ``records`` is a slice of a log file, not read yet."""

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
