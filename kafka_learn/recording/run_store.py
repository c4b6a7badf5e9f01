"""Recorded runs for pages: recorded when the site is built, or read from a file beside the chapter.

A run named by its function, such as ``chapters.ch02_producer.figures.request_runs:produce_request``, is recorded once
and kept under ``.build`` until a file changes that its processes have read, a module or data (``kept.used_files``). A
run that takes long, or that the text discusses in detail, is kept as ``chapters/…/name.jsonl``. A test records it again
and compares the structure, so it cannot drift from the code.

With a ``seed``, the function is executed in a simulated world: see ``simulated_run``.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path

from kafka_learn.kept.used_files import UsedFiles, is_current
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.recording.recorded_apart import recorded_apart
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.simulated_run import recorded_in_world
from kafka_learn.source import UnknownSymbolError, find_symbol

RECORDED = PROJECT_ROOT / ".build" / "runs"


def recorded_run(reference: str, root: Path = PROJECT_ROOT, *, seed: int | None = None) -> RecordedRun:
    """The run of a function ``module:function`` or of a file ``path/in/the/repository.jsonl``.

    ``seed``: the function is executed in the world of that seed. Raises UnknownSymbolError if there is no such function
    or file, ValueError if it does not yield a run.
    """
    if not reference.endswith(".jsonl"):
        return _recorded_now(reference, seed)
    if seed is not None:
        raise ValueError(f"{reference} is a recorded file: it takes no seed")
    path = root / reference
    if not path.is_file():
        raise UnknownSymbolError(f"there is no file {reference}")
    return RecordedRun.load(path)


def record(reference: str, seed: int | None = None, environment: Mapping[str, str] = os.environ) -> RecordedRun:
    """Execute ``module:function`` to record a run in a process of its own, in the world of a seed if one is given.

    Raises UnknownSymbolError if there is no such function, ValueError if it fails or returns something else.
    """
    find_symbol(reference)
    if seed is not None:
        return recorded_in_world(reference, seed, environment=environment)
    return recorded_apart(reference, environment)


def drift(path: Path) -> list[str]:
    """The differences between a new recording (``+``) and a kept run (``-``); empty if there are none.

    Raises what ``record`` and ``RecordedRun.load`` raise.
    """
    kept = RecordedRun.load(path)
    now = record(kept.recorded_by)
    differences = difflib.ndiff(_lines(kept.structure()), _lines(now.structure()))
    return [line for line in differences if line.startswith(("+", "-"))]


def _lines(structure: dict[str, list[str]]) -> list[str]:
    return [f"{thread}: {line}" for thread, lines in sorted(structure.items()) for line in lines]


def kept_runs(root: Path = PROJECT_ROOT) -> list[Path]:
    """The run files in the chapters' folders."""
    return sorted((root / "chapters").rglob("*.jsonl"))


def _recorded_now(reference: str, seed: int | None) -> RecordedRun:
    name = reference.rpartition(".")[2].replace(":", "-")
    path = RECORDED / (f"{name}.jsonl" if seed is None else f"seed-{seed}-{name}.jsonl")
    if not is_current(path):
        with UsedFiles() as used:
            record(reference, seed, used.environment()).save(path)
            used.note(path)
    return RecordedRun.load(path)
