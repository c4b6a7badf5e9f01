"""How long a task was in each of its states.

Kafka 1.0: connect/runtime/.../connect/runtime/StateTracker.java · book 8.3.7
"""

from __future__ import annotations

import threading
from collections import defaultdict

from kafka_lite.common.time import Time


class StateTracker:
    """States are named as in Kafka's statuses, in small letters."""

    def __init__(self, state: str, time: Time) -> None:
        self.state = state
        self._time = time
        self._lock = threading.Lock()
        self._since_ms = time.hi_res_ms()
        self._durations_ms: dict[str, float] = defaultdict(float)

    def change_to(self, state: str) -> None:
        """Another state begins now."""
        with self._lock:
            now_ms = self._time.hi_res_ms()
            self._durations_ms[self.state] += now_ms - self._since_ms
            self.state, self._since_ms = state, now_ms

    def ratio(self, state: str) -> float:
        """The share of a state in the time since the task was made, from 0 to 1."""
        with self._lock:
            in_state_ms = self._time.hi_res_ms() - self._since_ms
            total_ms = sum(self._durations_ms.values()) + in_state_ms
            wanted_ms = self._durations_ms.get(state, 0.0) + (in_state_ms if state == self.state else 0.0)
            return wanted_ms / total_ms if total_ms > 0 else 0.0
