"""The result of a check, as a learner sees it: the table of tests, the output of the code, what to do next."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Group
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kafka_learn.labs.grader import CheckResult, TestOutcome
from kafka_learn.labs.lab import Lab, Task
from kafka_learn.labs.starter import UNWRITTEN
from kafka_learn.labs.way.standing import HALF
from kafka_learn.labs.way.way_words import word
from kafka_learn.labs.workspace import LabWorkspace
from kafka_lite.tools.common.terminal import own_command


def in_order(result: CheckResult) -> list[TestOutcome]:
    """The outcomes by task, those with the broker last."""
    return sorted(result.outcomes, key=lambda row: (row.task, row.broker))


def score_table(lab: Lab, result: CheckResult, language: str = "en") -> Table:
    """One row per test: its title, whether it passed, and the mistake if not."""
    table = Table(title=f"{lab.title_in(language)} · {lab.place_in(language)}", title_justify="left", expand=False)
    table.add_column(word("task", language))
    table.add_column(word("test", language), ratio=2)
    table.add_column(word("earned", language), justify="right")
    task_before, points = 0, result.task_points()
    for outcome in in_order(result):
        if outcome.task != task_before:
            if task_before:
                table.add_section()
            earned, of = points[str(outcome.task)]
            half = f" {HALF} {earned}/{of}" if 0 < earned < of else ""
            title = lab.task(outcome.task).title_in(language) + half
            task_before = outcome.task
        else:
            title = ""
        table.add_row(f"{outcome.task}  {escape(title)}" if title else "", _outcome_text(outcome), _points(outcome))
    table.add_section()
    legend = f"[bold]{word('total', language)}[/]   [dim]{word('legend', language)}[/]"
    table.add_row("", legend, f"[bold]{result.score}/{result.total}")
    return table


def printed_by_first_failed(result: CheckResult, language: str = "en") -> Text | None:
    """The output of the learner's code in the first test that failed, if there was any."""
    failed = [outcome for outcome in in_order(result) if not (outcome.passed or waits(outcome))]
    if not failed or not failed[0].printed:
        return None
    head = word("printed", language, title=failed[0].title)
    return Text.assemble((f"{head}\n", "bold"), failed[0].printed)


def _outcome_text(outcome: TestOutcome) -> Group | Table:
    if outcome.passed:
        return marked("✓", outcome.title, "green")
    if waits(outcome):
        return marked("·", outcome.title, "dim")
    return Group(marked("✗", outcome.title, "red"), Padding(Text(outcome.message), (0, 0, 0, 2)))


def marked(mark: str, words: str, style: str = "") -> Table:
    """A mark and words; where they do not fit into a line, the next one begins below the words."""
    grid = Table.grid(padding=(0, 1))
    grid.add_row(Text(mark, style), Text(words, style))
    return grid


def waits(outcome: TestOutcome) -> bool:
    """Whether the test has no result yet: it was not run, or it reached an unwritten body."""
    return outcome.skipped or UNWRITTEN in outcome.message


def _points(outcome: TestOutcome) -> str:
    earned = outcome.points if outcome.passed else 0
    return f"[{'green' if earned else 'red'}]{earned}[/]/{outcome.points}"


def verdict(
    workspace: LabWorkspace, result: CheckResult, language: str = "en", how: Callable[[str], str] | None = None
) -> Text:
    """The meaning of the result, and what to do next; ``how(verb)`` is how one does it, if not by a command."""

    def command(verb: str) -> str:
        return f"{own_command()} labs {verb} {workspace.lab.name}"

    of_lab = how or command
    if result.passed and any(outcome.broker for outcome in result.outcomes):
        return Text(word("all with broker", language, command=of_lab("solution")))
    if result.passed:
        return Text(word("now the broker", language, command=of_lab("check")))
    if result.failure:
        return Text(result.failure, style="red")
    end = "。" if language == "zh" else "."
    what = _what_to_do(workspace, next_task(workspace, result), language) + end
    what += f"\n{word('stuck', language)} {of_lab('hint')}"
    if workspace.untouched():
        return Text(f"{word('expected', language)}\n{what}")
    return Text(what)


def _what_to_do(workspace: LabWorkspace, task: Task, language: str) -> str:
    """The task and the functions to write, or, if all are written, those to fix."""
    what = word("your task", language, number=task.number, title=task.title_in(language))
    if missing := workspace.unwritten(task):
        return what + word("write", language, functions=", ".join(missing))
    written = ", ".join(function.partition(":")[2] for function in task.functions)
    return what + word("check", language, functions=written) if written else what


def next_task(workspace: LabWorkspace, result: CheckResult) -> Task:
    """The first task with a function to write or a mistake to fix.

    A task whose functions are all written may still wait for those of a later task: then the later one is next.
    """
    done = result.tasks_passed()
    wrong = {each.task for each in result.outcomes if not (each.passed or waits(each))}
    open_tasks = [task for task in workspace.lab.tasks if task.number not in done]
    at_hand = [task for task in open_tasks if task.number in wrong or workspace.unwritten(task)]
    return next(iter(at_hand or open_tasks), workspace.lab.tasks[-1])
