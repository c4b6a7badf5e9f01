"""The module ``_thread``: threads that are tasks, and locks that let other tasks run.

Not in Kafka. ``threading``, ``queue`` and ``concurrent.futures`` are loaded again on top of it, unchanged.
"""

from __future__ import annotations

import _thread
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from kafka_lite.testing.simulation.scheduler import Task
from kafka_lite.testing.simulation.system.kernel import Kernel, stand_in

MAIN_IDENT = 1


class Hashed:
    """A lock's hash: the same in every run, since ``threading`` keeps locks in a set."""

    kernel: ClassVar[Kernel]
    __slots__ = ("_number",)
    _number: int

    def __hash__(self) -> int:
        try:
            return self._number
        except AttributeError:
            self._number = next(self.kernel.lock_numbers)
            return self._number


class Lock(Hashed):
    """``_thread.lock``. Which of several waiting threads gets it is drawn from the seed."""

    __slots__ = ("__weakref__", "_is_locked", "_waiters")

    def __init__(self) -> None:
        self._is_locked = False
        self._waiters: list[Task] | None = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock; returns False if it is not free in time."""
        scheduler = self.kernel.scheduler
        scheduler.touch()
        if not self._is_locked:
            self._is_locked = True
            return True
        if not blocking:
            return False
        return self._wait(self.kernel.deadline_ns(timeout))

    def _wait(self, deadline_ns: int | None) -> bool:
        scheduler, task = self.kernel.scheduler, self.kernel.task
        if self._waiters is None:
            self._waiters = []
        while self._is_locked:
            self._waiters.append(task)
            in_time = scheduler.park(deadline_ns)
            if task in self._waiters:
                self._waiters.remove(task)
            if not in_time and self._is_locked:
                return False
        self._is_locked = True
        return True

    def release(self) -> None:
        """Release the lock, even if another thread holds it. Raises RuntimeError if it is free."""
        if not self._is_locked:
            raise RuntimeError("release unlocked lock")
        self._is_locked = False
        scheduler = self.kernel.scheduler
        if self._waiters:
            scheduler.wake(scheduler.draw_from(self._waiters))
        scheduler.touch()

    def locked(self) -> bool:
        """Whether somebody holds it."""
        return self._is_locked

    __enter__ = acquire  # the same function: a world spends most of its calls on locks

    def __exit__(self, *_: object) -> None:
        self.release()

    def _at_fork_reinit(self) -> None:
        self._is_locked = False
        self._waiters = None

    def __repr__(self) -> str:
        return f"<{'locked' if self._is_locked else 'unlocked'} lock of {self.kernel.owner.name}>"


class RLock(Hashed):
    """``_thread.RLock``."""

    __slots__ = ("__weakref__", "_count", "_owner", "_waiters")

    def __init__(self) -> None:
        self._owner: Task | None = None
        self._count = 0
        self._waiters: list[Task] | None = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock, again if this thread already holds it; returns False if it is not free in time."""
        scheduler = self.kernel.scheduler
        if self._count and self._owner is scheduler.current:
            self._count += 1
            return True
        scheduler.touch()
        if self._count and not (blocking and self._wait(self.kernel.deadline_ns(timeout))):
            return False
        self._owner = scheduler.current
        self._count = 1
        return True

    def _wait(self, deadline_ns: int | None) -> bool:
        scheduler, task = self.kernel.scheduler, self.kernel.task
        if self._waiters is None:
            self._waiters = []
        while self._count:
            self._waiters.append(task)
            in_time = scheduler.park(deadline_ns)
            if task in self._waiters:
                self._waiters.remove(task)
            if not in_time and self._count:
                return False
        return True

    def release(self) -> None:
        """Release it once. Raises RuntimeError if another thread holds it."""
        if not self._count or self._owner is not self.kernel.scheduler.current:
            raise RuntimeError("cannot release un-acquired lock")
        self._count -= 1
        if not self._count:
            self._let_go()

    def _let_go(self) -> None:
        self._owner = None
        scheduler = self.kernel.scheduler
        if self._waiters:
            scheduler.wake(scheduler.draw_from(self._waiters))
        scheduler.touch()

    __enter__ = acquire

    def __exit__(self, *_: object) -> None:
        self.release()

    # What threading.Condition calls.

    def _is_owned(self) -> bool:
        return self._count > 0 and self._owner is self.kernel.scheduler.current

    def _release_save(self) -> tuple[int, Task | None]:
        if not self._count:
            raise RuntimeError("cannot release un-acquired lock")
        saved, self._count = (self._count, self._owner), 0
        self._let_go()
        return saved

    def _acquire_restore(self, saved: tuple[int, Task | None]) -> None:
        self.acquire()
        self._count, self._owner = saved

    def _recursion_count(self) -> int:
        return self._count if self._is_owned() else 0

    def _at_fork_reinit(self) -> None:
        self._owner, self._count, self._waiters = None, 0, None


