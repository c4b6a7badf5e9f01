"""Waiting for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from tests.support.patience import Patience

TIMEOUT_S = 60.0
POLL_S = 0.01
T = TypeVar("T")


def eventually(condition: Callable[[], T], what: str | Callable[[], object] = "", timeout_s: float = TIMEOUT_S) -> T:
    """Call ``condition`` until it returns something true, and return that.

    Raises AssertionError after ``timeout_s`` of a quiet machine (``Patience``), with ``what`` was awaited (a text or a
    function that returns one) and the last result of the condition. The timeout is for what is broken, not for what is
    slow: a generous one costs nothing.
    """
    patience = Patience(timeout_s)
    while not (last := condition()):
        if patience.is_over():
            told = what() if callable(what) else what
            raise AssertionError(f"did not happen in {timeout_s:g} s: {told or 'it'} ({last!r})")
        time.sleep(POLL_S)
    return last
