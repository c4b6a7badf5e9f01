"""A .log file opened read-only by tools, whether or not a broker is writing to it.

Kafka 0.10.2: clients/.../common/record/FileRecords.java · book 6.1.3
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from kafka_lite.log.files.file_log_input_stream import file_batches
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.records import batch_at


class LogFile:
    """Reads the batches of a file, one in memory at a time; a context manager. Bytes appended later are not seen."""

    def __init__(self, file: Path) -> None:
        """Raises OSError if the file cannot be opened."""
        self.file = file
        self._open = file.open("rb", buffering=0)
        self.size_in_bytes = os.fstat(self._open.fileno()).st_size

    def read(self, position: int, length: int) -> bytes:
        """Read up to ``length`` bytes at ``position``."""
        return os.pread(self._open.fileno(), length, position)

    def batches(self, start: int = 0, end: int | None = None) -> Iterator[RecordBatch]:
        """The complete batches from position ``start`` to ``end``. Raises CorruptRecordError at an invalid one."""
        last = self.size_in_bytes if end is None else min(end, self.size_in_bytes)
        for header in file_batches(self, start, last):
            yield batch_at(self.read(header.position, header.size_in_bytes), 0, header.size_in_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
