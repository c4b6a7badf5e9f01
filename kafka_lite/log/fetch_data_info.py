"""The result of reading a log.

Kafka 0.10.2: core/.../server/FetchDataInfo.scala · book 6.1.4
"""

from __future__ import annotations

from kafka_lite.common.sendable import Part, size_of
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata


class FetchDataInfo:
    """A slice of a .log file, not read into memory yet, and its position.

    The slice starts with the whole batch that contains the requested offset, so its first records may precede that
    offset. It ends at the size limit, possibly within a batch. Consumers skip both.
    """

    __slots__ = ("fetch_offset_metadata", "first_entry_incomplete", "records")

    def __init__(
        self, fetch_offset_metadata: LogOffsetMetadata, records: Part = b"", first_entry_incomplete: bool = False
    ) -> None:
        self.fetch_offset_metadata = fetch_offset_metadata
        self.records = records
        self.first_entry_incomplete = first_entry_incomplete
        """Whether the limit cuts even the first batch: a reader that does not raise its limit would be stuck."""

    @property
    def size_in_bytes(self) -> int:
        """Size of the records in bytes."""
        return size_of(self.records)
