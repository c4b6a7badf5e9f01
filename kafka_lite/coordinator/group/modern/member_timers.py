"""The deadlines of members: their sessions, and the partitions that they must give up.

Kafka 4.1: coordinator-common/.../runtime/CoordinatorTimer.java · book 5.4.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time

KINDS = ("session", "rebalance", "join", "sync")


class MemberTimer(NamedTuple):
    """A timer's name."""

    kind: str
    """One of ``KINDS``."""
    group_id: str
    member_id: str


class MemberTimers:
    """Deadlines that move with almost every heartbeat.

    A heartbeat only writes down its deadline. The scheduler has one task for each timer, which looks at the deadline
    when it runs, and waits for the rest if that has moved: a thousand members cost a thousand tasks in 45 seconds,
    whatever the number of heartbeats.
    """

    def __init__(self, scheduler: Scheduler, time: Time) -> None:
        self._scheduler = scheduler
        self._time = time
        self._lock = threading.Lock()
        self._deadlines: dict[MemberTimer, tuple[float, Callable[[], None]]] = {}
        self._scheduled: set[MemberTimer] = set()

    def schedule(self, timer: MemberTimer, delay_ms: float, on_expired: Callable[[], None]) -> None:
        """Set the timer, or move it; ``on_expired`` is called once it expires."""
        with self._lock:
            self._deadlines[timer] = (self._time.hi_res_ms() + delay_ms, on_expired)
            if timer in self._scheduled:
                return
            self._scheduled.add(timer)
        self._scheduler.schedule("-".join(timer), lambda: self._look(timer), delay_ms)

    def is_set(self, timer: MemberTimer) -> bool:
        """Whether the timer runs."""
        return timer in self._deadlines

    def cancel(self, timer: MemberTimer) -> None:
        """Forget the timer. Most timers do not run; only holders of the group's lock set them."""
        if timer in self._deadlines:
            with self._lock:
                self._deadlines.pop(timer, None)

    def cancel_member(self, group_id: str, member_id: str) -> None:
        """Forget all timers of a member."""
        for kind in KINDS:
            self.cancel(MemberTimer(kind, group_id, member_id))

    def _look(self, timer: MemberTimer) -> None:
        with self._lock:
            deadline_ms, on_expired = self._deadlines.get(timer, (None, None))
            left_ms = 0.0 if deadline_ms is None else deadline_ms - self._time.hi_res_ms()
            if left_ms <= 0:
                self._scheduled.discard(timer)
                self._deadlines.pop(timer, None)
        if on_expired is None:
            return
        if left_ms > 0:
            self._scheduler.schedule("-".join(timer), lambda: self._look(timer), left_ms)
        else:
            on_expired()