class Local:
    """``_thread._local``: each thread sees attributes of its own.

    Only Python 3.13 asks for it: there ``threading`` cannot import ``_threading_local``, as earlier versions do.
    """

    kernel: ClassVar[Kernel]
    __slots__ = ("__dict__", "_arguments", "_attributes")

    def __new__(cls, /, *args: Any, **kwargs: Any) -> Local:  # noqa: D102  as object.__new__
        self = object.__new__(cls)
        object.__setattr__(self, "_arguments", (args, kwargs))
        object.__setattr__(self, "_attributes", {_task_number(cls.kernel): {}})
        return self

    def __getattribute__(self, name: str) -> Any:
        _show_own(self)
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        _show_own(self)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        _show_own(self)
        object.__delattr__(self, name)


def _show_own(local: Local) -> None:
    """Give the object the running thread's attributes; in a new thread it is initialized again."""
    attributes: dict[int, dict[str, Any]] = object.__getattribute__(local, "_attributes")
    number = _task_number(type(local).kernel)
    is_new = number not in attributes
    object.__setattr__(local, "__dict__", attributes.setdefault(number, {}))
    if is_new and type(local).__init__ is not object.__init__:
        args, kwargs = object.__getattribute__(local, "_arguments")
        type(local).__init__(local, *args, **kwargs)


def _task_number(kernel: Kernel) -> int:
    task = kernel.scheduler.current
    return 0 if task is None else task.number


class ThreadHandle:
    """``_thread._ThreadHandle``: what ``threading`` of Python 3.13 joins a thread by."""

    kernel: ClassVar[Kernel]

    def __init__(self) -> None:
        self.ident = 0
        self._is_done = False
        self._waiters: list[Task] = []

    def is_done(self) -> bool:
        """Whether the thread has ended."""
        return self._is_done

    def join(self, timeout: float | None = None) -> None:
        """Block until the thread has ended, or for ``timeout`` seconds. A negative timeout is none."""
        scheduler, deadline_ns = self.kernel.scheduler, self.kernel.deadline_ns(timeout)
        while not self._is_done:
            task = self.kernel.task
            self._waiters.append(task)
            in_time = scheduler.park(deadline_ns)
            if task in self._waiters:
                self._waiters.remove(task)
            if not in_time:
                return

    def _set_done(self) -> None:
        self._is_done = True
        waiters, self._waiters = self._waiters, []
        for task in waiters:
            self.kernel.scheduler.wake(task)


class ExceptHookArgs(tuple[Any, ...]):
    """The argument of ``threading.excepthook``: type, value, traceback and thread."""

    __slots__ = ()

    @property
    def exc_type(self) -> type[BaseException]:
        """The exception's type."""
        return self[0]  # type: ignore[no-any-return]

    @property
    def exc_value(self) -> BaseException:
        """The exception."""
        return self[1]  # type: ignore[no-any-return]

    @property
    def exc_traceback(self) -> types.TracebackType | None:
        """Where it was raised."""
        return self[2]  # type: ignore[no-any-return]

    @property
    def thread(self) -> Any:
        """The thread that ended."""
        return self[3]


def _forget(kernel: Kernel, task: Task) -> None:
    kernel.thread_idents.pop(task.number, None)


