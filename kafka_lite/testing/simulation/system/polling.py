"""The module ``select``: ``epoll``, ``poll`` and ``select`` over the world's sockets.

Not in Kafka. A poll that finds nothing takes a little simulated time, so that other threads run: even a loop that
polls without waiting ends.
"""

from __future__ import annotations

import errno
import functools
import select
import types
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from kafka_lite.testing.simulation.endpoint import Watched
from kafka_lite.testing.simulation.scheduler import Task
from kafka_lite.testing.simulation.system.kernel import Kernel, NotSimulatedError, stand_in
from kafka_lite.testing.simulation.system.linux import POLL

IN, OUT, ERR, HUP = (POLL[name] for name in ("POLLIN", "POLLOUT", "POLLERR", "POLLHUP"))
"""Events; ``epoll`` has the same bits."""
EMPTY_POLL_NS, LONGEST_EMPTY_POLL_NS = 20_000, 2_000_000
"""How long a poll without a timeout takes if nothing is ready: doubled each time while a thread keeps polling."""


def wait_for(kernel: Kernel, watched: Watched, is_ready: Callable[[], bool], deadline_ns: int | None) -> bool:
    """Block until ``is_ready``; returns False if the deadline has passed."""
    scheduler, task = kernel.scheduler, kernel.task
    watcher = functools.partial(scheduler.wake, task)
    watched.watchers.append(watcher)
    try:
        while not is_ready():
            if not scheduler.park(deadline_ns) and not is_ready():
                return False
        return True
    finally:
        watched.watchers.remove(watcher)


def events_of(watched: Watched, wanted: int) -> int:
    """The events that are there, among those that are wanted; errors always count."""
    found = 0
    if wanted & IN and watched.is_readable:
        found |= IN
    if wanted & OUT and watched.is_writable:
        found |= OUT
    if watched.has_failed:
        found |= ERR
    if watched.has_hung_up:
        found |= HUP
    return found


