"""Threads for a host that has none: each is a greenlet, and runs until it waits.

Not in Kafka. A page's interpreter cannot start threads. Labs' tests start a few, so that one waits and another one
wakes it. Here a thread gives way only where it would wait (a lock, a condition, a sleep, a join)::

    running ── waits ──▶ the next thread, in the order of arrival, whose condition holds or whose time is over
                         nobody is ready: sleep until the first time-out; without any: DeadlockError in the main thread

A race between two threads is not found in this way: they never stop between two statements. The clone finds it.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import sys
import threading
import time
import types
from _threading_local import local as plain_local
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, Protocol

_FIRST_IDENT: Final = 1 << 40
"""The numbers of these threads: above any that a host gives."""


class DeadlockError(AssertionError):
    """Every thread waits for another one."""


class Stack(Protocol):
    """A greenlet."""

    parent: Any

    def switch(self, *args: Any) -> Any:
        """Run it until it switches back."""
        ...


class Wait(NamedTuple):
    """The reason why a thread waits, and until when."""

    is_ready: Callable[[], bool]
    deadline_s: float | None
    """Until when, on the monotonic clock; None: for ever."""


class Threads:
    """The scheduler: which greenlets wait, and for what."""

    def __init__(self, greenlet: Callable[..., Stack], current: Callable[[], Stack]) -> None:
        """``greenlet(run, parent)`` makes one, ``current()`` is the running one. The caller's is the main thread."""
        self._greenlet, self._current = greenlet, current
        self._main = current()
        self._main_ident = threading.main_thread().ident or threading.get_ident()
        self._idents: dict[int, int] = {}
        self._numbers = itertools.count(_FIRST_IDENT)
        self._waits: dict[Stack, Wait] = {}
        self._is_stuck = False
        self._sleep = time.sleep

    def ident(self) -> int:
        """The number of the running thread."""
        return self._idents.get(id(self._current()), self._main_ident)

    def begin(self, run: Callable[[], None]) -> None:
        """Let a function run as a thread, when somebody waits."""
        stack = self._greenlet(lambda: self._live(run), self._main)
        self._idents[id(stack)] = next(self._numbers)
        self._waits[stack] = Wait(lambda: True, None)

    def _live(self, run: Callable[[], None]) -> None:
        me = self._current()
        run()
        del self._idents[id(me)]
        me.parent = self._next()  # control goes there when this function returns

    def wait(self, is_ready: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Let others run until something holds; false if it does not within the time. Raises DeadlockError."""
        if is_ready():
            return True
        self._give_way(Wait(is_ready, None if timeout_s is None else time.monotonic() + timeout_s))
        return is_ready()

    def sleep(self, seconds: float) -> None:
        """``time.sleep``; others run meanwhile."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self._give_way(Wait(lambda: False, time.monotonic() + seconds))

    def _give_way(self, wait: Wait) -> None:
        me = self._current()
        self._waits[me] = wait
        chosen = self._next()
        if chosen is not me:
            chosen.switch()
        if self._is_stuck and me is self._main:
            self._is_stuck = False
            raise DeadlockError("every thread waits, and nobody is left to wake one: is a notify or a release missing?")

    def _next(self) -> Stack:
        """The thread to run now; it waits no longer."""
        while True:
            now_s = time.monotonic()
            for stack, (is_ready, deadline_s) in self._waits.items():
                if is_ready() or (deadline_s is not None and deadline_s <= now_s):
                    del self._waits[stack]
                    return stack
            deadlines = [wait.deadline_s for wait in self._waits.values() if wait.deadline_s is not None]
            if not deadlines:
                self._is_stuck = True
                del self._waits[self._main]
                return self._main
            self._sleep(max(0.0, min(deadlines) - now_s))


class Lock:
    """``threading.Lock``; a subclass has the scheduler."""

    threads: Threads

    def __init__(self) -> None:
        self._is_held = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As of ``threading.Lock``."""
        if not blocking:
            taken = not self._is_held
        else:
            taken = self.threads.wait(lambda: not self._is_held, None if timeout < 0 else timeout)
        if taken:
            self._is_held = True
        return taken

    def release(self) -> None:
        """As of ``threading.Lock``. Raises RuntimeError if nobody holds it."""
        if not self._is_held:
            raise RuntimeError("release unlocked lock")
        self._is_held = False

    def _at_fork_reinit(self) -> None:
        """The standard library registers it with ``os``; nobody forks here."""
        self._is_held = False

    def locked(self) -> bool:
        """Whether somebody holds it."""
        return self._is_held

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class Thread(threading.Thread):
    """``threading.Thread``; a subclass has the scheduler."""

    threads: Threads

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._ended = False
        self._number: int | None = None

    def start(self) -> None:
        """As of ``threading.Thread``. Raises RuntimeError if it was started."""
        if self._started.is_set():  # type: ignore[attr-defined]
            raise RuntimeError("threads can only be started once")
        self.threads.begin(self._live)
        self._started.wait()  # type: ignore[attr-defined]

    def _live(self) -> None:
        self._number = threading.get_ident()
        threading._active[self._number] = self  # type: ignore[attr-defined]
        self._started.set()  # type: ignore[attr-defined]
        try:
            self.run()
        except SystemExit:
            pass
        except BaseException:  # noqa: BLE001 - as in threading: the hook tells of it
            threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), self)))
        finally:
            self._ended = True
            del threading._active[self._number]  # type: ignore[attr-defined]

    def join(self, timeout: float | None = None) -> None:
        """As of ``threading.Thread``."""
        if self._number is None:
            raise RuntimeError("cannot join thread before it is started")
        self.threads.wait(lambda: self._ended, timeout)

    def is_alive(self) -> bool:
        """As of ``threading.Thread``."""
        return self._number is not None and not self._ended

    @property
    def ident(self) -> int | None:
        """As of ``threading.Thread``."""
        return self._number


@contextlib.contextmanager
def installed(threads: Threads) -> Iterator[None]:
    """Within the block, what is imported or made uses these threads in place of the host's."""
    lock = type("Lock", (Lock,), {"threads": threads})
    thread = type("Thread", (Thread,), {"threads": threads})
    replaced: list[tuple[types.ModuleType, dict[str, Any]]] = [
        (
            threading,
            {
                "Lock": lock, "_allocate_lock": lock, "_CRLock": None, "Thread": thread, "get_ident": threads.ident,
                "local": plain_local,
            },
        ),
        (time, {"sleep": threads.sleep}),
        (queue, {"SimpleQueue": queue._PySimpleQueue}),  # type: ignore[attr-defined]
    ]  # fmt: skip
    before = [(module, name, getattr(module, name)) for module, names in replaced for name in names]
    for module, names in replaced:
        vars(module).update(names)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
