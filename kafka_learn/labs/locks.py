"""Locks that know who holds them: a test can say which state was touched without its lock."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Collection, Iterator
from types import FrameType, TracebackType
from typing import Any

import pytest


class TracedLock:
    """A lock in front of another one that knows whether this thread holds it."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self._holder: int | None = None
        self._depth = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As of ``threading.Lock``."""
        taken: bool = self._lock.acquire(blocking, timeout)
        if taken:
            self._holder = threading.get_ident()
            self._depth += 1
        return taken

    def release(self) -> None:
        """As of ``threading.Lock``."""
        self._depth -= 1
        if self._depth == 0:
            self._holder = None
        self._lock.release()

    def is_held(self) -> bool:
        """Whether this thread holds it."""
        return self._holder == threading.get_ident()

    def __enter__(self) -> TracedLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)


@contextlib.contextmanager
def touched_only_with(
    owner: Any, lock: str, *, state: Collection[str], within: Collection[str], reads: bool = True
) -> Iterator[None]:
    """Within the block, methods of an object touch its state only while their thread holds its lock.

    ``lock`` and ``state`` are names of attributes, ``within`` those of the methods, which may do so by way of others.
    Fails the test otherwise, with the attribute and the line of the method. ``reads``: reading it counts, too.
    """
    real_lock, real_class = getattr(owner, lock), type(owner)
    traced = TracedLock(real_lock)
    found: list[str] = []

    def note(name: str) -> None:
        if name in state and not traced.is_held() and (place := _place(sys._getframe(2), owner, within)):
            found.append(f"{place} touches self.{name} without self.{lock}, while another thread may change it")
            pytest.fail(found[0])

    class Watched(real_class):  # type: ignore[misc, valid-type]
        __slots__ = ()

        def __getattribute__(self, name: str) -> Any:
            if reads:
                note(name)
            return super().__getattribute__(name)

        def __setattr__(self, name: str, value: Any) -> None:
            note(name)
            super().__setattr__(name, value)

    object.__setattr__(owner, lock, traced)
    owner.__class__ = Watched
    try:
        yield
    finally:
        owner.__class__ = real_class
        object.__setattr__(owner, lock, real_lock)
    if found:  # in another thread, or in code that catches everything
        pytest.fail(found[0])


def _place(frame: FrameType | None, owner: object, within: Collection[str]) -> str:
    """The method of the object among the callers, and its line; empty if there is none."""
    while frame is not None and (frame.f_code.co_name not in within or frame.f_locals.get("self") is not owner):
        frame = frame.f_back
    return f"{frame.f_code.co_name} (line {frame.f_lineno})" if frame is not None else ""
