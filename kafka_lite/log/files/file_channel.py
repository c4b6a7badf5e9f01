"""An open .log file, shared by the log and the slices that are being sent.

Kafka 0.10.2: clients/.../common/record/FileRecords.java (its FileChannel) · book 6.1.3
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from kafka_lite.common.sendable import Buffer

WRITE_BYTES: Final = 128 * 1024
"""Largest single write. For larger writes Linux allocates larger blocks of memory (up to 2 MB), which in a virtual
machine the host often has to provide first: 1 MB then takes 1 to 3 ms instead of 0.3."""


class FileChannel:
    """An open file that is closed when it is no longer referenced.

    Slices in the send queue of a slow consumer keep the file of a deleted segment open. If it were closed earlier, its
    file descriptor could be reused, and the consumer would get another file's bytes.
    """

    def __init__(self, file: Path) -> None:
        self.fd = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)

    def read(self, position: int, length: int) -> bytes:
        """Read up to ``length`` bytes from ``position`` on; fewer at the end of the file."""
        return os.pread(self.fd, length, position)

    def write_fully(self, position: int, data: Buffer) -> None:
        """Write all of ``data`` at ``position``, in pieces of ``WRITE_BYTES``. Raises OSError."""
        view = data if isinstance(data, memoryview) else memoryview(data)
        while len(view):
            written = os.pwrite(self.fd, view if len(view) <= WRITE_BYTES else view[:WRITE_BYTES], position)
            view, position = view[written:], position + written

    def __del__(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.close(self.fd)
