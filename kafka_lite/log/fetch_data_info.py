"""What reading a log gives.

Kafka 0.10.2: core/.../server/FetchDataInfo.scala · book 6.1.4
"""

from __future__ import annotations

from typing import NamedTuple

from kafka_lite.common.sendable import Part, size_of
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata


class FetchDataInfo(NamedTuple):
    """A slice of a .log file that nobody has read yet, and where it begins.

    The slice begins with the whole batch that contains the offset asked for, so its first records may lie before it;
    and it ends where the size limit is reached, be it within a batch. Consumers know how to skip both.
    """

    fetch_offset_metadata: LogOffsetMetadata
    records: Part = b""
    first_entry_incomplete: bool = False
    """Whether the limit cuts even the first batch: a reader that never asks for more would be stuck."""

    @property
    def size_in_bytes(self) -> int:
        """Bytes of records."""
        return size_of(self.records)
