"""Keeps the source offsets of a standalone worker in a file.

Kafka 0.10.2: connect/runtime/.../connect/storage/FileOffsetBackingStore.java · book 8.3.6
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.storage.java_hash_map import JavaStreamError, dump, load
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore

logger = logging.getLogger(__name__)


class FileOffsetBackingStore(MemoryOffsetBackingStore):
    """The whole file is written at each ``set``, in the format of Java's worker: each continues where the other ended.

    It is written beside the old one and then renamed, so that a full disk or a crash leaves the old offsets. (Kafka
    overwrites it.)
    """

    def __init__(self, file: str | Path) -> None:
        """``file`` is the worker's ``offset.storage.file.filename``."""
        super().__init__()
        self._file = Path(file)

    def start(self) -> None:
        """Read the file. One that is missing or cut off has no offsets. Raises ConnectError."""
        logger.info("Starting FileOffsetBackingStore with file %s", self._file)
        try:
            self._data = load(self._file.read_bytes())
        except (FileNotFoundError, EOFError) as error:
            logger.info("No offsets in %s: %s", self._file, error)
            self._data = {}
        except (OSError, JavaStreamError) as error:
            raise ConnectError(f"Offsets cannot be read from {self._file}: {error}") from error

    def _save(self) -> None:
        beside = self._file.with_name(self._file.name + ".tmp")
        try:
            beside.write_bytes(dump(self._data))
            os.replace(beside, self._file)
        except OSError as error:
            raise ConnectError(f"Offsets cannot be written to {self._file}: {error}") from error
