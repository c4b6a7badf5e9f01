"""Makes glibc keep a little freed memory, and return much.

Kafka 0.10.2: none; there the JVM keeps its heap · book 2.1.4
"""

from __future__ import annotations

import logging
import os

logger = logging.getLogger(__name__)

_VARIABLES = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES")
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
MMAP_THRESHOLD_BYTES = 4 << 20
"""Blocks up to this size are taken from the heap instead of mapped one by one: most frames and decompressed data."""
TRIM_THRESHOLD_BYTES = 16 << 20
"""Up to this much free memory at the end of the heap stays with the process."""


def keep_freed_memory() -> bool:
    """Keep freed memory for reuse instead of returning it to the kernel. Returns whether that succeeded.

    The buffer of a 1 MB request lives as long as the request. By default glibc maps such a block and unmaps it when it
    is freed; the next request then touches 256 pages that the kernel must clear first, one page fault each. That took
    half of the CPU time of large produce requests. The price: after a peak, up to ``TRIM_THRESHOLD_BYTES`` of unused
    memory stay resident.

    A no-op with another C library, or if environment variables already configure malloc.
    Only for a process that is nothing but a server: the setting applies to the whole process.
    """
    if any(name in os.environ for name in _VARIABLES):
        return False
    try:
        os.confstr("CS_GNU_LIBC_VERSION")
        import ctypes  # imported here because a Python built without libffi does not have it

        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, ImportError, OSError, ValueError):
        return False
    kept = bool(mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES) and mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES))
    logger.debug("Freed memory %s", "is kept" if kept else "cannot be kept")
    return kept


def return_freed_memory() -> bool:
    """Return all free memory to the kernel, also what lies between used blocks. Returns whether there was any.

    A no-op with another C library. It takes some milliseconds, in which other threads run.
    """
    try:
        import ctypes

        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (AttributeError, ImportError, OSError):
        return False


def resident_bytes() -> int:
    """The memory of this process that is in RAM, in bytes; 0 where there is no /proc."""
    try:
        with open("/proc/self/statm", encoding="ascii") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
