"""The events of a world: a running hash of all of them, and lines for a reader.

Not in Kafka. The hash is how two runs of one seed are compared: every step of every thread and every piece of data that
arrives is in it.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable
from struct import Struct

NOTES = 2000
"""How many notes are kept: the last ones, which lead to what went wrong."""
_STEP = Struct("<qI")


class EventLog:
    """A hash of all events, the last ``NOTES`` notes, and every event as a line if ``trace`` is given."""

    def __init__(self, trace: Callable[[str], None] | None = None) -> None:
        self.notes: deque[str] = deque(maxlen=NOTES)
        """Lines for a reader: processes that start and end, faults, logged warnings."""
        self.listener: Callable[[int, str], None] | None = None
        """Gets the time and text of each note."""
        self.steps = 0
        """How many steps all threads have taken."""
        self._trace = trace
        self._hash = hashlib.blake2b(digest_size=8)

    @property
    def digest(self) -> str:
        """The hash of all events so far, in hexadecimal digits."""
        return self._hash.hexdigest()

    def step(self, now_ns: int, number: int, name: str) -> None:
        """A thread takes its next step."""
        self.steps += 1
        self._hash.update(_STEP.pack(now_ns, number))
        if self._trace is not None:
            self._trace(f"{seconds(now_ns)} runs {number} {name}")

    def event(self, now_ns: int, what: str) -> None:
        """Anything else that must be the same in every run of the seed."""
        self._hash.update(b"%d %s" % (now_ns, what.encode()))
        if self._trace is not None:
            self._trace(f"{seconds(now_ns)} {what}")

    def note(self, now_ns: int, text: str) -> None:
        """Something for the reader; not part of the hash, because texts name folders and addresses."""
        line = f"{seconds(now_ns)} {text}"
        self.notes.append(line)
        if self.listener is not None:
            self.listener(now_ns, text)
        if self._trace is not None:
            self._trace(line)


def seconds(now_ns: int) -> str:
    """A time of the world as its notes show it."""
    return f"{now_ns / 1e9:12.6f} s"
