"""The system clock.

Kafka 0.10.2: clients/.../common/utils/SystemTime.java · book 6.3.3
"""

from __future__ import annotations

import threading
import time as _time
from typing import Final

_MONOTONIC: Final = _time.monotonic  # a constant avoids a lookup in the module at every reading


class SystemTime:
    """The system clock. In a module of its own, apart from ``Time``, because it is compiled: see ``make compiled``."""

    def milliseconds(self) -> int:
        """Wall clock, ms since the epoch."""
        return _time.time_ns() // 1_000_000

    def hi_res_ms(self) -> float:
        """Monotonic clock in ms."""
        return _MONOTONIC() * 1000.0

    def sleep(self, ms: float) -> None:
        """Block the calling thread for ``ms`` milliseconds."""
        _time.sleep(ms / 1000)

    def wait(self, condition: threading.Condition, timeout_ms: float) -> bool:
        """Wait on ``condition`` for at most ``timeout_ms``."""
        # The timeout may be Java's largest long, meaning "never", which is more than a lock can wait.
        return condition.wait(min(timeout_ms / 1000, threading.TIMEOUT_MAX))


SYSTEM_TIME = SystemTime()
