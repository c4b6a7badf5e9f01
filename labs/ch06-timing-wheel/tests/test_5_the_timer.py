"""Task 5: the timer around the wheels."""

import random
import threading
from collections import deque

import pytest

from kafka_lite.common.purgatory.timer import SystemTimer, TimerTask


def run_out(timer, steps=1000):
    """Call advance_clock until no task is left; the clock jumps when the timer waits."""
    for _ in range(steps):
        if timer.size == 0:
            return
        timer.advance_clock(100)


@pytest.mark.points(4, task=5)
def test_a_task_runs_at_its_time(timer, new_task):
    """Due at 41, through three wheels"""
    task = new_task(41)
    timer.add(task)
    run_out(timer)
    assert task.ran_at is not None, "the task never ran"
    early, when = 41 - task.ran_at, f"due at 41, ran at {task.ran_at:g}"
    assert early <= 0, f"{when}, {early:g} ms early: the start of a coarse bucket is not the task's time"
    assert task.ran_at == 41, when
    assert timer.size == 0, f"no task is left, but size is {timer.size}"


@pytest.mark.points(4, task=5)
def test_a_thousand_tasks_run_at_their_times(timer, new_task):
    """Random delays up to 5 s; every third one is cancelled"""
    numbers = random.Random(63)
    tasks = [new_task(numbers.randrange(5000)) for _ in range(1000)]
    for task in tasks:
        timer.add(task)
    for task in tasks[::3]:
        task.cancel()
    run_out(timer, 100_000)
    ran = [task for task in tasks[::3] if task.ran_at is not None]
    assert not ran, f"{len(ran)} tasks ran though each was cancelled before its time"
    kept = [task for number, task in enumerate(tasks) if number % 3]
    wrong = [(task.delay_ms, task.ran_at) for task in kept if task.ran_at != task.delay_ms]
    assert not wrong, (
        f"{len(wrong)} tasks did not run at their time; one was due at {wrong[0][0]}, ran at {wrong[0][1]}"
    )
    assert timer.size == 0, f"no task is left, but size is {timer.size}"


@pytest.mark.points(2, task=5)
def test_all_that_is_due_runs(timer, new_task, time):
    """One call after a long sleep"""
    cancelled, *tasks = [new_task(delay_ms) for delay_ms in (1, 2, 2, 14, 41)]
    for task in (cancelled, *tasks):
        timer.add(task)
    cancelled.cancel()
    time.sleep(50)
    timer.advance_clock(0)
    waiting = [task.delay_ms for task in tasks if task.ran_at is None]
    assert not waiting, (
        "50 ms have passed, the task of 1 ms was cancelled, and those of 2, 2, 14 and 41 ms are due: one call empties "
        f"all expired buckets, and runs all that is due; those of {waiting} ms still wait"
    )


@pytest.mark.points(2, task=5)
def test_due_at_once_but_cancelled(timer, new_task):
    """A task without delay that is cancelled before advance_clock"""
    task = new_task(0)
    timer.add(task)
    task.cancel()
    result = timer.advance_clock(0)
    assert task.ran_at is None, "the task was due, but it was cancelled before its turn: it must not run"
    assert result is False, f"all that was due had been cancelled, and no task ran: the result is False, not {result}"
    assert timer.size == 0, f"a cancelled task no longer counts, but size is {timer.size}"


@pytest.mark.points(2, task=5)
def test_the_result_is_whether_a_task_ran(timer, new_task):
    """What advance_clock returns"""
    timer.add(new_task(3))
    assert timer.advance_clock(2) is False, "nothing is due within 2 ms: False"
    assert timer.advance_clock(2) is True, "at 3 ms the task is due: it runs, and the result is True"


class Doing(TimerTask):
    """A task without delay that calls a function."""

    def __init__(self, function):
        super().__init__(0)
        self.run = function

    def run(self):
        """Replaced by the function."""


