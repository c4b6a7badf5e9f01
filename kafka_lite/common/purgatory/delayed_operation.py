"""Delayed operations: requests that cannot complete yet and wait for an event or a timeout.

Kafka 0.10.2: core/.../server/DelayedOperation.scala (Watchers, DelayedOperationPurgatory, ExpiredOperationReaper)
· book 6.3.1, 6.3.2, 6.3.3
"""

from __future__ import annotations

import logging
import threading
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

from kafka_lite.common.purgatory.timer import SystemTimer, TimerTask
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time

logger = logging.getLogger(__name__)

REAPER_WAIT_MS = 200
IDLE_REAPER_WAIT_MS = 60_000
"""How long a reaper sleeps while nothing is delayed; adding the first operation wakes it. Kafka's reaper wakes up five
times a second even then; here every wake-up would take the GIL from a thread that is processing a request."""


class DelayedOperation(TimerTask):
    """An operation that completes exactly once: when its condition becomes true, or when its timeout expires.

    A produce request with acks=all waits for the followers, a fetch for enough bytes, a join for the other members. A
    subclass checks its condition in ``try_complete`` and implements completion in ``on_complete``::

                    try_complete: condition true ──┐
                                                   ├─▶ force_complete ─▶ on_complete      exactly once
        timer: delay_ms have passed ─▶ run ────────┘        └─ by run ─▶ on_expiration
    """

    def __init__(self, delay_ms: float) -> None:
        super().__init__(delay_ms)
        # This lock is never released: the thread that acquires it completes the operation.
        self._completion = threading.Lock()
        self._checking = threading.Lock()
        self._check_again = False

    @property
    def is_completed(self) -> bool:
        """Whether the operation has been completed (``on_complete`` may still be running)."""
        return self._completion.locked()

    def force_complete(self) -> bool:
        """Complete the operation unless it is already completed. Returns True only to the caller that completed it."""
        if not self._completion.acquire(blocking=False):
            return False
        self.cancel()
        self.on_complete()
        return True

    @abstractmethod
    def try_complete(self) -> bool:
        """Check the condition. If it is true, return the result of ``force_complete``; otherwise return False."""

    @abstractmethod
    def on_complete(self) -> None:
        """Complete the operation; called exactly once."""

    @abstractmethod
    def on_expiration(self) -> None:
        """Called after ``on_complete`` if the operation expired."""

    def run(self) -> None:
        """Expire the operation; called by the timer."""
        if self.force_complete():
            self.on_expiration()

    def safe_try_complete(self) -> bool:
        """Call ``try_complete`` in one thread at a time. Returns True if this call completed the operation.

        A thread that finds another one checking must not block: each may hold locks that the other needs. But it cannot
        just leave either: the other thread may have checked before the event that this thread reports, and nobody would
        check again. So it sets ``_check_again`` and tries once more, in case the other thread has already finished. A
        thread that finishes a check looks at the flag.
        """
        while not self.is_completed:
            if self._checking.acquire(blocking=False):
                try:
                    self._check_again = False
                    completed = self.try_complete()
                finally:
                    self._checking.release()
                if completed or not self._check_again:
                    return completed
            elif self._check_again:
                return False  # the flag is set: the other thread will check again
            else:
                self._check_again = True
        return False


T = TypeVar("T", bound=DelayedOperation)


class Watchers(Generic[T]):
    """The operations waiting for events on one key, in order of arrival."""

    def __init__(self) -> None:
        self._operations: dict[T, None] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._operations)

    def watch(self, operation: T) -> None:
        """Add ``operation`` to the list."""
        with self._lock:
            self._operations[operation] = None

    def try_complete_watched(self) -> int:
        """Try to complete every operation; returns how many this call completed. Removes all completed operations."""
        with self._lock:
            operations = list(self._operations)
        # Called without the lock, because on_complete may do anything, even call this method again.
        completed = sum(operation.safe_try_complete() for operation in operations)
        self.purge_completed()
        return completed

    def purge_completed(self) -> int:
        """Remove operations that completed through another key or expired; returns how many were removed."""
        with self._lock:
            done = [operation for operation in self._operations if operation.is_completed]
            for operation in done:
                del self._operations[operation]
            return len(done)


