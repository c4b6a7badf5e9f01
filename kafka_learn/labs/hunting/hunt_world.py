"""One seed of a hunt: a world with one process, whose program uses a learner's modules from several threads.

Before any statement of the learner's modules, and of the hunt itself, another thread may run: the seed decides. The
steps are kept, thread by thread, so that the seed that breaks a promise can be drawn.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import linecache
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

from kafka_lite.testing.simulation.scheduler import SimulationError
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules, _SwitchingLoader
from kafka_lite.testing.simulation.system.switching import SWITCH
from kafka_lite.testing.simulation.world import World

EVERY: Final = (2, 4, 8, 16)
"""How many statements a thread runs before a switch, on average: seeds take turns."""
PREEMPTED_EVERY, LONGEST_NS = 6, 20_000_000
"""How many of the switches take the processor away for a while, and for how long at most."""
LIMIT_S = 300.0
"""Of the world's time: a hunt takes less than a second of it."""
STEPS_KEPT = 4000
RAISED = "note_error"
"""The function that a thread of ``threads_together`` calls with what it has raised."""
_TOGETHER = f"{__name__.rpartition('.')[0]}.threads_together"


class Step(NamedTuple):
    """A statement that a thread was about to run."""

    thread: str
    file: str
    line: int


@dataclass(frozen=True)
class Found:
    """The end of a seed: ``broken`` says which promise was broken, and is empty if none was."""

    seed: int
    broken: str
    steps: tuple[Step, ...] = ()


class LearnersModules(Modules):
    """Modules of the process: those in ``files`` are the learner's, and switches may come in those in ``switching``."""

    def __init__(self, files: Mapping[str, Path], switching: Sequence[str]) -> None:
        super().__init__((*PACKAGES, "kafka_learn"), {*files, *switching})
        self._files = files
        self.steps: deque[Step] = deque(maxlen=STEPS_KEPT)
        self._builtins[SWITCH] = self._pass_statement
        self.every = EVERY[0]
        """How many statements a thread runs before a switch, on average."""
        self._left = 1
        self._is_over = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Python's hook: a learner's file, or a copy of a module of the inside."""
        if fullname in self._files:
            loader = _SwitchingLoader(fullname, str(self._files[fullname]), self._builtins)
            return importlib.util.spec_from_loader(fullname, loader)
        return super().find_spec(fullname, path, target)

    def steps_of_the_learner(self) -> tuple[Step, ...]:
        """The statements of the learner's modules, without docstrings, until the first thread has found an error."""
        files = set(map(str, self._files.values()))
        return tuple(step for step in self.steps if step.file in files and not _text(step).startswith(('"', "'")))

    def _pass_statement(self) -> None:
        """Note the statement, and now and then let another thread run first."""
        scheduler, drawn = self.kernel.scheduler, self.kernel.random
        if scheduler.current is None or scheduler.is_atomic:
            return
        frame = sys._getframe(1)
        step = Step(scheduler.current.name, frame.f_code.co_filename, frame.f_lineno)
        if not self._is_over:
            self._is_over = frame.f_code.co_name == RAISED
            self.steps.append(step)
        self._left -= 1
        if self._left > 0:
            return
        self._left = 1 + int(drawn.random() * 2 * self.every)
        if drawn.random() * PREEMPTED_EVERY < 1:
            deadline_ns = scheduler.now_ns + int(drawn.random() * LONGEST_NS)
            while scheduler.park(deadline_ns):
                pass
        else:
            scheduler.give_way()


def _text(step: Step) -> str:
    return linecache.getline(step.file, step.line).strip()


def ready_modules(program: str, files: Mapping[str, Path]) -> LearnersModules:
    """Modules of a process that has imported its program, ``module:function``. Raises what a learner's file raises."""
    name = program.partition(":")[0]
    modules = LearnersModules(files, (name, _TOGETHER))
    for module in ("random", "logging", "threading", name):
        modules.load(module)
    return modules


def run_seed(seed: int, program: str, modules: LearnersModules, folder: Path) -> Found:
    """Run the program in a world from the seed. The modules are used up."""
    modules.every = EVERY[seed % len(EVERY)]
    world = World(seed, folder, modules=lambda: modules)

    def scenario(world: World) -> str:
        process = world.machine("hunt").start(program)
        try:
            world.wait_until(lambda: not process.is_running, LIMIT_S, "the threads are done")
        except TimeoutError:
            return f"the threads are not done after {LIMIT_S:g} s of the world's time: does one wait for ever?"
        return last_words(process.failure or next(iter(process.uncaught), ""))

    try:
        broken = str(world.run(scenario))
    except SimulationError as error:
        broken = f"{type(error).__name__}: {error}"
    return Found(seed, broken, modules.steps_of_the_learner() if broken else ())


def last_words(failure: str) -> str:
    """The error of a traceback without ``AssertionError``; an error of the code with the line that raised it."""
    lines = failure.rstrip().splitlines()
    if not lines:
        return ""
    last = next((line for line in reversed(lines) if line and not line.startswith((" ", "\t"))), lines[-1])
    if last.startswith("AssertionError: "):
        return last.removeprefix("AssertionError: ")
    places = [line.strip() for line in lines if line.lstrip().startswith('File "')]
    return f"{last} ({places[-1].rpartition('/')[2].replace(chr(34), '')})" if places else last
