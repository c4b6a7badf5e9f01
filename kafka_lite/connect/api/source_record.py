"""A record that a source task read, and where.

Kafka 0.10.2: connect/api/.../connect/source/SourceRecord.java · book 8.3.2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_lite.connect.api.connect_record import ConnectRecord
from kafka_lite.connect.api.data.java_text import java_text


@dataclass(frozen=True, kw_only=True)
class SourceRecord(ConnectRecord):
    """A record for Kafka. After it was produced, the runtime stores ``source_offset`` under ``source_partition``.

    Both are maps from strings to JSON values; a record without them has no offset.
    """

    source_partition: Mapping[str, Any] | None = None
    """The source of the record, such as ``{"filename": "/tmp/a"}``."""
    source_offset: Mapping[str, Any] | None = None
    """Where reading has to continue after this record, such as ``{"position": 14}``."""

    def __str__(self) -> str:
        return (
            f"SourceRecord{{sourcePartition={java_text(self.source_partition)}, "
            f"sourceOffset={java_text(self.source_offset)}}} {super().__str__()}"
        )
