"""The lock of a group, and the actions that its holders defer until it is free.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala (delayedStore); later core/.../server/ActionQueue.scala
· book 5.2.1
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


class GroupLock:
    """A reentrant lock with a queue of actions that run once it is released.

    An append to ``__consumer_offsets`` may move the high watermark and so complete requests of other groups, whose
    callbacks take those groups' locks. Two threads that did this while holding their own groups' locks could deadlock.
    So nothing is appended while a group's lock is held. Records are prepared under the lock and
    *deferred*::

        with group.lock:                       prepare (state, pending offsets, bytes of the record)
            group.lock.defer(append)                                                  │
        # free: append ─▶ log ─▶ callback ─▶ with group.lock: complete  ◀─────────────┘

    Actions run one after the other, in the order in which they were deferred, so a group's records are in the log in
    the order of its changes. A thread that finds another thread running the actions leaves its own to that thread.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        self._deferred: deque[Callable[[], None]] = deque()
        self._at_work = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        is_free = self._depth == 0
        self._lock.release()
        if is_free and self._deferred:
            self._run_deferred()

    def defer(self, action: Callable[[], None]) -> None:
        """Run ``action`` once the lock is free. Must be called with the lock held."""
        self._deferred.append(action)

    def holding(self, action: Callable[[T], None]) -> Callable[[T], None]:
        """The action, which takes the lock before it runs."""

        def run(value: T) -> None:
            with self:
                action(value)

        return run

    def _run_deferred(self) -> None:
        # A thread that does not get _at_work may return: its holder looks for new actions again after releasing it.
        while self._deferred and self._at_work.acquire(blocking=False):
            try:
                while self._deferred:
                    self._run(self._deferred.popleft())
            finally:
                self._at_work.release()

    @staticmethod
    def _run(action: Callable[[], None]) -> None:
        try:
            action()
        except Exception:
            logger.exception("Error in a deferred action of a group")
