"""Decides which thread runs and what time it is: tasks on one thread of the system, in an order drawn from a seed.

Not in Kafka. A task is a greenlet; it runs until it blocks, and time stands still meanwhile. When all tasks wait,
time jumps to the next timer::

        ready   ──draw──▶ a task runs ──park──▶ waits ──wake, or its deadline──▶ ready
                              └──give_way, touch──▶ ready
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from enum import Enum, auto
from random import Random
from typing import Any, Final

from greenlet import getcurrent, greenlet

from kafka_lite.testing.simulation.event_log import EventLog

RUNAWAY_STEPS: Final = 300_000
"""After this many steps without a nanosecond of progress, a loop is starving everything else."""
COMPACT_TIMERS: Final = 5_000
"""Cancelled timers that are left in the heap before it is cleaned."""
BUSY_WINDOW_BITS: Final = 27
"""The steps of a process are counted in spans of 2^27 ns, about 0.13 s."""
BUSY_STEPS: Final = 100
"""A process with this many steps in one span is busy, such as a client that polls for a broker that is down."""
BUSY_FACTOR: Final = 60
"""How much more a step of a busy process costs."""
STATEMENTS: Final = 40
"""How many statements of modules with ``switching`` are run, on average, until another task runs."""
PREEMPTED_EVERY, LONGEST_PREEMPTION_NS = 10, 50_000_000
"""How many of these switches take the processor away from the task for a while, and for how long at most."""
AFTER_ALL_OTHERS: Final = 1 << 62
"""Added to the number of a timer that comes after all others of its time."""
NEVER_NS: Final = 100 * 365 * 86_400 * 10**9
"""A deadline beyond this is none: Java's largest long means "never"."""


class SimulationError(Exception):
    """The world cannot continue: a deadlock, a runaway loop, or a call that is not simulated."""


class DeadlockError(SimulationError):
    """Every task waits, and no timer is left."""


class RunawayError(SimulationError):
    """Tasks keep running while time stands still."""


class State(Enum):
    """The state of a task."""

    READY = auto()
    RUNNING = auto()
    WAITING = auto()
    ENDED = auto()


