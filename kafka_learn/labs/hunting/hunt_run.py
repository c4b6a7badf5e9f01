"""A process that hunts: ``python -m kafka_learn.labs.hunting.hunt_run LAB FIRST COUNT REPORT MODULE=FILE…``.

The learner's modules are imported once; each seed runs in a fork. It ends with the first seed that breaks a promise.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from kafka_learn.labs.hunting.hunt_world import Found, LearnersModules, Step, ready_modules, run_seed
from kafka_learn.labs.hunting.hunts import HUNTS


def hunt(program: str, files: Mapping[str, Path], seeds: range) -> Found | None:
    """The first of the seeds that breaks a promise; None if none does. Raises what importing the files raises."""
    modules = ready_modules(program, files)
    for seed in seeds:
        found = _in_a_fork(seed, program, modules)
        if found.broken:
            return found
    return None


def _in_a_fork(seed: int, program: str, modules: LearnersModules) -> Found:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        folder = Path(tempfile.mkdtemp(prefix="kafka-lite-hunt-"))
        try:
            found = run_seed(seed, program, modules, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        with os.fdopen(writer, "w", encoding="utf-8") as file:
            json.dump(asdict(found), file)
        os._exit(0)  # without the finally blocks of threads that have not ended
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as file:
        text = file.read()
    os.waitpid(child, 0)
    return found_of(text) if text else Found(seed, "its process ended before it was done")


def found_of(text: str) -> Found:
    """A report as it is written."""
    row = json.loads(text)
    return Found(row["seed"], row["broken"], tuple(Step(*step) for step in row["steps"]))


def main(arguments: list[str]) -> int:
    """Do what the command line says; returns 1 if a seed has broken a promise. The report is empty if none has."""
    lab, first, count, report, *pairs = arguments
    files = {module: Path(file) for module, _, file in (pair.partition("=") for pair in pairs)}
    found = hunt(HUNTS[lab].program, files, range(int(first), int(first) + int(count)))
    Path(report).write_text(json.dumps(asdict(found)) if found else "", encoding="utf-8")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
