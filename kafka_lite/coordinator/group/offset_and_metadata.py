"""An offset that a group has committed for a partition.

Kafka 0.10.2: core/.../common/OffsetMetadataAndError.scala (OffsetAndMetadata) · book 3.5.4
"""

from __future__ import annotations

from dataclasses import dataclass

NO_METADATA = ""
INVALID_OFFSET = -1
NO_LEADER_EPOCH = -1


@dataclass(frozen=True, slots=True)
class OffsetAndMetadata:
    """The offset of the next record to read, and metadata of the consumer's own."""

    offset: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None = None
    """When the offset expires, if its commit said so (OffsetCommit v1 to v4, or a record of 0.10)."""
    leader_epoch: int = NO_LEADER_EPOCH
    """Leader epoch of the last record read before the offset, if the consumer knows it."""
