"""Lets the threads of others in sooner while one computes for long.

Kafka 0.10.2: none; there threads run in parallel · book 2.3.3
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

TURN_S: Final = 0.001
"""How long a thread that computes keeps the GIL from one that waits for it; CPython's default is five times that."""

_lock = threading.Lock()
_blocks = 0
_usual_turn_s = 0.0


@contextmanager
def short_turns() -> Iterator[None]:
    """Within the block, a thread that waits for the GIL gets it after ``TURN_S``.

    A network thread gives up the GIL for each system call, five times for a small Produce request, and each time waits
    for one turn of the thread that computes. Outside of such blocks turns stay as they are, since each costs a switch.
    Blocks may overlap, in different threads too.
    """
    global _blocks, _usual_turn_s
    with _lock:
        _blocks += 1
        if _blocks == 1:
            _usual_turn_s = sys.getswitchinterval()
            sys.setswitchinterval(min(TURN_S, _usual_turn_s))
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if not _blocks:
                sys.setswitchinterval(_usual_turn_s)
