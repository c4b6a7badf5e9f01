"""Tells the C library to keep memory that has been freed, where the C library is glibc.

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
"""Blocks up to this size come from the heap, not from the kernel one by one: most frames, and what is decompressed."""
TRIM_THRESHOLD_BYTES = 16 << 20
"""So much free memory at the heap's end stays with the process."""


def keep_freed_memory() -> bool:
    """Use memory that was freed again, instead of giving it back to the kernel; whether that could be arranged.

    The buffer of a request of 1 MB lives as long as the request. As it comes, glibc asks the kernel for such a block
    and gives it back at once; the next request then touches 256 pages that the kernel must first clear, one page fault
    each. That took half of the processor's time of large produce requests. The price: after a peak up to
    ``TRIM_THRESHOLD_BYTES`` stay resident that nobody uses.

    Nothing happens with another C library, nor where variables in the environment say how it shall be.
    This is for a process that is a server and nothing else: the setting holds for everything in it.
    """
    if any(name in os.environ for name in _VARIABLES):
        return False
    try:
        os.confstr("CS_GNU_LIBC_VERSION")
        import ctypes  # here, for a Python that was built without libffi has none

        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, ImportError, OSError, ValueError):
        return False
    kept = bool(mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES) and mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES))
    logger.debug("Freed memory %s", "is kept" if kept else "cannot be kept")
    return kept
