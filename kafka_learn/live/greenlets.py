"""Greenlets for a host that has none: each runs on a stack of its own, which a *switcher* suspends and resumes.

Not in Kafka. The simulator runs each thread of its processes as a greenlet: a function that another one can leave in
the middle and continue later. On a computer the package ``greenlet`` does it, in assembler. WebAssembly has no way to
copy a stack; a page's switcher (``promises``) suspends it with JavaScript's promises instead. The rules are the same::

    greenlet(run, parent)       made, not begun
    g.switch(value)             begin it with run(value), or let its own switch() return the value; wait for a switch
                                back
    g.gr_frame                  the frame in which it waits, as a note: WebAssembly takes a waiting stack away
    run returns                 its parent's switch() returns the result
    run raises                  its parent's switch() raises the error

The simulator never throws into a greenlet, and never lets go of one that has begun: both are left out.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol


class Switcher(Protocol):
    """Suspends and resumes stacks. Each has a number; 0 is the stack on which everything begins."""

    def begin(self, me: int, body: Callable[[], None]) -> None:
        """Run ``body`` on a stack of its own; return when somebody resumes ``me``."""
        ...

    def swap(self, me: int, target: int) -> None:
        """Resume a suspended stack; return when somebody resumes ``me``."""
        ...

    def leave(self, target: int) -> None:
        """Resume a suspended stack. The calling one ends and is never resumed."""
        ...


class NotedFrame(NamedTuple):
    """A frame as it was when its greenlet began to wait."""

    f_code: types.CodeType
    f_lineno: int
    f_back: NotedFrame | None


class Greenlet:
    """``greenlet.greenlet``. A subclass has the switcher (``provider``)."""

    switcher: ClassVar[Switcher]
    current: ClassVar[Greenlet]
    count: ClassVar[int] = 0

    def __init__(self, run: Callable[..., Any] | None = None, parent: Greenlet | None = None) -> None:
        self.run = run
        self.parent: Greenlet = parent if parent is not None else type(self).current
        self.dead = False
        """Whether it has ended."""
        self.gr_frame: NotedFrame | None = None
        """The frame in which it waits; None unless it waits."""
        self._has_begun = False
        self._value: Any = None
        """The value that its ``switch`` returns when it is resumed."""
        self._error: BaseException | None = None
        """The error that its ``switch`` raises instead."""
        kind = _provided(type(self))
        kind.count += 1
        self._number = kind.count

    def __bool__(self) -> bool:
        """Whether it has begun and not ended."""
        return self._has_begun and not self.dead

    def switch(self, *args: Any) -> Any:
        """Let it run; returns the arguments of the switch back: one value, or a tuple of several or none."""
        kind = _provided(type(self))
        me, target = kind.current, self._living()
        value = args[0] if len(args) == 1 else args
        if target is me:
            return value
        kind.current = target
        me.gr_frame = _noted(sys._getframe(1))
        if target._has_begun:
            target._value = value
            kind.switcher.swap(me._number, target._number)
        else:
            target._has_begun = True
            kind.switcher.begin(me._number, lambda: target._live(args))
        return me._take()

    def _living(self) -> Greenlet:
        """The greenlet itself, or the next of its parents that has not ended."""
        found = self
        while found.dead:
            found = found.parent
        return found

    def _take(self) -> Any:
        self.gr_frame = None
        value, error, self._value, self._error = self._value, self._error, None, None
        if error is not None:
            raise error
        return value

    def _live(self, args: tuple[Any, ...]) -> None:
        """The whole life of the greenlet, on its own stack."""
        value: Any = None
        error: BaseException | None = None
        assert self.run is not None
        try:
            value = self.run(*args)
        except BaseException as raised:  # noqa: BLE001  its parent raises it
            error = raised
        self.dead = True
        kind = _provided(type(self))
        target = self._living()
        target._value, target._error = value, error
        kind.current = target
        kind.switcher.leave(target._number)


def _noted(frame: types.FrameType | None) -> NotedFrame | None:
    """Notes of a frame and its callers, in the running greenlet."""
    frames = []
    while frame is not None and frame.f_code is not Greenlet._live.__code__:
        frames.append(frame)
        frame = frame.f_back
    noted = None
    for frame in reversed(frames):
        noted = NotedFrame(frame.f_code, frame.f_lineno, noted)
    return noted


def _provided(kind: type[Greenlet]) -> type[Greenlet]:
    """The class that has the switcher: the current greenlet is the same for all of its subclasses."""
    return next(base for base in kind.__mro__ if "switcher" in vars(base))


def provider(switcher: Switcher) -> type[Greenlet]:
    """The class ``greenlet`` for one switcher; ``getcurrent`` is ``lambda: cls.current``."""
    kind: type[Greenlet] = type("greenlet", (Greenlet,), {"switcher": switcher, "count": -1})
    kind.current = object.__new__(kind)  # the parent of those to come, and of itself
    kind.current.__init__()  # type: ignore[misc]
    kind.current._has_begun = True
    return kind
