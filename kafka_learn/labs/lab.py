"""The definition of a lab: ``labs/<name>/lab.toml``, its tasks (README.md) and its open tests (tests/).

A lab names functions of the shipped code, in ``kafka_lite`` or in ``pipeline``. Its starter is that code without their
bodies, and its solution is that code, so neither can drift from what the broker or the pipeline runs.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.source import module_path
from kafka_lite.tools.common.terminal import own_command

LABS = PROJECT_ROOT / "labs"
DIFFICULTIES = ("easy", "medium", "hard")
SPARK = "spark"
"""The extra of the labs that run in a Spark session."""
_TASK_ZH = re.compile(r"^## 任务 (\d+)：(.+)（\d+ 分）", re.MULTILINE)
"""The heading of a task in ``README.zh.md``."""


class UnknownLabError(LookupError):
    """There is no lab of that name."""


@dataclass(frozen=True)
class Task:
    """One step of a lab: the functions to write, and hints given one at a time."""

    number: int
    title: str
    functions: tuple[str, ...]
    """As ``module:Class.method``."""
    hints: tuple[str, ...]
    hints_zh: tuple[str, ...] = ()
    """The same hints in Chinese; empty if a lab has none."""
    title_zh: str = ""
    """As in the lab's Chinese text."""

    def title_in(self, language: str) -> str:
        """The title in a language, or in English if there is none."""
        return (self.title_zh if language == "zh" else "") or self.title

    def hints_in(self, language: str) -> tuple[str, ...]:
        """The hints in a language, or in English if there are none."""
        return (self.hints_zh if language == "zh" else ()) or self.hints


@dataclass(frozen=True)
class Lab:
    """One lab; ``time_limit_s`` limits a whole check including the broker, and ``test_limit_s`` each test.

    ``goal`` is one sentence, ``before`` says what to read or do first, and ``after`` names the labs that come right
    before this one. ``minutes`` is what a learner needs who has done all that. ``extra`` is the extra of the package
    that the lab needs in addition to ``learn``; empty if none. ``in_page``: its tests without the broker run in a page
    of the site, which has no sockets, processes and JVM.
    """

    name: str
    folder: Path
    title: str
    title_zh: str
    section: str
    goal: str
    before: str
    after: tuple[str, ...]
    minutes: int
    difficulty: str
    extra: str
    in_page: bool
    time_limit_s: float
    test_limit_s: float
    tasks: tuple[Task, ...]

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that the learner works on, in the order of the tasks."""
        names = (function.partition(":")[0] for task in self.tasks for function in task.functions)
        return tuple(dict.fromkeys(names))

    @property
    def chapter(self) -> str:
        """The beginning of its name: ``ch06``, or ``spark``."""
        return self.name.partition("-")[0]

    @property
    def place(self) -> str:
        """Where the lab belongs: a section of the book, or of a chapter that is not in it."""
        return f"book {self.section}" if self.section[0].isdigit() else f"beyond the book: {self.section}"

    def place_in(self, language: str) -> str:
        """The same in a language."""
        if language != "zh":
            return self.place
        return f"书 {self.section}" if self.section[0].isdigit() else f"书外：{self.section}"

    def title_in(self, language: str) -> str:
        """The title, in the language of the page."""
        return self.title_zh if language == "zh" else self.title

    @property
    def tests(self) -> Path:
        """The folder of the open tests."""
        return self.folder / "tests"

    def functions_of(self, module: str) -> dict[str, Task]:
        """The functions of one module that the learner writes, each with its task."""
        return {
            function.partition(":")[2]: task
            for task in self.tasks
            for function in task.functions
            if function.partition(":")[0] == module
        }

    def task(self, number: int) -> Task:
        """The task with this number. Raises KeyError."""
        for task in self.tasks:
            if task.number == number:
                return task
        raise KeyError(f"{self.name} has no task {number}, only {len(self.tasks)} tasks")


def working_file(module: str) -> str:
    """The file of a module in the learner's working folder."""
    return module_path(module).name


def load_lab(folder: Path) -> Lab:
    """Read ``lab.toml``. Raises KeyError naming a missing key, ValueError for an unknown difficulty."""
    data = tomllib.loads((folder / "lab.toml").read_text(encoding="utf-8"))
    if data["difficulty"] not in DIFFICULTIES:
        raise ValueError(f"{folder.name}: difficulty is one of {', '.join(DIFFICULTIES)}, not {data['difficulty']}")
    return Lab(
        name=folder.name,
        folder=folder,
        title=data["title"],
        title_zh=data["title_zh"],
        section=data["section"],
        goal=data["goal"],
        before=data["before"],
        after=tuple(data["after"]),
        minutes=data["minutes"],
        difficulty=data["difficulty"],
        extra=data.get("extra", ""),
        in_page=data.get("in_page", data.get("extra") != SPARK),
        time_limit_s=float(data["time_limit_s"]),
        test_limit_s=float(data["test_limit_s"]),
        tasks=_tasks(data["task"], folder / "README.zh.md"),
    )


def _tasks(rows: list[dict[str, Any]], chinese: Path) -> tuple[Task, ...]:
    titles = dict(_TASK_ZH.findall(chinese.read_text(encoding="utf-8"))) if chinese.exists() else {}
    return tuple(_task(number, row, titles.get(str(number), "")) for number, row in enumerate(rows, 1))


def _task(number: int, row: dict[str, Any], title_zh: str) -> Task:
    hints, hints_zh = tuple(row["hints"]), tuple(row.get("hints_zh", ()))
    return Task(number, row["title"], tuple(row["functions"]), hints, hints_zh, title_zh)


def all_labs(root: Path = LABS) -> list[Lab]:
    """Every lab, sorted by name and therefore by chapter. Raises UnknownLabError if there are none."""
    labs = [load_lab(path.parent) for path in sorted(root.glob("*/lab.toml"))]
    if not labs:
        raise UnknownLabError(f"no labs in {root}: they come with a clone of the project, not with the package")
    return labs


def find_lab(name: str, root: Path = LABS) -> Lab:
    """The lab with this name, or the only one that starts with it. Raises UnknownLabError, which names those meant."""
    labs = all_labs(root)
    exact = [lab for lab in labs if lab.name == name]
    found = exact or [lab for lab in labs if lab.name.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found and name:
        raise UnknownLabError(f"several labs begin with {name!r}: {', '.join(lab.name for lab in found)}")
    close = difflib.get_close_matches(name, [lab.name for lab in labs], n=1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    raise UnknownLabError(f"unknown lab {name!r}.{meant} {own_command()} labs list shows all of them")
