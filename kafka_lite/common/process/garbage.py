"""Keeps Python's garbage collector away from work that makes much and drops little.

Kafka 0.10.2: none; the JVM's collectors do not visit old objects again and again · book 7.1.3
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """No cycles are collected within the block, in any thread: it makes objects that stay.

    Each of CPython's full collections visits all objects of the process. A controller that takes over makes a few for
    every partition, and would visit those of all partitions so far, again and again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
