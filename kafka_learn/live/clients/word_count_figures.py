"""Instances of word count: their states and tasks, and what they have counted.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

NOT_STARTED = "starting"


@dataclass
class Instance:
    """An instance that runs."""

    state: str = NOT_STARTED
    tasks: list[str] = field(default_factory=list)


@dataclass
class Word:
    """The last count of a word, and where it was counted."""

    count: int
    instance: str
    task: str


class WordCountFigures:
    """Keeps what the processors tell; ``note`` gets what a reader should see at once."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._instances: dict[str, Instance] = {}
        self._words: dict[str, Word] = {}
        self._lines = 0

    def began(self, instance: str) -> None:
        """An instance has been started."""
        self._instances[instance] = Instance()

    def ended(self, instance: str) -> None:
        """It runs no more."""
        self._instances.pop(instance, None)

    def streams_state(self, instance: str, state: str) -> None:
        """An instance has another state."""
        self._instance(instance).state = state
        self._note(f"{instance}: {state}")

    def task_began(self, instance: str, task: str) -> None:
        """An instance has got a task, and what its store had before is there again."""
        tasks = self._instance(instance).tasks
        tasks[:] = sorted({*tasks, task})
        self._note(f"{instance}: has task {task}")

    def task_ended(self, instance: str, task: str) -> None:
        """An instance has lost a task, or closed it."""
        tasks = self._instance(instance).tasks
        tasks[:] = [each for each in tasks if each != task]
        self._note(f"{instance}: has closed task {task}")

    def counted(self, instance: str, task: str, word: str, count: int) -> None:
        """A word has come so often."""
        self._words[word] = Word(count, instance, task)

    def line_written(self, line: str) -> None:
        """A line is in the log."""
        self._lines += 1
        self._note(f"writer: {line!r} is in the log")

    def _instance(self, name: str) -> Instance:
        return self._instances.setdefault(name, Instance())

    def as_json(self) -> dict[str, Any]:
        """Instances and words by name, and how many lines were written."""
        return {
            "instances": {
                name: {"state": its.state, "tasks": list(its.tasks)} for name, its in sorted(self._instances.items())
            },
            "words": {
                word: {"count": its.count, "instance": its.instance, "task": its.task}
                for word, its in sorted(self._words.items())
            },
            "lines": self._lines,
        }  # fmt: skip
