"""The time limit of a test on a host without signals: the interpreter's trace looks at the clock.

Not in Kafka. On a computer a signal interrupts a test (``pytest_plugin``). A page has none, but Python calls a function
for each call, and for each line of a file that asks for it: here for those of the learner's.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import FrameType
from typing import Any


@contextlib.contextmanager
def limited(limit_s: float, files: Collection[Path], stop: Callable[[FrameType], None]) -> Iterator[None]:
    """Within the block: once the time is over, ``stop(frame)`` is called in the frame that runs, and may raise.

    That is at the next call of any function, or the next line of one of these files.
    """
    own = {str(file) for file in files} | {str(file.resolve()) for file in files}
    deadline_s, clock = time.monotonic() + limit_s, time.monotonic

    def look(frame: FrameType) -> None:
        if clock() > deadline_s:
            sys.settrace(None)
            stop(frame)

    def at_line(frame: FrameType, _event: str, _argument: Any) -> Any:
        look(frame)
        return at_line

    def at_call(frame: FrameType, _event: str, _argument: Any) -> Any:
        look(frame)
        return at_line if frame.f_code.co_filename in own else None

    before = sys.gettrace()
    sys.settrace(at_call)
    try:
        yield
    finally:
        sys.settrace(before)
