"""Whether there is room on the disk of a log directory again.

Kafka 0.10.2: none; there a broker stops at the first write that fails · book 6.1.5
"""

from __future__ import annotations

import os
from pathlib import Path

PROBE_FILE = "room-probe.tmp"
PROBE_BYTES = 1_048_576
"""How much must fit before a directory counts as one with room."""


def has_room(directory: Path) -> bool:
    """Write a file of ``PROBE_BYTES`` zeros and delete it; False if it does not fit.

    What the file system says is free is no answer: quotas, reserved blocks and the limits of a process count, too.
    """
    probe = directory / PROBE_FILE
    try:
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    except OSError:
        return False
    try:
        return os.pwrite(descriptor, memoryview(bytes(PROBE_BYTES)), 0) == PROBE_BYTES
    except OSError:
        return False
    finally:
        os.close(descriptor)
        probe.unlink(missing_ok=True)
