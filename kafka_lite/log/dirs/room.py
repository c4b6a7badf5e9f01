"""Whether there is room on the disk of a log directory again.

Kafka 0.10.2: none; there a broker stops at the first write that fails · book 6.1.5
"""

from __future__ import annotations

import os
from pathlib import Path

PROBE_FILE = "room-probe.tmp"
PROBE_BYTES = 1_048_576
"""A directory has room if so many bytes fit."""


def has_room(directory: Path) -> bool:
    """Write a file of ``PROBE_BYTES`` zeros and delete it; False if it does not fit.

    The free space of the file system is not enough: quotas, reserved blocks and limits of the process may forbid more.
    """
    probe = directory / PROBE_FILE
    try:
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    except OSError:
        return False
    try:
        return os.pwrite(descriptor, bytes(PROBE_BYTES), 0) == PROBE_BYTES
    except OSError:
        return False
    finally:
        os.close(descriptor)
        probe.unlink(missing_ok=True)
