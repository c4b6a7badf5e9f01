"""What reading a log gives.

Kafka 0.10.2: core/.../server/FetchDataInfo.scala · book 6.1.4
"""

from __future__ import annotations

from kafka_lite.common.sendable import Part, size_of
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata


class FetchDataInfo:
    """A slice of a .log file that nobody has read yet, and where it begins.

    The slice begins with the whole batch that contains the offset asked for, so its first records may lie before it;
    and it ends where the size limit is reached, be it within a batch. Consumers know how to skip both.
    """

    __slots__ = ("fetch_offset_metadata", "first_entry_incomplete", "records")

    def __init__(
        self, fetch_offset_metadata: LogOffsetMetadata, records: Part = b"", first_entry_incomplete: bool = False
    ) -> None:
        self.fetch_offset_metadata = fetch_offset_metadata
        self.records = records
        self.first_entry_incomplete = first_entry_incomplete
        """Whether the limit cuts even the first batch: a reader that never asks for more would be stuck."""

    @property
    def size_in_bytes(self) -> int:
        """Bytes of records."""
        return size_of(self.records)
