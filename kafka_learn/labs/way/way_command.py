"""``kafka-lite labs`` alone, which continues where the learner was, and ``labs next``, which names the next lab."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from kafka_learn.labs.lab import Lab, all_labs
from kafka_learn.labs.way.lab_order import following, hours, in_order
from kafka_learn.labs.way.standing import Standing, last_touched, next_labs, standings
from kafka_learn.labs.way.way_words import word
from kafka_learn.labs.workspace import WORK, default_base
from kafka_lite.tools.common.terminal import own_command


def continue_labs(options: argparse.Namespace) -> int:
    """Show the lab that was touched last, its tasks and what to do; the next lab if it is done or there is none."""
    language, console = _language(options), Console(highlight=False)
    every = standings(in_order(all_labs()))
    last = last_touched(every)
    _tell_of_work_elsewhere(console, language)
    if last is not None:
        _show_standing(last, console, language)
    if last is None or last.is_done:
        _show_next(every, last, console, language)
    others = [s for s in every if s.workspace.started and not s.is_done and s is not last]
    if others:
        begun = ", ".join(f"{standing.lab.name} ({standing.points})" for standing in others)
        console.print(f"{word('also', language)} {begun}")
    return 0


def next_lab(options: argparse.Namespace) -> int:
    """Show the lab to begin next."""
    every = standings(in_order(all_labs()))
    _show_next(every, last_touched(every), Console(highlight=False), _language(options))
    return 0


def _language(options: argparse.Namespace) -> str:
    return "zh" if options.zh else "en"


def _tell_of_work_elsewhere(console: Console, language: str) -> None:
    """Say so if the current folder has work of the time when it decided where work is."""
    found, base = Path(WORK).resolve(), default_base().resolve()
    if found != base and any(found.glob("*/.progress.json")):
        console.print(f"[yellow]{escape(word('elsewhere', language, found=found, base=base))}[/]\n")


def _show_standing(standing: Standing, console: Console, language: str) -> None:
    lab, progress = standing.lab, standing.progress
    points = word("points", language, points=standing.points) if progress.checks else word("no check", language)
    console.print(f"{word('last', language)}  [bold]{escape(lab.title_in(language))}[/] · {lab.name} · {points}")
    console.print(Padding(task_table(standing, language), (0, 0, 0, 2)))
    command = own_command()
    if standing.is_done:
        console.print(f"{word('all points', language)} {command} labs solution {lab.name}\n")
        return
    if task := standing.open_task():
        console.print(escape(_to_do(standing, task.number, language)))
    console.print(f"{word('next', language)} [bold]{command} labs check {lab.name}[/]")
    console.print(f"{word('stuck', language)} {command} labs hint {lab.name}")


def _to_do(standing: Standing, number: int, language: str) -> str:
    task = standing.lab.task(number)
    words = word("your task", language, number=number, title=task.title_in(language))
    missing = standing.workspace.unwritten(task)
    return words + word("write", language, functions=", ".join(missing)) if missing else words


def task_table(standing: Standing, language: str) -> Table:
    """The tasks of a lab, each done, half done with its points, or open."""
    grid = Table.grid(padding=(0, 1))
    for task in standing.lab.tasks:
        grid.add_row(standing.mark(task), str(task.number), escape(task.title_in(language)), standing.half_of(task))
    return grid


def _show_next(every: Sequence[Standing], last: Standing | None, console: Console, language: str) -> None:
    labs = next_labs(every, last)
    if not labs:
        console.print(word("all", language, count=len(every)))
        return
    lab, *others = labs
    console.print(word("first" if last is None else "next lab", language))
    console.print(about(lab, every, language))
    console.print(f"{word('next', language)} [bold]{own_command()} labs start {lab.name}[/]")
    if last is not None and (right_after := [each.name for each in others if last.lab.name in each.after]):
        console.print(f"{word('or', language)} {', '.join(right_after)}")


def about(lab: Lab, every: Sequence[Standing], language: str) -> Table:
    """Its title, goal and time, and the labs around it. The goal is in English only; the Chinese text has it, too."""
    shown = Table(box=None, pad_edge=False, show_header=False)
    shown.add_column(style="dim")
    shown.add_column()
    place = lab.place if language == "en" else lab.section
    shown.add_row(word("lab", language), f"[bold]{escape(lab.title_in(language))}[/] · {lab.name} · {place}")
    if language == "en":
        shown.add_row(word("goal", language), escape(lab.goal))
        shown.add_row(word("before", language), escape(lab.before))
    if lab.after:
        shown.add_row(word("after", language), ", ".join(with_marks(lab.after, every)))
    if then := [other.name for other in following(lab, [standing.lab for standing in every])]:
        shown.add_row(word("then", language), ", ".join(with_marks(then, every)))
    shown.add_row(word("time", language), hours(lab.minutes, language))
    shown.add_row(word("difficulty", language), word(lab.difficulty, language))
    return shown


def with_marks(names: Sequence[str], every: Sequence[Standing]) -> list[str]:
    """The names of labs, those that are done with a tick."""
    done = {standing.lab.name for standing in every if standing.is_done}
    return [f"{name} ✓" if name in done else name for name in names]
