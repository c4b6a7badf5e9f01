"""Collects what a learner has written so far in all labs, and makes one Kafka of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_learn.labs.lab import Lab, all_labs
from kafka_learn.labs.own.merging import Answer, Merged, merge
from kafka_learn.labs.starter import unwritten
from kafka_learn.labs.workspace import LabWorkspace
from kafka_learn.source import module_path

PACKAGE = "kafka_lite."
"""The modules of a broker and its clients; those of the pipeline's labs run in Spark."""


@dataclass(frozen=True)
class Room:
    """A package of Kafka, with the number of functions that labs ask for, and of those that are the learner's."""

    name: str
    written: int
    asked: int


@dataclass(frozen=True)
class OwnKafka:
    """The modules in which a learner's functions stand, and what else the learner should know."""

    modules: dict[str, Merged]
    rooms: tuple[Room, ...]
    notes: tuple[str, ...]

    @property
    def written(self) -> int:
        """How many functions are the learner's."""
        return sum(room.written for room in self.rooms)

    @property
    def asked(self) -> int:
        """How many functions the labs ask for."""
        return sum(room.asked for room in self.rooms)

    def write(self, folder: Path) -> dict[str, Path]:
        """Write the modules into a folder, which holds nothing else afterwards; returns the file of each."""
        folder.mkdir(parents=True, exist_ok=True)
        for left_over in folder.glob("*.py"):
            left_over.unlink()
        files = {module: folder / f"{module}.py" for module in self.modules}
        for module, path in files.items():
            path.write_text(self.modules[module].source, encoding="utf-8")
        return files


def own_kafka(workspaces: Iterable[LabWorkspace] | None = None, *, unchecked: bool = False) -> OwnKafka:
    """Merge the working files of all labs.

    Functions count whose task was green in the last check; ``unchecked``: all that have a body. A file that Python
    cannot read is left out, with a note.
    """
    answers, notes = dict[str, list[Answer]](), list[str]()
    every = list(workspaces or map(LabWorkspace, all_labs()))
    for workspace in every:
        for module, path in workspace.existing_files().items():
            if not module.startswith(PACKAGE):
                continue
            try:
                answer = _answer(workspace, module, path.read_text(encoding="utf-8"), unchecked=unchecked)
            except SyntaxError as error:
                notes.append(f"{path} is left out: line {error.lineno}: {error.msg}")
                continue
            if answer.written:
                answers.setdefault(module, []).append(answer)
    modules = {
        module: merge(module_path(module).read_text(encoding="utf-8"), of_module)
        for module, of_module in sorted(answers.items())
    }
    notes += [conflict for merged in modules.values() for conflict in merged.conflicts]
    return OwnKafka(modules, tuple(_rooms([workspace.lab for workspace in every], modules)), tuple(notes))


def _answer(workspace: LabWorkspace, module: str, source: str, *, unchecked: bool) -> Answer:
    asked = workspace.lab.functions_of(module)
    passed = workspace.progress().tasks_passed
    open_functions = set(unwritten(source, asked))
    written = {
        name for name, task in asked.items() if name not in open_functions and (unchecked or task.number in passed)
    }
    return Answer(workspace.lab.name, source, frozenset(written), frozenset(asked.keys() - written))


def _rooms(labs: Iterable[Lab], modules: dict[str, Merged]) -> Iterator[Room]:
    functions = {function for lab in labs for task in lab.tasks for function in task.functions}
    asked = Counter(_room(function) for function in functions if function.startswith(PACKAGE))
    written = Counter(_room(module) for module, merged in modules.items() for _ in merged.functions)
    for name in sorted(asked):
        yield Room(name, written[name], asked[name])


def _room(name: str) -> str:
    return name.split(".")[1].partition(":")[0]