class Poller:
    """``select.epoll``, level-triggered; one thread polls it at a time."""

    kernel: ClassVar[Kernel]

    def __init__(self, sizehint: int = -1, flags: int = 0) -> None:
        del sizehint, flags
        self._wanted: dict[int, tuple[int, Watched, Callable[[], None]]] = {}
        self._changed: dict[int, None] = {}
        """Descriptors that may be ready."""
        self._task: Task | None = None
        self._empty_poll_ns = EMPTY_POLL_NS
        self.closed = False
        self._fd = -1

    def register(self, fd: Any, eventmask: int = IN | OUT) -> None:
        """Watch a descriptor. Raises FileExistsError if it is watched."""
        number = _number(fd)
        if number in self._wanted:
            raise FileExistsError(errno.EEXIST, "File exists")
        self._want(number, eventmask)
        _, watched, watcher = self._wanted[number]
        watched.watchers.append(watcher)

    def _want(self, fd: int, events: int) -> None:
        watched = self.kernel.sockets.get(fd)
        if watched is None:
            raise NotSimulatedError(errno.EBADF, f"polling descriptor {fd}, which is no socket, is not simulated")
        self._wanted[fd] = events, watched, functools.partial(self._notice, fd)
        self._notice(fd)

    def modify(self, fd: Any, eventmask: int) -> None:
        """Watch for other events. Raises FileNotFoundError if it is not watched."""
        number = _number(fd)
        _, watched, watcher = self._entry(number)
        self._wanted[number] = eventmask, watched, watcher
        self._notice(number)

    def unregister(self, fd: Any) -> None:
        """Watch no more. Raises FileNotFoundError if it is not watched."""
        number = _number(fd)
        _, watched, watcher = self._entry(number)
        watched.watchers.remove(watcher)
        del self._wanted[number]
        self._changed.pop(number, None)

    def _entry(self, fd: int) -> tuple[int, Watched, Callable[[], None]]:
        try:
            return self._wanted[fd]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory") from None

    def _notice(self, fd: int) -> None:
        self._changed[fd] = None
        if self._task is not None:
            self.kernel.scheduler.wake(self._task)

    def poll(self, timeout: float | None = None, maxevents: int = -1) -> list[tuple[int, int]]:
        """Wait for events: descriptor and events of each that is ready. Seconds; None or negative waits for ever."""
        scheduler, task = self.kernel.scheduler, self.kernel.task
        deadline_ns = self.kernel.deadline_ns(timeout)
        scheduler.touch()
        if deadline_ns is not None and deadline_ns <= scheduler.now_ns and not self._ready(maxevents):
            deadline_ns = scheduler.now_ns + self._empty_poll_ns
            self._empty_poll_ns = min(2 * self._empty_poll_ns, LONGEST_EMPTY_POLL_NS)
        else:
            self._empty_poll_ns = EMPTY_POLL_NS
        while not (ready := self._ready(maxevents)):
            self._task = task
            in_time = scheduler.park(deadline_ns)
            self._task = None
            if not in_time:
                return self._ready(maxevents)
        return ready

    def _ready(self, maxevents: int) -> list[tuple[int, int]]:
        ready: list[tuple[int, int]] = []
        for fd in list(self._changed):
            wanted, watched, _ = self._wanted[fd]
            if self.kernel.sockets.get(fd) is not watched and not self._is_replaced(fd):
                self._drop(fd)
                continue
            wanted, watched, _ = self._wanted[fd]
            found = events_of(watched, wanted)
            if found:
                ready.append((fd, found))
                if len(ready) == maxevents:
                    break
            else:
                del self._changed[fd]
        return ready

    def _is_replaced(self, fd: int) -> bool:
        """A socket became a listener after it was registered: watch that."""
        watched = self.kernel.sockets.get(fd)
        if watched is None:
            return False
        wanted, _, watcher = self._wanted[fd]
        self._wanted[fd] = wanted, watched, watcher
        return True

    def _drop(self, fd: int) -> None:
        """A closed descriptor leaves by itself, as with epoll."""
        _, watched, watcher = self._wanted.pop(fd)
        watched.watchers.remove(watcher)
        self._changed.pop(fd, None)

    def fileno(self) -> int:
        """A dummy descriptor."""
        return self._fd

    def close(self) -> None:
        """Watch nothing more."""
        for _, watched, watcher in self._wanted.values():
            watched.watchers.remove(watcher)
        self._wanted.clear()
        self._changed.clear()
        self.closed = True

    def __enter__(self) -> Poller:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class MillisecondPoller(Poller):
    """``select.poll``: its timeout is in milliseconds.

    It has no ``close``, so a program drops it when it has polled, as kazoo does for each request. Therefore the sockets
    know of it only while it polls: they would call all that were ever dropped.
    """

    def register(self, fd: Any, eventmask: int = IN | OUT) -> None:
        """Watch a descriptor, or watch it for other events."""
        number = _number(fd)
        if number in self._wanted:
            self.modify(number, eventmask)
        else:
            self._want(number, eventmask)

    def unregister(self, fd: Any) -> None:
        """Watch no more. Raises FileNotFoundError if it is not watched."""
        number = _number(fd)
        self._entry(number)
        del self._wanted[number]
        self._changed.pop(number, None)

    def poll(self, timeout: float | None = None, maxevents: int = -1) -> list[tuple[int, int]]:
        """Wait for events."""
        entries = list(self._wanted.items())
        for fd, (_, watched, watcher) in entries:
            watched.watchers.append(watcher)
            self._changed[fd] = None
        try:
            return super().poll(None if timeout is None or timeout < 0 else timeout / 1000, maxevents)
        finally:
            for _, (_, watched, watcher) in entries:
                if watcher in watched.watchers:
                    watched.watchers.remove(watcher)


def _number(fd: Any) -> int:
    return fd if isinstance(fd, int) else int(fd.fileno())


def select_module(kernel: Kernel) -> types.ModuleType:
    """``select`` itself."""

    def select_once(
        readers: Iterable[Any], writers: Iterable[Any], failed: Iterable[Any], timeout: float | None = None
    ) -> Any:
        del failed
        with new_poller() as poller:
            readers, writers = list(readers), list(writers)
            wanted: dict[int, int] = {}
            for item, event in [*((item, IN) for item in readers), *((item, OUT) for item in writers)]:
                wanted[_number(item)] = wanted.get(_number(item), 0) | event
            for fd, events in wanted.items():
                poller.register(fd, events)
            ready = dict(poller.poll(timeout))
        readable = [item for item in readers if ready.get(_number(item), 0) & (IN | HUP | ERR)]
        return readable, [item for item in writers if ready.get(_number(item), 0) & (OUT | ERR)], []

    new_poller = type("epoll", (Poller,), {"kernel": kernel})
    new_poll = type("poll", (MillisecondPoller,), {"kernel": kernel})
    return stand_in("select", select, {**POLL, "epoll": new_poller, "poll": new_poll, "select": select_once})
