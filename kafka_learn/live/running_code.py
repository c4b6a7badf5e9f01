"""The code that the threads of a process run: the function in which each stands, and the lines of a single step.

Not in Kafka. A thread of a world is a greenlet, and one that waits knows its frames. They are only read, so a world
that is watched has the same events as one that is not::

    code = RunningCode(world)
    code.watch("broker-0")
    code.as_json()                  the threads of broker-0, each with its functions, innermost first
    with code.noted():              a note wherever a thread touches a lock
        …                           a step of the world
    code.as_json()["ran"]           the functions in which the step has touched locks, in their order

Only code of this project is shown, without the simulator: from a lock or a socket on, a stand-in runs.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.scheduler import Scheduler, Task
from kafka_lite.testing.simulation.world import World

ROOT: Final = Path(__file__).parents[2]
"""The folder of the source, of this project as well as of a page's copy."""
SHOWN: Final = ("kafka_lite/", "kafka_learn/live/clients/", "kafka_learn/live/console_program.py", "own/")
HIDDEN: Final = "kafka_lite/testing/"
"""Folders and files of which the code is shown, and one within them of which it is not."""
_FIRST: Final = Scheduler._live.__code__
"""The first function of each thread. In WebAssembly, its caller's frame is no longer there while the thread runs."""
MOST_FUNCTIONS: Final = 300
"""How many functions of one step are kept: the first ones."""


@dataclass
class Place:
    """A function, and lines of it."""

    name: str
    """As in Python: ``Log.append``."""
    module: str
    file: str
    """From the root of the project."""
    first: int
    last: int
    """The lines of the whole function."""
    lines: list[int] = field(default_factory=list)
    """The line where it stands, or those in which a step called others and touched locks."""


@dataclass
class Ran:
    """A function that a step has run: it touched a lock, or called a function that did."""

    thread: int
    depth: int
    """How many functions of the project called each other to come here."""
    place: Place


class RunningCode:
    """Shows the code of one process at a time."""

    def __init__(self, world: World, root: Path = ROOT) -> None:
        self._world = world
        self._root = f"{root}/"
        self._watched = ""
        self._ran: list[Ran] = []
        self._within: dict[int, list[tuple[types.CodeType, Ran]]] = {}
        """Number of a thread -> the functions in which it was at its last touch, outermost first."""

    @property
    def processes(self) -> dict[str, Process]:
        """The running processes by name."""
        return {process.name: process for process in self._world.processes if process.is_running}

    def watch(self, name: str) -> None:
        """Show this process from now on, and none with an empty name. Raises ValueError if it does not run."""
        if name and name not in self.processes:
            raise ValueError(f"no process {name!r} runs")
        self._watched = name
        self._ran = []

    def as_json(self) -> dict[str, Any] | None:
        """The threads of the watched process and the functions of the last step; None while none is watched."""
        if not self._watched:
            return None
        process = self.processes.get(self._watched)
        tasks = process.owner.tasks if process is not None else []
        return {
            "process": self._watched, "processes": list(self.processes),
            "threads": [
                {"number": task.number, "name": task.name, "stack": [asdict(place) for place in self.stack(task)]}
                for task in tasks
            ],
            "ran": [asdict(ran) for ran in self._ran],
        }  # fmt: skip

    def stack(self, task: Task) -> list[Place]:
        """The functions in which a waiting thread stands, innermost first. Empty if it has not begun."""
        return [
            _place(frame.f_code, file, [frame.f_lineno])
            for frame in _frames(task)
            if (file := self._shown(frame.f_code))
        ]

    def _shown(self, code: types.CodeType) -> str:
        """The file of a function if it is shown, from the root of the project; else an empty text.

        Modules, lambdas and comprehensions are part of the function around them.
        """
        if not code.co_filename.startswith(self._root) or code.co_name.startswith("<"):
            return ""
        file = code.co_filename.removeprefix(self._root)
        return file if file.startswith(SHOWN) and not file.startswith(HIDDEN) else ""

    # ── a step ────────────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note the functions of the watched process that touch locks in the meantime.

        Python's own trace function would see each line, but in WebAssembly it follows the stacks of waiting threads,
        which are not there.
        """
        process = self.processes.get(self._watched)
        if process is None:
            yield
            return
        self._ran, self._within = [], {}
        scheduler = self._world.scheduler
        touch = scheduler.touch

        def note_and_touch() -> None:
            task = scheduler.current
            if task is not None and task.owner is process.owner:
                self._note(task, sys._getframe(1))
            touch()

        scheduler.touch = note_and_touch  # type: ignore[method-assign]
        try:
            yield
        finally:
            del scheduler.touch  # the method is there again

    def _note(self, task: Task, frame: types.FrameType | None) -> None:
        """Add the functions on the stack that were not there at the thread's last touch."""
        stack: list[tuple[types.CodeType, str, int]] = []
        while frame is not None and frame.f_code is not _FIRST:
            if file := self._shown(frame.f_code):
                stack.append((frame.f_code, file, frame.f_lineno))
            frame = frame.f_back
        before = self._within.get(task.number, [])
        within: list[tuple[types.CodeType, Ran]] = []
        is_same = True
        for depth, (code, file, line) in enumerate(reversed(stack)):
            is_same = is_same and depth < len(before) and before[depth][0] is code
            if not is_same and len(self._ran) >= MOST_FUNCTIONS:
                break
            ran = before[depth][1] if is_same else self._new(task, depth, code, file)
            if line not in ran.place.lines:
                ran.place.lines.append(line)
            within.append((code, ran))
        self._within[task.number] = within

    def _new(self, task: Task, depth: int, code: types.CodeType, file: str) -> Ran:
        self._ran.append(Ran(task.number, depth, _place(code, file, [])))
        return self._ran[-1]


def _frames(task: Task) -> Iterator[Any]:
    """The frames of a waiting thread, innermost first."""
    frame = task.greenlet.gr_frame if task.greenlet is not None else None
    while frame is not None:
        yield frame
        frame = frame.f_back


def _place(code: types.CodeType, file: str, lines: list[int]) -> Place:
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return Place(code.co_qualname.replace(".<locals>", ""), module, file, code.co_firstlineno, _last_line(code), lines)


def _last_line(code: types.CodeType) -> int:
    own = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    return max([own, *(_last_line(inner) for inner in code.co_consts if isinstance(inner, types.CodeType))])