@pytest.mark.points(1, task=5)
def test_a_task_that_fails(timer, new_task):
    """Two tasks are due, and the first one raises"""

    def fail():
        raise RuntimeError("this task fails")

    other = new_task(0)
    timer.add(Doing(fail))
    timer.add(other)
    try:
        timer.advance_clock(0)
    except RuntimeError:
        pytest.fail("an exception of a task ended advance_clock: the thread that calls it would end (see self._run)")
    assert other.ran_at is not None, "the first task raised, and the second one did not run: each has its own try"
    assert timer.size == 0, f"a task that failed is no longer scheduled, but size is {timer.size}"


@pytest.mark.points(1, task=5)
def test_too_late_to_cancel(timer, new_task):
    """A task is cancelled while it runs, and afterwards; another one is scheduled"""
    timer.add(new_task(1000))
    sizes = []

    def note_and_cancel():
        sizes.append(timer.size)
        task.cancel()
        sizes.append(timer.size)

    task = Doing(note_and_cancel)
    timer.add(task)
    timer.advance_clock(0)
    assert sizes[0] == 1, f"a task that runs is no longer scheduled, only the other one is: size is 1, not {sizes[0]}"
    assert sizes[1] == 1, f"a task that runs can no longer be cancelled: size is still 1, not {sizes[1]}"
    later = Doing(lambda: None)
    timer.add(Doing(lambda: later.cancel()))
    timer.add(later)
    timer.advance_clock(0)
    assert timer.size == 1, (
        "two tasks were due, and the first one cancelled the second, which was about to run: neither is scheduled any "
        f"more, so size is still 1, not {timer.size}"
    )
    task.cancel()
    assert timer.size == 1, f"a task that has run can no longer be cancelled: size is still 1, not {timer.size}"


@pytest.mark.points(1, task=5)
def test_a_task_adds_a_task(timer, new_task):
    """A task adds one that is due at once"""
    second = new_task(0)
    timer.add(Doing(lambda: timer.add(second)))
    timer.advance_clock(0)
    timer.advance_clock(0)
    assert second.ran_at is not None, "a task that became due while others ran was lost: clear what you took, no more"


class WatchedDue(deque):
    """Notes whether the timer's lock is held when what is due is taken."""

    def __init__(self, timer, due):
        super().__init__(due)
        self.timer = timer

    def __iter__(self):
        self.timer.note()
        return super().__iter__()

    def popleft(self):
        self.timer.note()
        return super().popleft()

    def pop(self):
        self.timer.note()
        return super().pop()

    def clear(self):
        self.timer.note()
        super().clear()


class WatchedTimer(SystemTimer):
    """Notes whether its lock is held when it changes."""

    counted = 0
    without_lock = False

    def note(self):
        self.without_lock |= not self._changed._is_owned()

    @property
    def _size(self):
        return self.counted

    @_size.setter
    def _size(self, size):
        self.counted = size
        if "_changed" in vars(self):
            self.note()


@pytest.mark.points(1, task=5)
def test_the_lock_is_held(time, new_task):
    """Other threads add and cancel at any time"""
    timer = WatchedTimer(1, 4, time)
    timer._due = WatchedDue(timer, timer._due)
    timer.add(new_task(0))
    timer.advance_clock(0)
    assert not timer.without_lock, (
        "self._due and self._size were used without the lock: another thread may add or cancel a task at that moment; "
        "take what is due, and count it, with self._changed held"
    )


@pytest.mark.points(2, task=5)
def test_other_threads_may_add_while_a_task_runs(timer, new_task):
    """A slow task"""
    added = threading.Event()
    late = new_task(5)

    class Slow(TimerTask):
        waited_in_vain = False
        ran_in = None

        def run(self):
            self.ran_in = threading.current_thread()
            threading.Thread(target=lambda: (timer.add(late), added.set()), daemon=True).start()
            self.waited_in_vain = not added.wait(2)

    slow = Slow(0)
    timer.add(slow)
    timer.advance_clock(0)
    assert slow.ran_in is threading.current_thread(), "a task runs in the thread that calls advance_clock, in no other"
    assert not slow.waited_in_vain, "while a task ran, another thread could not add one: run tasks without the lock"