class DelayedOperationPurgatory(Generic[T]):
    """Holds delayed operations in a timer and in the watch list of each key whose events may complete them.

    ::

        try_complete_else_watch(operation, [t-0, t-1])         check_and_complete(t-1)
              │                                                      │ something happened to t-1
              ▼                                                      ▼
        watchers   t-0: [operation]     t-1: [operation, …]  ──▶ try_complete of each
        timer      operation, in delay_ms                    ──▶ the reaper completes what has expired

    An operation that completes through one key stays in the watch lists of its other keys for a while. The reaper
    removes completed operations once an estimated ``purge_interval`` of them have accumulated.
    """

    def __init__(
        self,
        name: str,
        *,
        broker_id: int = 0,
        purge_interval: int = 1000,
        timer: SystemTimer | None = None,
        reaper_enabled: bool = True,
        time: Time = SYSTEM_TIME,
    ) -> None:
        self.name = name
        self._purge_interval = purge_interval
        self._timer = timer if timer is not None else SystemTimer(time=time)
        self._watchers: dict[Hashable, Watchers[T]] = {}
        self._lock = threading.Lock()  # guards the map, not the lists in it
        self._estimated_total_operations = 0
        self._reaper: ExpiredOperationReaper | None = None
        if reaper_enabled:
            self._reaper = ExpiredOperationReaper(f"ExpirationReaper-{broker_id}-{name}", self, self._timer)
            self._reaper.start()

    def try_complete_else_watch(self, operation: T, watch_keys: Sequence[Hashable]) -> bool:
        """Complete the operation or watch it. Returns True if this call completed it.

        The operation is tried, added to the watch lists, and tried *again*. An event between the first try and the
        adding would not find it in a list; the second try sees the effect of that event. Later events find it in the
        lists.
        """
        if not watch_keys:
            raise ValueError("an operation that watches nothing could only expire")
        if operation.safe_try_complete():
            return True
        for key in watch_keys:
            if operation.is_completed:
                return False
            self._watch(key, operation)
        with self._lock:
            self._estimated_total_operations += 1
        if self._needs_purge and self._reaper is not None:
            self._reaper.wake_up()  # otherwise it may sleep until the next remaining operation expires
        if operation.safe_try_complete():
            return True
        self._timer.add(operation)
        if operation.is_completed:
            operation.cancel()  # it may have completed before it was in the timer, too early to be cancelled there
        return False

    def check_and_complete(self, key: Hashable) -> int:
        """Try the operations that watch ``key``; called after an event on it. Returns how many completed."""
        watchers = self._watchers.get(key)
        if watchers is None:
            return 0
        completed = watchers.try_complete_watched()
        self._remove_if_empty(key, watchers)
        return completed

    @property
    def watched(self) -> int:
        """Total length of all watch lists: one operation counts once per key, and until it is purged if completed."""
        return sum(map(len, self._all_watchers().values()))

    @property
    def delayed(self) -> int:
        """Number of operations in the timer."""
        return self._timer.size

    def advance_clock(self, timeout_ms: float) -> None:
        """Wait up to ``timeout_ms`` for operations to expire, and expire them; then purge the lists if necessary."""
        self._timer.advance_clock(timeout_ms)
        with self._lock:
            if not self._needs_purge:
                return
            self._estimated_total_operations = self.delayed
        self._purge()

    @property
    def _needs_purge(self) -> bool:
        """Whether the estimated number of completed operations still in the lists exceeds the purge interval."""
        return self._estimated_total_operations - self.delayed > self._purge_interval

    def shutdown(self) -> None:
        """Stop the reaper. Waiting operations are neither completed nor expired."""
        if self._reaper is not None:
            self._reaper.shutdown()

    def _watch(self, key: Hashable, operation: T) -> None:
        with self._lock:
            watchers = self._watchers.get(key)
            if watchers is None:
                watchers = self._watchers[key] = Watchers()
            watchers.watch(operation)

    def _remove_if_empty(self, key: Hashable, watchers: Watchers[T]) -> None:
        if watchers:
            return
        with self._lock:
            # Check again under the lock: the list may have filled in the meantime, or the key may have another list.
            if not watchers and self._watchers.get(key) is watchers:
                del self._watchers[key]

    def _all_watchers(self) -> dict[Hashable, Watchers[T]]:
        with self._lock:
            return dict(self._watchers)

    def _purge(self) -> None:
        purged = 0
        for key, watchers in self._all_watchers().items():
            purged += watchers.purge_completed()
            self._remove_if_empty(key, watchers)
        logger.debug("Purged %d completed operations from the watch lists of %s", purged, self.name)


class ExpiredOperationReaper(ShutdownableThread):
    """The thread that expires a purgatory's operations."""

    def __init__(self, name: str, purgatory: DelayedOperationPurgatory[T], timer: SystemTimer) -> None:
        super().__init__(name)
        self._purgatory = purgatory
        self._timer = timer

    def do_work(self) -> None:
        """Wait for operations to expire: briefly if there are any, otherwise until the first one is added."""
        self._purgatory.advance_clock(REAPER_WAIT_MS if self._purgatory.delayed else IDLE_REAPER_WAIT_MS)

    def wake_up(self) -> None:
        """End the wait."""
        self._timer.wake_up()
