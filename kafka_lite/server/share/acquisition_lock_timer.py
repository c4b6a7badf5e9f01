"""The time that a member has for the records that it has acquired.

Kafka 4.1: core/.../server/share/SharePartition.java (AcquisitionLockTimerTask),
server-common/.../server/util/timer/SystemTimerReaper.java · book 6.3.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from kafka_lite.common.purgatory.timer import SystemTimer, TimerTask
from kafka_lite.common.shutdownable_thread import ShutdownableThread

REAPER_WAIT_MS = 200
IDLE_REAPER_WAIT_MS = 60_000
"""How long the reaper sleeps while no lock is held; the first lock wakes it."""


class AcquisitionLockTimerTask(TimerTask):
    """The lock of the records that a member has acquired at once. All calls but ``run`` are under the partition's lock.

    It is released when the last of them is, or expires after the group's ``share.record.lock.duration.ms``.
    """

    def __init__(
        self, member_id: str, duration_ms: float, on_timeout: Callable[[AcquisitionLockTimerTask], None]
    ) -> None:
        super().__init__(duration_ms)
        self.member_id = member_id
        self.first_offset = self.last_offset = -1
        """The records of the lock are between them, inclusive."""
        self.is_expired = False
        self._on_timeout = on_timeout
        self._holders = 0

    @property
    def is_held(self) -> bool:
        """Whether there is a record that it waits for."""
        return self._holders > 0

    def held_by(self, states: int) -> None:
        """So many more states have the lock (fewer, if negative)."""
        self._holders += states
        if self._holders == 0:
            self.cancel()

    def run(self) -> None:
        """The time is over."""
        self._on_timeout(self)


class AcquisitionLockTimer:
    """Locks that expire, in a thread of its own, which starts with the first one."""

    def __init__(self, broker_id: int, timer: SystemTimer, *, reaper_enabled: bool = True) -> None:
        """Without a reaper somebody else must advance the clock of ``timer``."""
        self._timer = timer
        self._reaper = LockTimeoutReaper(f"share-group-lock-timeout-reaper-{broker_id}", timer)
        self._starting = threading.Lock()
        self._is_running = False
        self._is_closed = not reaper_enabled

    def add(self, lock: AcquisitionLockTimerTask) -> None:
        """Let the lock expire in time."""
        with self._starting:
            if not self._is_running and not self._is_closed:
                self._is_running = True
                self._reaper.start()
        self._timer.add(lock)

    def shutdown(self) -> None:
        """Stop the thread. Locks that are held do not expire any more."""
        with self._starting:
            self._is_closed = True
        if self._is_running:
            self._reaper.shutdown()


class LockTimeoutReaper(ShutdownableThread):
    """The thread in which locks expire."""

    def __init__(self, name: str, timer: SystemTimer) -> None:
        super().__init__(name)
        self._timer = timer

    def do_work(self) -> None:
        """Wait for locks to expire."""
        self._timer.advance_clock(REAPER_WAIT_MS if self._timer.size else IDLE_REAPER_WAIT_MS)

    def wake_up(self) -> None:
        """End the wait."""
        self._timer.wake_up()
