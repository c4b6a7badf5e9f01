"""Runs tasks after a delay unless they are cancelled first.

Kafka 0.10.2: core/.../utils/timer/Timer.scala (SystemTimer), TimerTask.scala · book 6.3.3
"""

from __future__ import annotations

import heapq
import itertools
import logging
import math
import threading
from abc import ABC, abstractmethod
from collections import deque

from kafka_lite.common.purgatory.timing_wheel import Runnable, TimerTaskEntry, TimerTaskList, TimingWheel
from kafka_lite.common.time import SYSTEM_TIME, Time

logger = logging.getLogger(__name__)


class TimerTask(ABC):
    """A task that runs ``delay_ms`` after it was added to a timer."""

    def __init__(self, delay_ms: float) -> None:
        self.delay_ms = delay_ms
        self._timer: SystemTimer | None = None
        self._entry: TimerTaskEntry | None = None

    @abstractmethod
    def run(self) -> None:
        """Run the task; called when its delay has passed."""

    def scheduled(self, timer: SystemTimer, entry: TimerTaskEntry) -> None:
        """Remember the timer and the entry; called by the timer when it adds the task."""
        self._timer, self._entry = timer, entry

    def cancel(self) -> None:
        """Cancel the task. A no-op if it was not scheduled or has already run."""
        timer, entry = self._timer, self._entry
        if timer is not None and entry is not None:
            timer.cancel(entry)


class SystemTimer:
    """Timing wheels, with a queue of the non-empty buckets ordered by expiration time.

    Wheels alone would have to tick every millisecond. With the queue (in Kafka, a ``DelayQueue``), the thread that
    calls ``advance_clock`` sleeps until the next bucket expires and then advances the wheels to that time. The queue is
    short: it holds buckets, not tasks.

    Any thread may add and cancel tasks. They run in the thread that calls ``advance_clock``, outside the timer's lock.
    (Kafka passes them to another thread; a task only completes a request, so one thread per purgatory is enough.)
    """

    def __init__(self, tick_ms: int = 1, wheel_size: int = 20, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._wheel = TimingWheel(tick_ms, wheel_size, int(time.hi_res_ms()), self._arm)
        self._armed: list[tuple[int, int, TimerTaskList]] = []
        self._numbers = itertools.count()  # breaks ties in the heap: buckets are not comparable
        self._due: deque[TimerTaskEntry] = deque()
        self._size = 0
        self._changed = threading.Condition()
        self._woken = False

    @property
    def size(self) -> int:
        """Number of scheduled tasks."""
        return self._size

    def add(self, task: TimerTask) -> None:
        """Schedule ``task`` to run when its delay has passed."""
        # Rounded up, so that a task never runs early.
        entry = TimerTaskEntry(task, math.ceil(self._time.hi_res_ms() + task.delay_ms))
        with self._changed:
            self._size += 1
            task.scheduled(self, entry)
            self._add_entry(entry)

    def cancel(self, entry: TimerTaskEntry) -> None:
        """Cancel an entry, in whichever bucket it is."""
        with self._changed:
            if not entry.cancelled:
                entry.cancel()
                self._size -= 1

    def advance_clock(self, timeout_ms: float) -> bool:
        """Wait up to ``timeout_ms`` for tasks to become due, and run all of them. Returns False if none ran.

        A task that runs is no longer scheduled. If it fails, that is logged, and the others run all the same.
        """
        with self._changed:
            self._await_expired_bucket(timeout_ms)
            self._move_expired()
            entries = [entry for entry in self._due if not entry.cancelled]
            self._due.clear()
            for entry in entries:
                entry.cancelled = True  # too late to cancel it
            self._size -= len(entries)
        for entry in entries:
            self._run(entry.task)
        return bool(entries)

    def wake_up(self) -> None:
        """Interrupt the current ``advance_clock``, or the next one if none is waiting."""
        with self._changed:
            self._woken = True
            self._changed.notify()

    def _arm(self, bucket: TimerTaskList) -> None:
        heapq.heappush(self._armed, (bucket.expiration_ms, next(self._numbers), bucket))
        if self._armed[0][2] is bucket:
            self._changed.notify()  # it expires before the bucket that is waited for

    def _add_entry(self, entry: TimerTaskEntry) -> None:
        if not self._wheel.add(entry):
            self._due.append(entry)
            self._changed.notify()

    def _await_expired_bucket(self, timeout_ms: float) -> None:
        deadline_ms = self._time.hi_res_ms() + timeout_ms
        while not self._due and not self._woken:
            now_ms = self._time.hi_res_ms()
            next_ms = min(deadline_ms, self._armed[0][0]) if self._armed else deadline_ms
            if next_ms <= now_ms:
                break
            self._time.wait(self._changed, next_ms - now_ms)
        self._woken = False

    def _move_expired(self) -> None:
        """Advance the wheels to each expired bucket and add its tasks again: to a finer wheel, or as due."""
        now_ms = self._time.hi_res_ms()
        while self._armed and self._armed[0][0] <= now_ms:
            _, _, bucket = heapq.heappop(self._armed)
            self._wheel.advance_clock(bucket.expiration_ms)
            for entry in bucket.flush():
                self._add_entry(entry)

    @staticmethod
    def _run(task: Runnable) -> None:
        try:
            task.run()
        except Exception:
            logger.exception("Error in a task of the timer: %r", task)
