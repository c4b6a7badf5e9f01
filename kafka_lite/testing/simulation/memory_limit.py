"""Ends a run that takes too much memory, before the machine does.

Not in Kafka.
"""

from __future__ import annotations

import re
import resource
from pathlib import Path
from typing import Final

GROWTH_BYTES: Final = 3 << 30
"""How much address space a run may take besides what its process has at the beginning. A good run takes a tenth."""
NEARLY: Final = 0.8
"""The share of it that was taken once a MemoryError is likely: it is raised for the first block that is too large."""


class MemoryLimit:
    """A block in which this process may take ``growth_bytes`` more memory; beyond that it gets a MemoryError."""

    def __init__(self, growth_bytes: int = GROWTH_BYTES) -> None:
        self._growth_bytes = growth_bytes
        self._at_first = 0
        self._limits = resource.getrlimit(resource.RLIMIT_AS)

    def __enter__(self) -> MemoryLimit:
        soft, hard = self._limits
        self._at_first = _bytes("VmSize")
        wanted = self._at_first + self._growth_bytes
        if soft == resource.RLIM_INFINITY or wanted < soft:
            resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
        return self

    def __exit__(self, *_: object) -> None:
        """Lift the limit, so that the run can be reported."""
        resource.setrlimit(resource.RLIMIT_AS, self._limits)

    @property
    def is_reached(self) -> bool:
        """Whether the process has taken nearly all of it at any time."""
        return _bytes("VmPeak") - self._at_first > self._growth_bytes * NEARLY


def _bytes(name: str) -> int:
    """A figure of /proc/self/status."""
    found = re.search(rf"^{name}:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) << 10
