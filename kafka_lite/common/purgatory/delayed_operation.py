"""Requests that cannot be answered yet: they wait for an event, or for the end of their time.

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
"""How long a reaper sleeps while nothing is delayed: the timer wakes it for the first operation. (Kafka's wakes up five
times a second all the same; here each of that takes the interpreter from a thread that has a request at work.)"""


class DelayedOperation(TimerTask):
    """Something that is completed once, either because its condition has come true or because its time is up.

    A produce request with acks=all waits for the followers, a fetch for enough bytes, a join for the other members. A
    subclass says in ``try_complete`` what it waits for, and in ``on_complete`` what to do then::

                    try_complete: condition true ──┐
                                                   ├─▶ force_complete ─▶ on_complete      exactly once
        timer: delay_ms have passed ─▶ run ────────┘        └─ by run ─▶ on_expiration
    """

    def __init__(self, delay_ms: float) -> None:
        super().__init__(delay_ms)
        # A lock that is never given back: whoever gets it is the one who completes.
        self._completion = threading.Lock()
        self._checking = threading.Lock()
        self._check_again = False

    @property
    def is_completed(self) -> bool:
        """Whether somebody has completed the operation (``on_complete`` may still be running)."""
        return self._completion.locked()

    def force_complete(self) -> bool:
        """Complete now, unless that has been done; true for the one caller who did it."""
        if not self._completion.acquire(blocking=False):
            return False
        self.cancel()
        self.on_complete()
        return True

    @abstractmethod
    def try_complete(self) -> bool:
        """Look whether the condition is true; if so return what ``force_complete`` returns, else false."""

    @abstractmethod
    def on_complete(self) -> None:
        """What completing means; called exactly once."""

    @abstractmethod
    def on_expiration(self) -> None:
        """Called after ``on_complete`` when it was the time that completed the operation."""

    def run(self) -> None:
        """The time is up."""
        if self.force_complete():
            self.on_expiration()

    def safe_try_complete(self) -> bool:
        """``try_complete`` by one thread at a time; true when this call completed the operation.

        A thread that finds another one checking does not wait for it: both may hold locks that the other needs. But it
        may not simply leave either. The other may have looked before the event of which this thread brings the news,
        and nobody would look again. So it leaves a note, ``_check_again``, and tries once more, lest the other be gone
        already; whoever has finished a check looks for a note.
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
                return False  # noted: the other will look again
            else:
                self._check_again = True
        return False


T = TypeVar("T", bound=DelayedOperation)


class Watchers(Generic[T]):
    """The operations that wait for events of one key, in the order in which they came."""

    def __init__(self) -> None:
        self._operations: dict[T, None] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._operations)

    def watch(self, operation: T) -> None:
        """Let ``operation`` take part."""
        with self._lock:
            self._operations[operation] = None

    def try_complete_watched(self) -> int:
        """Give every operation the chance to complete; returns how many did. Removes those that are completed."""
        with self._lock:
            operations = list(self._operations)
        # Without the lock: on_complete may do anything, even come here again.
        completed = sum(operation.safe_try_complete() for operation in operations)
        self.purge_completed()
        return completed

    def purge_completed(self) -> int:
        """Remove what was completed through other keys, or by time; returns how many that were."""
        with self._lock:
            done = [operation for operation in self._operations if operation.is_completed]
            for operation in done:
                del self._operations[operation]
            return len(done)


class DelayedOperationPurgatory(Generic[T]):
    """Where delayed operations wait: in the timer, and in the watchers of each key whose events may complete them.

    ::

        try_complete_else_watch(operation, [t-0, t-1])         check_and_complete(t-1)
              │                                                      │ something happened to t-1
              ▼                                                      ▼
        watchers   t-0: [operation]     t-1: [operation, …]  ──▶ try_complete of each
        timer      operation, in delay_ms                    ──▶ the reaper completes what has expired

    An operation that is completed through one key stays in the lists of its other keys for a while. When an estimated
    ``purge_interval`` of completed operations lie about, the reaper removes them.
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
        """Complete the operation, or let it wait; true when it was completed here and now.

        It is tried, put on the lists, and tried *again*. An event between the first try and the lists would find
        nobody to wake; the second try sees what that event changed. Later events find the operation on the list.
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
            self._reaper.wake_up()  # it may sleep until the first operation that is left expires
        if operation.safe_try_complete():
            return True
        self._timer.add(operation)
        if operation.is_completed:
            operation.cancel()  # perhaps completed before it was in the timer, where nobody could cancel it then
        return False

    def check_and_complete(self, key: Hashable) -> int:
        """Something has happened to ``key``: try the operations that wait for it; returns how many completed."""
        watchers = self._watchers.get(key)
        if watchers is None:
            return 0
        completed = watchers.try_complete_watched()
        self._remove_if_empty(key, watchers)
        return completed

    @property
    def watched(self) -> int:
        """Sum of the lengths of all lists; one operation counts once per key, completed ones until they are purged."""
        return sum(map(len, self._all_watchers().values()))

    @property
    def delayed(self) -> int:
        """Operations that wait in the timer."""
        return self._timer.size

    def advance_clock(self, timeout_ms: float) -> None:
        """Expire what is due, waiting up to ``timeout_ms`` for it; then purge the lists if they seem to need it."""
        self._timer.advance_clock(timeout_ms)
        with self._lock:
            if not self._needs_purge:
                return
            self._estimated_total_operations = self.delayed
        self._purge()

    @property
    def _needs_purge(self) -> bool:
        """Whether so many completed operations lie about, by estimate."""
        return self._estimated_total_operations - self.delayed > self._purge_interval

    def shutdown(self) -> None:
        """Stop the reaper. What waits is neither completed nor expired."""
        if self._reaper is not None:
            self._reaper.shutdown()

    def _watch(self, key: Hashable, operation: T) -> None:
        with self._lock:
            self._watchers.setdefault(key, Watchers()).watch(operation)

    def _remove_if_empty(self, key: Hashable, watchers: Watchers[T]) -> None:
        if watchers:
            return
        with self._lock:
            # Again under the lock, for it may have filled meanwhile; and the key may have another list by now.
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
    """The thread that keeps a purgatory's time."""

    def __init__(self, name: str, purgatory: DelayedOperationPurgatory[T], timer: SystemTimer) -> None:
        super().__init__(name)
        self._purgatory = purgatory
        self._timer = timer

    def do_work(self) -> None:
        """Wait for something to expire: for a moment, or until there is something that can."""
        self._purgatory.advance_clock(REAPER_WAIT_MS if self._purgatory.delayed else IDLE_REAPER_WAIT_MS)

    def wake_up(self) -> None:
        """End the wait."""
        self._timer.wake_up()
