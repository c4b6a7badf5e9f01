"""Restores many entries with one write.

Kafka 1.0: streams/.../processor/BatchingStateRestoreCallback.java (0.10.2 writes one entry at a time) · book 9.1.4
"""

from __future__ import annotations

from collections.abc import Callable

BATCH_SIZE = 1000


class BulkLoad:
    """A restore callback that collects entries, and passes them on in their order."""

    def __init__(self, write: Callable[[list[tuple[bytes, bytes | None]]], None]) -> None:
        self._write = write
        self._entries: list[tuple[bytes, bytes | None]] = []

    def __call__(self, key: bytes, value: bytes | None) -> None:
        """Restore an entry, now or soon."""
        self._entries.append((key, value))
        if len(self._entries) >= BATCH_SIZE:
            self.finish()

    def finish(self) -> None:
        """Pass on what is left."""
        if self._entries:
            self._write(self._entries)
            self._entries = []
