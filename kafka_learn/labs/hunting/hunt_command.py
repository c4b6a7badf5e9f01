"""``kafka-lite labs hunt LAB``: a race hunt for the learner's module."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from kafka_learn.labs.grader import Runner, run_bounded, syntax_problem
from kafka_learn.labs.hunting.hunt_run import found_of
from kafka_learn.labs.hunting.hunt_world import Found
from kafka_learn.labs.hunting.hunts import HUNTS, Hunt
from kafka_learn.labs.hunting.lanes import lanes
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.way.verbs import add_verb
from kafka_learn.labs.way.way_words import word
from kafka_learn.labs.workspace import LabWorkspace
from kafka_lite.tools.common.terminal import own_command

PROGRAM = "kafka_learn.labs.hunting.hunt_run"
SEEDS = 200
LIMIT_S = 300.0
SHOWN_CHARACTERS = 600


class HuntFailedError(Exception):
    """The hunt itself ended early, for example because a module cannot be imported."""


def add_hunt(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to those of ``labs``."""
    parser = add_verb(verbs, "hunt", "look for races in your code, seed by seed", _hunt, of_a_lab=True)
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, metavar="N", help="only this one: the same run, again")


def _hunt(options: argparse.Namespace) -> int:
    """Returns 0 if nothing was found, 1 if a promise was broken, 2 if there is no hunt or it could not begin."""
    language, console = "zh" if options.zh else "en", Console(highlight=False)
    lab = find_lab(options.lab)
    wanted = HUNTS.get(lab.name)
    if wanted is None:
        console.print(word("no hunt", language, lab=lab.name, labs=", ".join(HUNTS)))
        return 2
    files = LabWorkspace(lab, options.dir).files()
    seeds = range(1, options.seeds + 1) if options.seed is None else range(options.seed, options.seed + 1)
    console.print(f"[bold]{escape(lab.title_in(language))}[/] · {escape(wanted.promise_in(language))}")
    try:
        with console.status(word("hunting", language, count=len(seeds))):
            found = hunted(wanted, files, seeds)
    except HuntFailedError as error:
        console.print(escape(str(error)), style="red")
        return 2
    if found is None:
        console.print(word("nothing found", language, count=len(seeds)), style="green")
        return 0
    console.print(escape(word("race found", language, seed=found.seed, broken=found.broken)), style="red")
    console.print(word("last steps", language))
    console.print(lanes(found.steps), no_wrap=True, overflow="ellipsis")
    command = f"{own_command()} labs hunt {lab.name} --seed {found.seed}"
    console.print(f"\n{word('again', language)} [bold]{command}[/]")
    return 1


def hunted(hunt: Hunt, files: Mapping[str, Path], seeds: range, run: Runner = run_bounded) -> Found | None:
    """The first seed that breaks a promise, found in a process of its own; None if none does. Raises HuntFailedError.

    The hashes of text are the same in each process, so that a seed gives the same run.
    """
    for path in files.values():
        if problem := syntax_problem(path):
            raise HuntFailedError(f"{path.name}: {problem}")
    with tempfile.TemporaryDirectory(prefix="kafka-lite-lab-") as folder:
        report = Path(folder) / "report.json"
        pairs = [f"{module}={file}" for module, file in files.items()]
        words = [hunt.lab, str(seeds.start), str(len(seeds)), str(report), *pairs]
        code, output = run(["env", "PYTHONHASHSEED=0", sys.executable, "-m", PROGRAM, *words], LIMIT_S)
        if not report.exists():
            ended = f"not done after {LIMIT_S:g} s" if code is None else output.strip()[-SHOWN_CHARACTERS:]
            raise HuntFailedError(ended)
        text = report.read_text(encoding="utf-8")
    return found_of(text) if text else None
