"""A world from a seed: machines, a network, disks and a clock, in which unmodified programs run.

Not in Kafka::

    def scenario(world: World) -> None:
        broker = world.machine("broker").start("kafka_lite.testing.simulation.programs:broker", …)
        world.sleep(10)
        broker.kill()

    World(seed=1, folder=folder).run(scenario)

The same seed gives the same run, event by event, in any process that has the same
``PYTHONHASHSEED``; ``events.digest`` proves it.
"""

from __future__ import annotations

import gc
import itertools
import logging
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, TypeVar

from kafka_lite.testing.simulation.event_log import EventLog
from kafka_lite.testing.simulation.machine import Machine, Process, Span
from kafka_lite.testing.simulation.network import Conditions, Network
from kafka_lite.testing.simulation.scheduler import Owner, Scheduler, Task
from kafka_lite.testing.simulation.system.modules import Modules

T = TypeVar("T")

_ENDED: Final[list[object]] = []
"""Worlds and processes that have ended. Never collected: that would run the ``finally`` blocks of killed threads."""
POLL_NS: Final = 10_000_000
STEP_NS: Final = 50_000
"""The cost of switching to a thread: about as long as a hand-over of the GIL takes on a busy machine."""


FOLDER_FD: Final = 900
"""The descriptor of a world's folder, or the next one that is free: above all others, within the usual limit."""


class OpenFolder:
    """A folder with the same path in every run, wherever it is.

    Error messages have paths in them, and brokers send them to clients: another path would be another event.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self._fd = os.dup2(opened, _free_descriptor(), inheritable=False)
        os.close(opened)
        self.path = Path(f"/proc/self/fd/{self._fd}")

    def close(self) -> None:
        """Release the path; the files stay where they are."""
        os.close(self._fd)


def _free_descriptor() -> int:
    for fd in itertools.count(FOLDER_FD):
        try:
            os.fstat(fd)
        except OSError:
            return fd
    raise AssertionError


class World:
    """A world with everything in it, drawn from one seed."""

    def __init__(
        self,
        seed: int,
        folder: Path,
        *,
        conditions: Conditions | None = None,
        trace: Callable[[str], None] | None = None,
        modules: Callable[[], Modules] = Modules,
        log_level: int = logging.WARNING,
    ) -> None:
        self.seed = seed
        self.log_level = log_level
        """From which level on what the processes log becomes a note."""
        self.events = EventLog(trace)
        self._randoms: dict[str, Random] = {}
        drawn = self.random_for("conditions")
        self.switch_every = drawn.choice((4, 16, 64, 256))
        self.scheduler = Scheduler(self.random_for("scheduler"), self.events, self.switch_every, STEP_NS)
        self.conditions = conditions or Conditions.drawn(drawn)
        self.network = Network(
            self.scheduler,
            self.random_for("network"),
            self.conditions,
            lambda what: self.events.event(self.scheduler.now_ns, what),
        )
        self.substitutes: dict[str, str] = {}
        """Programs that are started instead of others, for a broker of your own."""
        self.processes: list[Process] = []
        """All that were ever started."""
        self.faults: Sequence[object] = ()
        """The faults that the scenario has drawn."""
        self.suffering: list[Span] = []
        """Faults from their beginnings to their ends."""
        self.kept_faults: Collection[int] | None = None
        """Numbers of the faults that are suffered; None for all."""
        self.max_skew_ns = 0
        """How far the wall clocks of processes may be off, in either direction."""
        self._folder = OpenFolder(folder)
        self._machines: dict[str, Machine] = {}
        self._modules = modules
        self._operator = Owner("operator")
        self.note(f"seed {seed}: {self.conditions}, a switch every {self.switch_every} touches of a lock")

    @property
    def now_s(self) -> float:
        """Seconds since the world began."""
        return self.scheduler.now_ns / 1e9

    def random_for(self, purpose: str) -> Random:
        """A generator for one purpose, so that more draws of one kind do not change those of another."""
        if purpose not in self._randoms:
            self._randoms[purpose] = Random(f"{self.seed}/{purpose}")
        return self._randoms[purpose]

    def skew_ns(self, process: str) -> int:
        """How far the wall clock of a process is off: whenever a process of this name starts, it is the same."""
        return int(Random(f"{self.seed}/clock/{process}").uniform(-1, 1) * self.max_skew_ns)

    def note(self, text: str) -> None:
        """Tell the reader of the event log."""
        now_ns = self.scheduler.now_ns if hasattr(self, "scheduler") else 0
        self.events.note(now_ns, text)

    def suffered(self, faults: Sequence[T]) -> Iterator[tuple[int, T]]:
        """The faults of a scenario, with their numbers, without those that this run leaves out."""
        self.faults = faults
        return (
            (number, fault)
            for number, fault in enumerate(faults)
            if self.kept_faults is None or number in self.kept_faults
        )

    # ── machines and processes ────────────────────────────────────────────────────────────────────────────────────

    def machine(self, name: str) -> Machine:
        """The machine of that name; a new one if there is none."""
        if name not in self._machines:
            self._machines[name] = Machine(self, name, self._folder.path)
        return self._machines[name]

    def take_modules(self) -> Modules:
        """Modules for a new process."""
        return self._modules()

    def began(self, process: Process) -> None:
        """A process was made: connect it with the world."""
        self.processes.append(process)
        process.begin(self, pid=100 + len(self.processes))
        process.note("started")

    # ── the scenario ──────────────────────────────────────────────────────────────────────────────────────────────

    def run(self, scenario: Callable[[World], Any]) -> Any:
        """Run the world until the scenario, a function that runs inside as a thread of its own, has returned.

        Returns what it returns. Raises what it raises, and SimulationError if the world cannot continue.
        """
        _ENDED.append(self)
        result: list[Any] = []

        def play() -> None:
            result.append(scenario(self))
            self.scheduler.stop()

        was_enabled = gc.isenabled()
        gc.disable()  # a collection would run __del__ at a time that is not the seed's
        try:
            self.scheduler.spawn(self._operator, "scenario", play)
            self.scheduler.run()
        finally:
            self._folder.close()
            if was_enabled:
                gc.enable()
        return result[0]

    def in_background(self, name: str, work: Callable[[], object]) -> Task:
        """Run a function of the scenario in parallel, as its own thread. ``run`` raises what it raises."""
        return self.scheduler.spawn(self._operator, name, lambda: (work(), None)[1])

    def sleep(self, duration_s: float) -> None:
        """Let time pass. To be called by the scenario."""
        deadline_ns = self.scheduler.now_ns + int(duration_s * 1e9)
        while self.scheduler.park(deadline_ns):
            pass

    def wait_until(self, is_so: Callable[[], object], timeout_s: float, what: str) -> None:
        """Let time pass until a condition holds. Raises TimeoutError, which says ``what`` was waited for."""
        deadline_ns = self.scheduler.now_ns + int(timeout_s * 1e9)
        while not is_so():
            if self.scheduler.now_ns >= deadline_ns:
                raise TimeoutError(f"{what}: not within {timeout_s:g} s")
            self.sleep(POLL_NS / 1e9)

    def await_success(self, process: Process, timeout_s: float) -> None:
        """Let time pass until a process has ended. Raises TimeoutError, and RuntimeError if it failed."""
        self.wait_until(lambda: not process.is_running, timeout_s, process.name)
        if process.exit_code:
            raise RuntimeError(f"{process.name} failed: {process.failure}")
