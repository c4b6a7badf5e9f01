"""The records of one partition that are not in a file yet, and when they have to be · book 8.3.2"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.parquet.parquet_files import Offsets


class PartitionBatch:
    """Decides only. All records of a batch have one schema, since a file has one."""

    def __init__(self, flush_size: int, rotate_interval_ms: float) -> None:
        """``rotate_interval_ms`` -1: whenever."""
        self._flush_size = flush_size
        self._rotate_interval_ms = rotate_interval_ms
        self._by_folder: dict[str, list[Any]] = {}
        self._schema: Schema | None = None
        self._count = 0
        self._first = self._next = -1
        self._begin_ms = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether no offset has to be covered."""
        return self._first < 0

    @property
    def schema(self) -> Schema | None:
        """That of all values; None if they have none."""
        return self._schema

    @property
    def offsets(self) -> Offsets:
        """The offsets that the batch covers."""
        return Offsets(self._first, self._next - 1)

    @property
    def values(self) -> Mapping[str, list[Any]]:
        """The values by folder."""
        return self._by_folder

    def has(self, offset: int) -> bool:
        """Whether a record is in the batch, or was in one before: it comes again if a commit has failed."""
        return offset < self._next

    def starts_at(self, offset: int) -> None:
        """Nothing below this offset is wanted."""
        self._next = offset

    def needs_commit_before(self, record: SinkRecord) -> bool:
        """Whether the record has another schema."""
        return self._count > 0 and record.value is not None and record.value_schema != self._schema

    def is_due(self, now_ms: float) -> bool:
        """Whether there are enough records, or old enough ones."""
        if self._count == 0:
            return False
        is_old = 0 <= self._rotate_interval_ms <= now_ms - self._begin_ms
        return self._count >= self._flush_size or is_old

    def add(self, record: SinkRecord, folder: str | None, now_ms: float) -> None:
        """Add a record; without a ``folder`` it only counts as read."""
        offset = record.original_kafka_offset
        if self.is_empty:
            self._first = offset
        self._next = offset + 1
        if folder is None:
            return
        if self._count == 0:
            self._schema, self._begin_ms = record.value_schema, now_ms
        self._count += 1
        self._by_folder.setdefault(folder, []).append(record.value)

    def clear(self) -> None:
        """The records are in files."""
        self._by_folder, self._count, self._first = {}, 0, -1
