"""Where a record was read.

Kafka 0.10.2: streams/.../processor/internals/ProcessorRecordContext.java, RecordContext.java · book 9.1.2
"""

from __future__ import annotations

from typing import NamedTuple

from kafka_lite.record.record import Header


class ProcessorRecordContext(NamedTuple):
    """Where the current record was read."""

    timestamp: int
    offset: int = -1
    partition: int = -1
    topic: str | None = None
    headers: tuple[Header, ...] = ()
