"""Task 5: the timer around the wheels."""

import random
import threading

import pytest

from kafka_lite.common.purgatory.timer import TimerTask


def run_out(timer, steps=1000):
    """Call advance_clock until no task is left; the clock jumps when the timer waits."""
    for _ in range(steps):
        if timer.size == 0:
            return
        timer.advance_clock(100)


@pytest.mark.points(5, task=5)
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


@pytest.mark.points(5, task=5)
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


@pytest.mark.points(3, task=5)
def test_due_at_once_but_cancelled(timer, new_task):
    """A task without delay that is cancelled before advance_clock"""
    task = new_task(0)
    timer.add(task)
    task.cancel()
    timer.advance_clock(0)
    assert task.ran_at is None, "the task was due, but it was cancelled before its turn: it must not run"
    assert timer.size == 0, f"a cancelled task no longer counts, but size is {timer.size}"


@pytest.mark.points(3, task=5)
def test_the_result_is_whether_a_task_ran(timer, new_task):
    """What advance_clock returns"""
    timer.add(new_task(3))
    assert timer.advance_clock(2) is False, "nothing is due within 2 ms: False"
    assert timer.advance_clock(2) is True, "at 3 ms the task is due: it runs, and the result is True"


@pytest.mark.points(4, task=5)
def test_other_threads_may_add_while_a_task_runs(timer, new_task):
    """A slow task"""
    added = threading.Event()
    late = new_task(5)

    class Slow(TimerTask):
        waited_in_vain = False

        def run(self):
            threading.Thread(target=lambda: (timer.add(late), added.set()), daemon=True).start()
            self.waited_in_vain = not added.wait(2)

    slow = Slow(0)
    timer.add(slow)
    timer.advance_clock(0)
    assert not slow.waited_in_vain, "while a task ran, another thread could not add one: run tasks without the lock"
