"""Locks that the standard library makes for itself, such as that of ``logging`` or of a thread's end: they are quiet.

Not in Kafka. Another thread may run wherever a lock is touched. How often ``threading`` and ``logging`` touch locks of
their own depends on the version of Python; so, in a run that has to be the same on each of them, a touch counts only
if the lock was made by a program, or by a Condition, an Event or a queue of a program::

    threading.Lock()                   in a program           counts
    threading.Condition()              in a program           counts: its lock is made in threading, for the program
    threading.Thread(…)                in a program           quiet: Python 3.11 has a lock for its end, 3.13 a handle
    threading.RLock()                  in logging             quiet
"""

from __future__ import annotations

import sys
import types
from collections.abc import Collection
from typing import Any, Final

from kafka_lite.testing.simulation.system import threads
from kafka_lite.testing.simulation.system.threads import Lock, RLock

PRIMITIVES: Final = ("threading", "queue", threads.__name__)
"""Modules that make locks for their callers."""
_OWN: Final = ("<module>", "Thread.")
"""The beginnings of the names of what needs a lock itself: a module, and the functions that manage a thread."""


class QuietLock(Lock):
    """``_thread.lock``: another thread runs only if this one has to wait."""

    __slots__ = ()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock; returns False if it is not free in time."""
        if not self._is_locked:
            self._is_locked = True
            return True
        return blocking and self._wait(self.kernel.deadline_ns(timeout))

    def release(self) -> None:
        """Release the lock. Raises RuntimeError if it is free."""
        if not self._is_locked:
            raise RuntimeError("release unlocked lock")
        self._is_locked = False
        if self._waiters:
            self.kernel.scheduler.wake(self.kernel.scheduler.draw_from(self._waiters))

    __enter__ = acquire


class QuietRLock(RLock):
    """``_thread.RLock``: another thread runs only if this one has to wait."""

    __slots__ = ()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock, again if this thread already holds it; returns False if it is not free in time."""
        scheduler = self.kernel.scheduler
        if not self._count or self._owner is not scheduler.current:
            if self._count and not (blocking and self._wait(self.kernel.deadline_ns(timeout))):
                return False
            self._owner = scheduler.current
        self._count += 1
        return True

    def _let_go(self) -> None:
        self._owner = None
        if self._waiters:
            self.kernel.scheduler.wake(self.kernel.scheduler.draw_from(self._waiters))

    __enter__ = acquire


def choosing(kind: type[Lock | RLock], library: Collection[str]) -> type[Any]:
    """A subclass of ``_thread``'s kind of lock that makes quiet ones for modules of the ``library``."""

    def choose(cls: type[Any]) -> Any:
        return object.__new__(cls if is_of_a_program(sys._getframe(1), library) else silent)

    chosen: type[Any] = type(kind.__name__, (kind,), {"__slots__": (), "__new__": choose})
    quiet: type[Any] = QuietLock if issubclass(kind, Lock) else QuietRLock
    silent = type(kind.__name__, (quiet, chosen), {"__slots__": ()})
    return chosen


def is_of_a_program(frame: types.FrameType | None, library: Collection[str]) -> bool:
    """Whether a lock that is made in this frame belongs to a program, and not to the ``library``."""
    while frame is not None and _module(frame) in PRIMITIVES:
        if frame.f_code.co_qualname.startswith(_OWN):
            return False
        frame = frame.f_back
    return frame is not None and _module(frame).partition(".")[0] not in library


def _module(frame: types.FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