class Threads:
    """The functions of ``_thread`` for one process."""

    def __init__(self, kernel: Kernel, choosing: Callable[[type[Lock | RLock]], type[Any]] = lambda kind: kind) -> None:
        """``choosing`` gives the kind of lock that takes the place of another one (``quiet_locks``)."""
        self._kernel = kernel
        self._lock = choosing(type("lock", (Lock,), {"kernel": kernel, "__slots__": ()}))
        self._rlock = choosing(type("RLock", (RLock,), {"kernel": kernel, "__slots__": ()}))
        self._handle = type("_ThreadHandle", (ThreadHandle,), {"kernel": kernel})
        self._joined_at_exit: list[ThreadHandle] = []

    def start_joinable(
        self, function: Callable[[], object], handle: ThreadHandle | None = None, daemon: bool = True
    ) -> ThreadHandle:
        """``start_joinable_thread`` of Python 3.13: returns the handle by which the thread can be joined."""
        joinable: ThreadHandle = self._handle() if handle is None else handle
        joinable.ident = self._spawn(function, (), {}, joinable._set_done)
        if not daemon:
            self._joined_at_exit.append(joinable)
        return joinable

    def handle_of(self, ident: int) -> ThreadHandle:
        """``_make_thread_handle``: the handle of a thread that runs already."""
        handle: ThreadHandle = self._handle()
        handle.ident = ident
        return handle

    def shutdown(self) -> None:
        """``_shutdown`` of Python 3.13: wait for all threads but daemons."""
        while self._joined_at_exit:
            self._joined_at_exit.pop().join()

    def start(self, function: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, Any] = {}) -> int:
        """``start_new_thread``: returns the thread's ident."""
        return self._spawn(function, args, kwargs)

    def _spawn(
        self, function: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, Any],
        at_end: Callable[[], None] = lambda: None,
    ) -> int:  # fmt: skip
        kernel = self._kernel
        ident = next(kernel.thread_numbers)

        def run() -> None:
            try:
                function(*args, **kwargs)
            except SystemExit:
                pass
            except Exception:  # noqa: BLE001  as Python's own: it is reported, and the thread ends
                self._report(f"thread {ident}", traceback.format_exc())

        name = getattr(getattr(function, "__self__", None), "name", None) or getattr(function, "__name__", "thread")
        task = kernel.scheduler.spawn(kernel.owner, str(name), run)
        kernel.thread_idents[task.number] = ident
        task.at_end += [lambda: _forget(kernel, task), at_end]
        return ident

    def ident(self) -> int:
        """``get_ident``: 1 for the main thread."""
        task = self._kernel.scheduler.current
        return MAIN_IDENT if task is None else self._kernel.thread_idents.get(task.number, MAIN_IDENT)

    def sentinel(self) -> Lock:
        """``_set_sentinel``: a lock that is released when the thread has ended.

        The main thread's is made when the modules are imported, perhaps in a thread of the scenario: not that one's.
        """
        lock: Lock = self._lock()
        task = self._kernel.scheduler.current
        if task is not None and task.owner is self._kernel.owner:
            task.at_end.append(lambda: lock.release() if lock.locked() else None)
        return lock

    def excepthook(self, args: ExceptHookArgs) -> None:
        """``_excepthook``: a thread ends with an exception."""
        if args.exc_type is SystemExit:
            return
        lines = traceback.format_exception(args.exc_type, args.exc_value, args.exc_traceback)
        self._report(getattr(args.thread, "name", "a thread"), "".join(lines))

    def _report(self, name: str, text: str) -> None:
        self._kernel.uncaught.append(f"{self._kernel.owner.name}: {name} ended with an exception\n{text}")
        self._kernel.note(f"{name} ended with an exception\n{text}")

    def module(self) -> types.ModuleType:
        """``_thread`` itself."""
        names: dict[str, object] = {
            "start_new_thread": self.start, "start_new": self.start,
            "start_joinable_thread": self.start_joinable, "_ThreadHandle": self._handle,
            "_make_thread_handle": self.handle_of, "_get_main_thread_ident": lambda: MAIN_IDENT,
            "_shutdown": self.shutdown,
            "get_ident": self.ident, "get_native_id": self.ident,
            "allocate_lock": self._lock, "allocate": self._lock, "LockType": self._lock, "RLock": self._rlock,
            "_set_sentinel": self.sentinel, "_excepthook": self.excepthook, "_ExceptHookArgs": ExceptHookArgs,
            "TIMEOUT_MAX": _thread.TIMEOUT_MAX, "error": RuntimeError, "stack_size": lambda _size=0: 0,
            "daemon_threads_allowed": lambda: True, "_is_main_interpreter": lambda: True,
            "_count": lambda: len(self._kernel.thread_idents),
        }  # fmt: skip
        if sys.version_info >= (3, 13):
            names["_local"] = type("_local", (Local,), {"kernel": self._kernel})
        return stand_in("_thread", None, names)
