"""Keeps Python's garbage collector away from work that makes much and drops little.

Kafka 0.10.2: none; the JVM's collectors do not visit old objects again and again · book 7.1.3
"""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from kafka_lite.common.process.malloc import resident_bytes, return_freed_memory
from kafka_lite.common.shutdownable_thread import ShutdownableThread

logger = logging.getLogger(__name__)

PERIOD_MS: Final = 1000
MIN_YOUNG: Final = 1000
"""Fewer new objects than this are not worth a collection."""
MAX_SKIPPED: Final = 10
"""So many times in a row does a collection wait for the end of large work, ten seconds. If some has ended since
the last time, more of it may follow, and its objects would be visited."""
MAX_YOUNG: Final = 2_000_000
"""More than so many new objects, several large requests of them, cannot all be in use."""
MIN_GROWN: Final = 50_000
"""By so many objects, and by a quarter, must the process have grown for a full collection."""
KEPT_BYTES: Final = 32 << 20
"""So much more memory than after the last time may be resident before free memory is returned to the kernel."""
PERIODS_BETWEEN_RETURNS: Final = 20

_lock = threading.Lock()
_blocks = 0
_ended_blocks = 0
_was_enabled = False


@contextmanager
def without_collections() -> Iterator[None]:
    """No cycles are collected within the block, in any thread: it makes objects that stay, or go as they came.

    Each of CPython's full collections visits all objects of the process. A controller that takes over makes a few for
    every partition, and would visit those of all partitions so far, again and again. Blocks may overlap, in different
    threads too.
    """
    global _blocks, _ended_blocks, _was_enabled
    with _lock:
        _blocks += 1
        if _blocks == 1:
            _was_enabled = gc.isenabled()
            gc.disable()
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            _ended_blocks += 1
            if not _blocks and _was_enabled:
                gc.enable()


def _enable(enabled: bool) -> None:
    """Have CPython collect, or not: at once, or when the last block without collections has ended."""
    global _was_enabled
    with _lock:
        _was_enabled = enabled
        if not enabled:
            gc.disable()
        elif not _blocks:
            gc.enable()


class GarbageCollector(ShutdownableThread):
    """Collects garbage once a second, in place of CPython, which collects in whatever thread has made one object more.

    Nearly all objects of a server go when they are no longer referenced. A collection finds the few cycles among the
    others, and holds up every thread meanwhile. CPython begins one when there are 700 new objects, so a request with a
    hundred thousand elements caused a hundred; every tenth of these visits more, and some of them all objects. Here
    such objects are gone before the next collection.

    Every ``PERIODS_BETWEEN_RETURNS`` it also returns free memory to the kernel if much more is resident than before.
    """

    def __init__(self) -> None:
        super().__init__("garbage-collector")
        self._periods = 0
        self._skipped = 0
        self._ended_blocks = _ended_blocks
        self._grown = 0
        self._live = 0
        self._resident_bytes = resident_bytes()

    def __enter__(self) -> GarbageCollector:
        """Take over from CPython."""
        _enable(False)
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        _enable(True)

    def do_work(self) -> None:
        """Wait for a second, then collect what must be."""
        if not self.pause(PERIOD_MS):
            self.collect()

    def collect(self) -> int | None:
        """Collect if there are many new objects. Returns the generation, 2 for all; None if nothing was collected."""
        self._periods += 1
        young = gc.get_count()[0]
        is_busy = _blocks or self._ended_blocks != _ended_blocks
        self._ended_blocks = _ended_blocks
        if is_busy and self._skipped < MAX_SKIPPED and young < MAX_YOUNG:
            self._skipped += 1
            return None
        self._skipped = 0
        if self._periods % PERIODS_BETWEEN_RETURNS == 0:
            self._return_memory()
        if young < MIN_YOUNG:
            return None
        self._grown += young - gc.collect(0)
        if self._grown <= max(MIN_GROWN, self._live // 4):
            return 0
        found = gc.collect()
        self._grown, self._live = 0, len(gc.get_objects())
        logger.debug("Collected %d of %d objects", found, found + self._live)
        return 2

    def _return_memory(self) -> None:
        if resident_bytes() > self._resident_bytes + KEPT_BYTES:
            return_freed_memory()
            self._resident_bytes = resident_bytes()
            logger.debug("Resident after free memory was returned: %d bytes", self._resident_bytes)
