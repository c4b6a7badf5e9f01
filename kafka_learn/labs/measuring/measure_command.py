"""``kafka-lite labs measure LAB``: is your answer faster than the shipped code?"""

from __future__ import annotations

import argparse
import time

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from kafka_learn.labs.grader import CheckResult, check, jvm_for_checks_of
from kafka_learn.labs.lab import Lab, find_lab
from kafka_learn.labs.measuring.measuring import ALTERNATIONS, RefusedError, can_count, measure
from kafka_learn.labs.measuring.tries import Try, remember, tries, try_table
from kafka_learn.labs.measuring.workload import NoMeasuredTaskError, Workload, measured_labs, workload_of
from kafka_learn.labs.way.check_report import next_task
from kafka_learn.labs.way.verbs import add_verb
from kafka_learn.labs.way.way_words import word
from kafka_learn.labs.workspace import LabWorkspace
from kafka_lite.tools.common.terminal import own_command


def add_measure(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to those of ``labs``."""
    parser = add_verb(verbs, "measure", "measure your answer beside the shipped code", _measure, of_a_lab=True)
    parser.add_argument("--table", action="store_true", help="only show your tries")
    parser.add_argument("--no-instructions", action="store_true", help="measure times only, without valgrind")
    parser.add_argument(
        "--alternations",
        type=int,
        default=ALTERNATIONS,
        metavar="N",
        help="processes of each side (default: %(default)s)",
    )


def _measure(options: argparse.Namespace) -> int:
    """Returns 0 if there are figures, 1 if the answer is refused, 2 if the lab has nothing to measure."""
    language, console = "zh" if options.zh else "en", Console(highlight=False)
    lab = find_lab(options.lab)
    try:
        workload = workload_of(lab)
    except NoMeasuredTaskError:
        names = ", ".join(each.name for each in measured_labs())
        console.print(word("not measured", language, lab=lab.name, labs=names))
        return 2
    workspace = LabWorkspace(lab, options.dir)
    console.print(f"[bold]{escape(lab.title_in(language))}[/] · {escape(workload.shown_in(language))}")
    if options.table:
        return _show_tries(workspace, console, language)
    files = workspace.files()
    with console.status(word("checking", language, lab=lab.name, seconds=lab.time_limit_s)), jvm_for_checks_of(lab):
        result = check(lab, files, broker=False)
    if not result.passed:
        console.print(_not_green(workspace, result, language))
        return 1
    try:
        with console.status("") as status:
            new = _measured(lab, workload, workspace, options, status, language)
    except RefusedError as refused:
        console.print(word("refused", language), style="red")
        console.print(escape(word(refused.name, language, **refused.values)))
        return 1
    console.print(try_table(remember(workspace.folder, new), language))
    if new.instructions is None and not options.no_instructions:
        console.print(word("needs valgrind", language), style="dim")
    return 0


def _measured(
    lab: Lab, workload: Workload, workspace: LabWorkspace, options: argparse.Namespace, status: Status, language: str
) -> Try:
    def step(number: int) -> None:
        name = "measuring" if number else "counting"
        status.update(word(name, language, number=number, count=options.alternations))

    count = can_count() and not options.no_instructions
    alternations = max(1, options.alternations)
    found = measure(lab, workload, workspace.files(), count=count, alternations=alternations, step=step)
    return Try.of(found, round(time.time()))


def _show_tries(workspace: LabWorkspace, console: Console, language: str) -> int:
    every = tries(workspace.folder)
    console.print(try_table(every, language) if every else word("no try", language))
    return 0


def _not_green(workspace: LabWorkspace, result: CheckResult, language: str) -> str:
    if result.failure:
        return escape(result.failure)
    task = next_task(workspace, result)
    command = f"{own_command()} labs check {workspace.lab.name}"
    return word("not green", language, number=task.number, title=escape(task.title_in(language)), command=command)
