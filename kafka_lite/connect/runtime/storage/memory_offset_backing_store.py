"""Keeps source offsets in memory.

Kafka 0.10.2: connect/runtime/.../connect/storage/MemoryOffsetBackingStore.java · book 8.3.6
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import Future

from kafka_lite.connect.runtime.storage.offset_backing_store import OffsetBackingStore, Offsets, SetCallback


class MemoryOffsetBackingStore(OffsetBackingStore):
    """Does everything in the caller's thread, and returns completed futures. (Kafka has a thread for it, so that a
    store in memory behaves as one in a topic.)"""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._data: dict[bytes | None, bytes | None] = {}

    def start(self) -> None:
        """Do nothing: there is nothing to read."""

    def stop(self) -> None:
        """Do nothing: nothing is open."""

    def get(self, keys: Iterable[bytes | None]) -> Future[dict[bytes | None, bytes | None]]:
        """The values of the keys, None for those that have none."""
        found: Future[dict[bytes | None, bytes | None]] = Future()
        with self._lock:
            values = {key: self._data.get(key) for key in keys}
        found.set_result(values)
        return found

    def all(self) -> Future[dict[bytes | None, bytes | None]]:
        """All keys and values."""
        found: Future[dict[bytes | None, bytes | None]] = Future()
        with self._lock:
            values = dict(self._data)
        found.set_result(values)
        return found

    def set(self, values: Offsets, callback: SetCallback | None = None) -> Future[None]:
        """Store values. If they cannot be saved, the future and the callback get the error."""
        stored: Future[None] = Future()
        error: Exception | None = None
        with self._lock:
            self._data.update(values)
            try:
                self._save()
            except Exception as failure:  # noqa: BLE001  the caller gets it
                error = failure
        if error is None:
            stored.set_result(None)
        else:
            stored.set_exception(error)
        if callback is not None:
            callback(error)
        return stored

    def _save(self) -> None:
        """A hook for subclasses that keep the data elsewhere, too. Called with the lock held."""
