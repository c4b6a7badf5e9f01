"""A folder for what tests write, in memory if there is room: a tmpfs creates, syncs and removes files at once."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

MEMORY = Path("/dev/shm")
NEEDED_BYTES = 8 << 30
"""That much has to be free there, and of the whole memory. The soak tests write a few hundred megabytes at a time."""
ON_DISK = "KAFKA_LITE_TESTS_ON_DISK"


@contextmanager
def temporary_folder() -> Iterator[Path | None]:
    """A folder that is removed in the end; None for the usual one: no room, no tmpfs, or KAFKA_LITE_TESTS_ON_DISK=1."""
    if os.environ.get(ON_DISK) == "1" or not has_room(MEMORY):
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="kafka-lite-tests-", dir=MEMORY))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def has_room(memory: Path) -> bool:
    """Whether files can be made there, and both it and the machine's memory have NEEDED_BYTES to spare."""
    if not os.access(memory, os.W_OK | os.X_OK):
        return False
    return min(shutil.disk_usage(memory).free, psutil.virtual_memory().available) >= NEEDED_BYTES