class Owner:
    """Tasks that stop together: the threads of a process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        self.is_paused = False
        self.held: list[Task] = []
        """Tasks that became ready while the owner was paused."""
        self.window = 0
        """The span of time in which ``steps`` were counted."""
        self.steps = 0
        self.tasks: list[Task] = []
        """Tasks that have not ended. Those of a dead owner stay here: collecting them would run their ``finally``."""


class Task:
    """A thread of the world."""

    __slots__ = ("at_end", "greenlet", "interruptions", "name", "number", "owner", "state", "timer", "woken")

    def __init__(self, number: int, name: str, owner: Owner) -> None:
        self.number = number
        self.name = name
        self.owner = owner
        self.state = State.READY
        self.woken = False
        self.timer: Timer | None = None
        self.greenlet: greenlet | None = None
        self.interruptions: list[Callable[[], None]] = []
        """Signal handlers that the task must run before it continues."""
        self.at_end: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        return f"{self.owner.name}/{self.name}#{self.number} ({self.state.name.lower()})"


class Timer:
    """A call at a time of the world."""

    __slots__ = ("args", "call", "is_cancelled")

    def __init__(self, call: Callable[..., None], args: tuple[Any, ...]) -> None:
        self.call = call
        self.args = args
        self.is_cancelled = False


class Scheduler:
    """Runs tasks one at a time and moves the clock.

    ``switch_every``: a task that touches a lock lets another one run about every so many touches. ``step_ns``: what
    it costs to switch to a task. With it, tasks that hand something to and fro without waiting let time pass, too.
    """

    def __init__(self, random: Random, events: EventLog, switch_every: int = 16, step_ns: int = 0) -> None:
        self.now_ns = 0
        self.current: Task | None = None
        self.events = events
        self.is_atomic = False
        """While modules are imported, no other task may run."""
        self.after_step: Callable[[Owner], None] | None = None
        """Called after each step of a task with its owner, outside of tasks."""
        self._random = random
        self._switch_every = switch_every
        self._step_ns = step_ns
        self._touches_left = switch_every
        self._statements_left = STATEMENTS
        self._ready: list[Task] = []
        self._timers: list[tuple[int, int, Timer]] = []
        self._timer_number = 0
        self._cancelled = 0
        self._task_number = 0
        self._last_step_ns = -1
        self._steps_at_this_time = 0
        self._owners: dict[Owner, None] = {}
        self._is_stopped = False
        self._failure: BaseException | None = None
        self._hub = getcurrent()

    # ── tasks ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def spawn(self, owner: Owner, name: str, function: Callable[[], None]) -> Task:
        """A new task that is ready to run. An exception that leaves ``function`` ends ``run`` with that exception."""
        self._task_number += 1
        task = Task(self._task_number, name, owner)
        task.greenlet = greenlet(lambda: self._live(task, function), parent=self._hub)
        owner.tasks.append(task)
        self._owners[owner] = None
        self._make_ready(task)
        return task

    def _live(self, task: Task, function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as failure:  # noqa: BLE001  run() raises it
            self._failure = failure
        task.state = State.ENDED
        task.owner.tasks.remove(task)
        for call in task.at_end:
            call()

    def kill(self, owner: Owner) -> None:
        """Its tasks never run again, not even their ``finally`` blocks."""
        owner.is_dead = True
        owner.held.clear()
        self._ready = [task for task in self._ready if task.owner is not owner]
        for task in owner.tasks:
            self._cancel_timer_of(task)

    def pause(self, owner: Owner) -> None:
        """Its tasks stop until ``resume``."""
        owner.is_paused = True
        owner.held += [task for task in self._ready if task.owner is owner]
        self._ready = [task for task in self._ready if task.owner is not owner]

    def resume(self, owner: Owner) -> None:
        """Let the owner's tasks continue."""
        owner.is_paused = False
        held, owner.held = owner.held, []
        self._ready += held

    # ── called by tasks ───────────────────────────────────────────────────────────────────────────────────────────

    def park(self, deadline_ns: int | None = None) -> bool:
        """Block the current task until ``wake`` or the deadline. Returns False if the deadline has passed.

        May return True early; the caller looks again at what it waits for. Raises SimulationError outside of tasks.
        """
        task = self.current
        if task is None or self.is_atomic:
            raise SimulationError("a module blocks while it is imported" if self.is_atomic else "blocks outside a task")
        if deadline_ns is not None and deadline_ns <= self.now_ns:
            self.give_way()
            return False
        if deadline_ns is not None and deadline_ns < NEVER_NS:
            task.timer = self.at(deadline_ns, self._expire, task)
        task.woken = False
        task.state = State.WAITING
        self._hub.switch()
        if task.interruptions:
            self._handle_signals(task)
            return True
        return task.woken

    def _handle_signals(self, task: Task) -> None:
        while task.interruptions:
            task.interruptions.pop(0)()

    def give_way(self) -> None:
        """Let other tasks run; the current one stays ready."""
        task = self.current
        if task is None or self.is_atomic:
            return
        self._make_ready(task)
        self._hub.switch()
        self._handle_signals(task)

    def touch(self) -> None:
        """A lock is touched: about every ``switch_every`` times another task may run."""
        self._touches_left -= 1
        if self._touches_left <= 0:
            self._touches_left = 1 + int(self._random.random() * 2 * self._switch_every)
            self.give_way()

    def pass_statement(self) -> None:
        """A statement of a module with ``switching`` is next: now and then another task runs first.

        Sometimes the task gets no processor for a while, as on a busy machine. Otherwise only those tasks could run in
        between that are ready at this moment, and they are few.
        """
        self._statements_left -= 1
        if self._statements_left > 0:
            return
        self._statements_left = 1 + int(self._random.random() * 2 * STATEMENTS)
        if self._random.random() * PREEMPTED_EVERY < 1 and self.current is not None and not self.is_atomic:
            self._sleep(int(self._random.random() ** 2 * LONGEST_PREEMPTION_NS))
        else:
            self.give_way()

    def _sleep(self, duration_ns: int) -> None:
        deadline_ns = self.now_ns + duration_ns
        while self.park(deadline_ns):
            pass

    # ── called by anybody ─────────────────────────────────────────────────────────────────────────────────────────

    def wake(self, task: Task) -> None:
        """End the task's ``park``, if it is in one."""
        if task.state is State.WAITING and not task.owner.is_dead:
            task.woken = True
            self._cancel_timer_of(task)
            self._make_ready(task)

    def interrupt(self, task: Task, handler: Callable[[], None]) -> None:
        """Run ``handler`` in the task as soon as it runs, as a signal does; it need not wait for what blocks it."""
        task.interruptions.append(handler)
        self.wake(task)

    def draw_from(self, tasks: list[Task]) -> Task:
        """Take one of several waiting tasks out of the list, drawn from the seed."""
        return tasks.pop(int(self._random.random() * len(tasks)) if len(tasks) > 1 else 0)

    def at(self, time_ns: int, call: Callable[..., None], *args: Any) -> Timer:
        """Call at a time, outside of any task."""
        timer = Timer(call, args)
        self._timer_number += 1
        heapq.heappush(self._timers, (time_ns, self._timer_number, timer))
        return timer

    def after(self, delay_ns: int, call: Callable[..., None], *args: Any) -> Timer:
        """Call after a delay, outside of any task."""
        return self.at(self.now_ns + delay_ns, call, *args)

    def cancel(self, timer: Timer) -> None:
        """Do not make the call."""
        if not timer.is_cancelled:
            timer.is_cancelled = True
            self._cancelled += 1
            if self._cancelled > COMPACT_TIMERS:
                self._timers = [entry for entry in self._timers if not entry[2].is_cancelled]
                heapq.heapify(self._timers)
                self._cancelled = 0

    # ── the loop ──────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self, until_ns: int | None = None) -> None:
        """Run tasks until ``stop``, or until that time, with all timers of that time.

        Several runs, one after the other, are the same run of the world as one that ends when the last of them does.
        Raises what a task raised; DeadlockError if all wait for ever; RunawayError if time does not progress.
        """
        self._is_stopped = False
        end = None if until_ns is None else self._end_at(until_ns)
        while not self._is_stopped:
            if self._timers and self._timers[0][0] <= self.now_ns:
                self._fire()
            elif self._ready:
                self._step()
            elif not self._jump():
                raise DeadlockError(f"every task waits, and no timer is left: {self._waiting()}")
        if end is not None:
            self.cancel(end)

    def _end_at(self, time_ns: int) -> Timer:
        """A timer that ends ``run``. The other timers of its time come first, however late they were set."""
        timer = Timer(self.stop, ())
        self._timer_number += 1
        heapq.heappush(self._timers, (time_ns, AFTER_ALL_OTHERS + self._timer_number, timer))
        return timer

    def stop(self) -> None:
        """End ``run`` after the current step."""
        self._is_stopped = True

    def _step(self) -> None:
        ready = self._ready
        if len(ready) > 1:
            chosen = int(self._random.random() * len(ready))
            task = ready[chosen]
            ready[chosen] = ready[-1]
            ready.pop()
        else:
            task = ready.pop()
        if self.now_ns != self._last_step_ns:
            self._last_step_ns = self.now_ns
            self._steps_at_this_time = 0
        self._steps_at_this_time += 1
        if self._steps_at_this_time > RUNAWAY_STEPS:
            raise RunawayError(f"{RUNAWAY_STEPS} steps without progress of time; the last was of {task}")
        self.now_ns += self._cost_ns(task.owner)
        self.events.step(self.now_ns, task.number, task.name)
        task.state = State.RUNNING
        self.current = task
        assert task.greenlet is not None
        task.greenlet.switch()
        self.current = None
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if self.after_step is not None:
            self.after_step(task.owner)

    def _cost_ns(self, owner: Owner) -> int:
        """The cost of a step. A process that is always busy pays more: it polls, and need not poll so often."""
        window = self.now_ns >> BUSY_WINDOW_BITS
        if owner.window != window:
            owner.window, owner.steps = window, 0
        owner.steps += 1
        return self._step_ns if owner.steps <= BUSY_STEPS else self._step_ns * BUSY_FACTOR

    def _jump(self) -> bool:
        """Move the clock to the next timer; returns False if there is none."""
        while self._timers and self._timers[0][2].is_cancelled:
            heapq.heappop(self._timers)
            self._cancelled -= 1
        if not self._timers:
            return False
        self.now_ns = max(self.now_ns, self._timers[0][0])
        return True

    def _fire(self) -> None:
        timer = heapq.heappop(self._timers)[2]
        if timer.is_cancelled:
            self._cancelled -= 1
        else:
            timer.is_cancelled = True  # it can no longer be cancelled
            timer.call(*timer.args)

    def _make_ready(self, task: Task) -> None:
        task.state = State.READY
        if not task.owner.is_dead:
            (task.owner.held if task.owner.is_paused else self._ready).append(task)

    def _expire(self, task: Task) -> None:
        task.timer = None
        if task.state is State.WAITING and not task.owner.is_dead:
            self._make_ready(task)

    def _cancel_timer_of(self, task: Task) -> None:
        if task.timer is not None:
            self.cancel(task.timer)
            task.timer = None

    def _waiting(self) -> str:
        return ", ".join(str(task) for owner in self._owners if not owner.is_dead for task in owner.tasks)
