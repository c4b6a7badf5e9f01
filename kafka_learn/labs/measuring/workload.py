"""The measured task of a lab: the file ``measured.py`` in its folder.

::

    SHOWN, SHOWN_ZH   what one round does
    ROUNDS            how many rounds one process does: about a quarter of a second for the shipped modules
    prepare(folder)   returns one_round(number), which returns what came out: the same for every right answer

The words are read without running the file, for it imports the modules that are measured.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from kafka_learn.labs.lab import LABS, Lab, all_labs

FILE = "measured.py"


class NoMeasuredTaskError(LookupError):
    """The lab has no measured task."""


@dataclass(frozen=True)
class Workload:
    """The measured task of a lab."""

    file: Path
    shown: str
    shown_zh: str
    rounds: int

    def shown_in(self, language: str) -> str:
        """The words for what one round does, in a language."""
        return self.shown_zh if language == "zh" else self.shown


def workload_of(lab: Lab) -> Workload:
    """The measured task of a lab. Raises NoMeasuredTaskError, KeyError naming a constant that is missing."""
    file = lab.folder / FILE
    if not file.exists():
        raise NoMeasuredTaskError(lab.name)
    constants = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    return Workload(file, constants["SHOWN"], constants["SHOWN_ZH"], constants["ROUNDS"])


def measured_labs(root: Path = LABS) -> list[Lab]:
    """The labs that have a measured task."""
    return [lab for lab in all_labs(root) if (lab.folder / FILE).exists()]
