"""Hierarchical timing wheels: a timer for very many tasks, nearly all of which are cancelled before they are due.

Kafka 0.10.2: core/.../utils/timer/TimingWheel.scala, TimerTaskList.scala (TimerTaskEntry) · book 6.3.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Runnable(Protocol):
    """The task of an entry: a ``TimerTask``. The wheel never looks at it."""

    def run(self) -> None:
        """Run the task; called when it is due."""
        ...


class TimerTaskEntry:
    """A task and its expiration time; in at most one bucket at a time."""

    __slots__ = ("bucket", "cancelled", "expiration_ms", "task")

    def __init__(self, task: Runnable, expiration_ms: int) -> None:
        self.task = task
        self.expiration_ms = expiration_ms
        self.cancelled = False
        self.bucket: TimerTaskList | None = None

    def cancel(self) -> None:
        """Remove the entry from its bucket and keep it out of all wheels from now on."""
        self.cancelled = True
        if self.bucket is not None:
            self.bucket.remove(self)


class TimerTaskList:
    """A bucket: the tasks that are due within one tick of one wheel.

    Kafka links the entries into a ring, so that removing one takes constant time. A dict does the same in Python: it
    keeps insertion order and removes in constant time.
    """

    __slots__ = ("_entries", "expiration_ms")

    def __init__(self) -> None:
        self.expiration_ms = -1
        """When the bucket's tick begins, or -1 if the bucket is not in use."""
        self._entries: dict[TimerTaskEntry, None] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: TimerTaskEntry) -> None:
        """Add an entry that is in no bucket."""
        self._entries[entry] = None
        entry.bucket = self

    def remove(self, entry: TimerTaskEntry) -> None:
        """Remove an entry that is in this bucket."""
        del self._entries[entry]
        entry.bucket = None

    def set_expiration(self, expiration_ms: int) -> bool:
        """Use the bucket for the tick that begins at ``expiration_ms``. Returns True if that changed its expiration."""
        changed = self.expiration_ms != expiration_ms
        self.expiration_ms = expiration_ms
        return changed

    def flush(self) -> list[TimerTaskEntry]:
        """Remove and return all entries; the bucket can then be used for another tick."""
        entries = list(self._entries)
        self._entries.clear()
        for entry in entries:
            entry.bucket = None
        self.expiration_ms = -1
        return entries


class TimingWheel:
    """A ring of buckets, one for each of the next ``wheel_size`` ticks, and a coarser wheel for later tasks.

    With a tick of 1 ms, wheels of 4 buckets, and the time 9 (``▼``: the bucket of the current tick, always empty)::

                            ▼
        level 1, tick 1     [9]     [10]    [11]    [12]         due before 9 + 4
                            ▼
        level 2, tick 4     [8-11]  [12-15] [16-19] [20-23]      due before 8 + 16
                            ▼
        level 3, tick 16    [0-15]  [16-31] [32-47] [48-63]      due before 0 + 64

    A task due at 10 is in level 1, one due at 14 in level 2, one due at 41 in level 3. A bucket *expires* when its tick
    begins. The tasks of an expired bucket are added again: those of level 1 are due; those of a higher level are now
    closer and move to a finer wheel (41 moves from [32-47] to [40-43] to [41]). So adding takes one step per level, and
    removing one step, however many tasks there are. A heap takes more steps the more tasks it holds, and cannot remove
    an arbitrary task efficiently.

    The wheels do not turn by themselves. ``on_bucket_armed`` is called whenever a bucket is used for a new tick; the
    owner must call ``advance_clock`` when that tick begins. A wheel has no clock and no lock.
    """

    def __init__(
        self, tick_ms: int, wheel_size: int, start_ms: int, on_bucket_armed: Callable[[TimerTaskList], None]
    ) -> None:
        self.tick_ms = tick_ms
        self.interval_ms = tick_ms * wheel_size
        """How far this wheel reaches beyond the current time."""
        self.current_time_ms = start_ms - start_ms % tick_ms
        """Start of the current tick."""
        self._wheel_size = wheel_size
        self._on_bucket_armed = on_bucket_armed
        self._buckets = [TimerTaskList() for _ in range(wheel_size)]
        self._overflow_wheel: TimingWheel | None = None

    def add(self, entry: TimerTaskEntry) -> bool:
        """Add an entry to its bucket. Returns False if it is already due or cancelled."""
        if entry.cancelled or entry.expiration_ms < self.current_time_ms + self.tick_ms:
            return False
        if entry.expiration_ms >= self.current_time_ms + self.interval_ms:
            return self._overflow().add(entry)
        tick = entry.expiration_ms // self.tick_ms
        bucket = self._buckets[tick % self._wheel_size]
        bucket.add(entry)
        if bucket.set_expiration(tick * self.tick_ms):
            self._on_bucket_armed(bucket)
        return True

    def advance_clock(self, time_ms: int) -> None:
        """Advance this wheel and the coarser ones to the tick that contains ``time_ms``. Never moves back."""
        if time_ms < self.current_time_ms + self.tick_ms:
            return
        self.current_time_ms = time_ms - time_ms % self.tick_ms
        if self._overflow_wheel is not None:
            self._overflow_wheel.advance_clock(self.current_time_ms)

    def _overflow(self) -> TimingWheel:
        """The next coarser wheel, created on first use: one of its ticks is a full turn of this wheel."""
        if self._overflow_wheel is None:
            self._overflow_wheel = TimingWheel(
                self.interval_ms, self._wheel_size, self.current_time_ms, self._on_bucket_armed
            )
        return self._overflow_wheel
