"""The lock of a group, and what its holders leave to be done when it is free.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala (delayedStore); later core/.../server/ActionQueue.scala
· book 5.2.1
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

logger = logging.getLogger(__name__)


class GroupLock:
    """A lock that may be taken again by its holder, with a queue of actions for when the last one gives it back.

    An append to ``__consumer_offsets`` may move the high watermark, and so complete requests of other groups, whose
    callbacks take those groups' locks. Two threads that did this with their own groups locked could wait for each
    other for ever. So nothing is appended with a group's lock held: what is to be written is made ready under the lock
    and *deferred*::

        with group.lock:                       prepare (state, pending offsets, bytes of the record)
            group.lock.defer(append)                                                  │
        # free: append ─▶ log ─▶ callback ─▶ with group.lock: complete  ◀─────────────┘

    Actions run one after the other, in the order in which they were deferred, so the log gets a group's records in the
    order of what happened to the group. The thread that finds another one at it leaves its own actions to that one.
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
        """Let ``action`` run when the lock is free. To be called with the lock held."""
        self._deferred.append(action)

    def _run_deferred(self) -> None:
        # Whoever does not get _at_work may leave: the other looks for new actions once more after giving it back.
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
            logger.exception("Error in what a group left to be done")
