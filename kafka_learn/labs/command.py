"""``kafka-lite labs``: list, show, start, check, watch, reset, run labs, hints, the solution; alone, it continues."""

from __future__ import annotations

import argparse
import difflib
import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table

from kafka_learn.labs.grader import CheckResult, check, jvm_for_checks_of
from kafka_learn.labs.grading.certificate_command import add_certificate
from kafka_learn.labs.grading.grade_command import add_grade
from kafka_learn.labs.hunting.hunt_command import add_hunt
from kafka_learn.labs.in_page.importing import add_import
from kafka_learn.labs.lab import Lab, UnknownLabError, all_labs, find_lab
from kafka_learn.labs.measuring.measure_command import add_measure
from kafka_learn.labs.own.own_command import add_verbs
from kafka_learn.labs.way.check_report import marked, next_task, printed_by_first_failed, score_table, verdict
from kafka_learn.labs.way.in_chinese import in_language
from kafka_learn.labs.way.lab_order import by_chapter, in_order
from kafka_learn.labs.way.standing import Standing, standings
from kafka_learn.labs.way.verbs import add_language_arguments, add_verb, choose_language
from kafka_learn.labs.way.way_command import about, continue_labs, next_lab, task_table
from kafka_learn.labs.way.way_words import word
from kafka_learn.labs.workspace import AlreadyStartedError, LabWorkspace, NotStartedError
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.source import module_path
from kafka_lite.tools.common.terminal import own_command

WATCH_POLL_S = 0.5
_SOLUTION = ("solution", "seen at")
BILINGUAL_COLUMNS = 120
"""From this width of the terminal on, the list has titles in both languages."""

NAME = "labs"
SUMMARY = "graded labs in which you write parts of the broker"


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``labs`` and its verbs to a command's parser, with this module's ``run`` as the option ``run``."""
    parser = subparsers.add_parser(NAME, help=SUMMARY, description=f"{SUMMARY[:1].upper()}{SUMMARY[1:]}.")
    add_arguments(parser)
    parser.set_defaults(run=run)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verbs and their options; without a verb, the command continues where the learner was."""
    add_language_arguments(parser)
    parser.set_defaults(run_verb=continue_labs)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    of_a_lab = functools.partial(add_verb, verbs, of_a_lab=True)
    add_verb(verbs, "next", "show the lab to begin next", next_lab)
    add_verb(verbs, "list", "list the labs with your progress", _list)
    of_a_lab("show", "show what a lab is about, what it takes, and its tasks", _show_lab)
    of_a_lab("start", "create a working folder with the starter", _start)
    checking = of_a_lab("check", "run the tests, then start a broker with your code", _check)
    checking.add_argument("--no-broker", action="store_true", help="run only the tests")
    watching = of_a_lab("watch", "check again whenever you save a file", _watch)
    watching.add_argument("--no-broker", action="store_true", help="run only the tests")
    hinting = of_a_lab("hint", "show the next hint for the current task", _hint)
    hinting.add_argument("task", nargs="?", type=int, help="show a hint for this task instead")
    of_a_lab("reset", "start over (your work is moved aside)", _reset)
    add_hunt(verbs)
    add_measure(verbs)
    add_verbs(verbs)
    add_grade(verbs)
    add_certificate(verbs)
    add_import(verbs)
    solving = of_a_lab("solution", "compare your code with the shipped code, after a check", _solution)
    solving.add_argument("--code", action="store_true", help="show the shipped modules instead")
    solving.add_argument("--yes", action="store_true", help="do not ask first")


def run(options: argparse.Namespace) -> int:
    """Run the verb. Returns 0, 1 if a check is not green, 2 for an error that the learner can fix, 130 after Ctrl-C."""
    verb: Callable[[argparse.Namespace], int] = options.run_verb
    options.zh = choose_language(options) == "zh"
    try:
        return verb(options)
    except (UnknownLabError, NotStartedError, AlreadyStartedError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:
        return 130


def _language(options: argparse.Namespace) -> str:
    return "zh" if options.zh else "en"


def _words_of(options: argparse.Namespace) -> Callable[..., str]:
    """``say(name, **values)``: the words for something, in the language of the answer."""
    return lambda name, **values: word(name, _language(options), **values)


def _workspace(options: argparse.Namespace) -> LabWorkspace:
    return LabWorkspace(find_lab(options.lab), options.dir)


def _list(options: argparse.Namespace) -> int:
    console = Console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("lab", "book", "title", "time", "difficulty", "points"):
        # Names are there to be copied, so only titles are wrapped.
        table.add_column(column, no_wrap=column != "title", ratio=1 if column == "title" else None, overflow="fold")
    language = "zh" if options.zh else "en"
    for _, labs in by_chapter(all_labs()):
        of_chapter = standings(labs)
        for standing in of_chapter:
            lab, title = standing.lab, _listed_title(standing.lab, console.width, zh=options.zh)
            table.add_row(lab.name, lab.section, title, f"{lab.minutes} min", lab.difficulty, standing.points)
        table.add_row("", "", *_sums(of_chapter, language), style="dim", end_section=True)
    console.print(table)
    return 0


def _sums(of_chapter: list[Standing], language: str) -> tuple[str, str, str, str]:
    """Of a chapter: how many labs are done, their time, no difficulty, and their points."""
    count, done = len(of_chapter), sum(standing.is_done for standing in of_chapter)
    words = f"{count} 个实验，完成 {done} 个" if language == "zh" else f"{count} labs, {done} done"
    points = sum(standing.progress.best for standing in of_chapter)
    time_taken = round(sum(standing.lab.minutes for standing in of_chapter) / 60)
    return words, f"{time_taken} h", "", f"{points}/{100 * count}"


def _listed_title(lab: Lab, width: int, *, zh: bool) -> str:
    """In a narrow terminal, both languages would take up to six lines for each lab."""
    if zh:
        return lab.title_zh
    return f"{lab.title} · {lab.title_zh}" if width >= BILINGUAL_COLUMNS else lab.title


def _show_lab(options: argparse.Namespace) -> int:
    language, lab = "zh" if options.zh else "en", find_lab(options.lab)
    standing, every = Standing.of(_workspace(options)), standings(in_order(all_labs()))
    shown = about(lab, every, language)
    if lab.extra:
        shown.add_row(word("needs", language), escape(word("extra", language, extra=lab.extra)))
    shown.add_row(word("tasks", language), task_table(standing, language))
    if standing.progress.checks:
        shown.add_row(word("earned", language), standing.points)
    if standing.progress.solution_seen_at >= 0:
        shown.add_row(*(word(name, language, points=standing.progress.solution_seen_at) for name in _SOLUTION))
    shown.add_row(word("text", language), _shown(lab.folder / ("README.zh.md" if options.zh else "README.md")))
    console = Console(highlight=False)
    console.print(shown)
    verb = "check" if standing.workspace.started else "start"
    console.print(f"\n{word('next', language)}  [bold]{own_command()} labs {verb} {lab.name}[/]")
    return 0


def _start(options: argparse.Namespace) -> int:
    workspace = _workspace(options)
    lab = workspace.lab
    files = workspace.start()
    console = Console()
    say = _words_of(options)
    console.print(f"[bold]{escape(lab.title_in(_language(options)))}[/] · {lab.place_in(_language(options))}\n")
    console.print(say("your files"))
    for path in files:
        console.print(f"  {_to_open(path)}", highlight=False)
    text = lab.folder / ("README.zh.md" if options.zh else "README.md")
    console.print(f"{say('the tasks')}  {_shown(text)}", highlight=False)
    console.print(f"{say('the tests')}  {_shown(lab.tests)}", highlight=False)
    console.print(f"\n{say('next')}  [bold]{own_command()} labs check {lab.name}[/]   {say('fails at first')}")
    return 0


def _check(options: argparse.Namespace) -> int:
    workspace = _workspace(options)
    result = _run_check(workspace, Console(), _language(options), broker=not options.no_broker)
    return 0 if result.passed else 1


def _run_check(workspace: LabWorkspace, console: Console, language: str, *, broker: bool) -> CheckResult:
    files = workspace.files()
    with console.status(word("checking", language, lab=workspace.lab.name, seconds=workspace.lab.time_limit_s)):
        result = check(workspace.lab, files, broker=broker)
    progress = workspace.progress()
    progress.checks += 1
    progress.tasks_passed = result.tasks_passed()
    progress.task_points = result.task_points()
    if result.outcomes and not result.passed:
        progress.at_hand = next_task(workspace, result).number
    if result.outcomes and broker:
        progress.best, progress.total = max(progress.best, result.score), result.total
    workspace.remember(progress)
    _print_result(workspace, in_language(workspace.lab, result, language), console, language)
    return result


def _print_result(workspace: LabWorkspace, result: CheckResult, console: Console, language: str) -> None:
    if result.outcomes:
        console.print(score_table(workspace.lab, result, language))
    if printed := printed_by_first_failed(result, language):
        console.print(printed)
    console.print(verdict(workspace, result, language))


def _watch(options: argparse.Namespace) -> int:
    workspace = _workspace(options)
    workspace.files()
    console = Console()
    seen: tuple[int, ...] | None = None
    with jvm_for_checks_of(workspace.lab):
        while True:
            now = workspace.fingerprint()
            if now != seen:
                console.clear()
                result = _run_check(workspace, console, _language(options), broker=not options.no_broker)
                seen = now
                if result.passed:
                    return 0
                console.print(f"[dim]{word('watching', _language(options))}[/]")
            time.sleep(WATCH_POLL_S)


def _hint(options: argparse.Namespace) -> int:
    workspace = _workspace(options)
    workspace.files()
    lab, progress = workspace.lab, workspace.progress()
    open_tasks = [task.number for task in lab.tasks if task.number not in progress.tasks_passed]
    number = options.task or progress.at_hand or (open_tasks[0] if open_tasks else lab.tasks[-1].number)
    try:
        task = lab.task(number)
    except KeyError as error:
        sys.stderr.write(f"{error.args[0]}\n")
        return 2
    hints = task.hints_in("zh" if options.zh else "en")
    given = progress.hints.get(str(number), 0)
    console = Console()
    title = f"任务 {number}：{task.title_in('zh')}" if options.zh else f"Task {number}: {task.title}"
    console.print(f"[bold]{escape(title)}[/]")
    for index, hint in enumerate(hints[: given + 1], 1):
        console.print(Padding(marked(f"{index}/{len(hints)} ", hint), (0, 0, 0, 2)))
    if given + 1 > len(hints):
        console.print(f"{word('no hint left', _language(options))} {own_command()} labs solution {lab.name}")
    progress.hints[str(number)] = min(given + 1, len(hints))
    workspace.remember(progress)
    return 0


def _reset(options: argparse.Namespace) -> int:
    workspace = _workspace(options)
    kept = workspace.reset()
    say = _words_of(options)
    Console().print(say("fresh", folder=_to_open(workspace.folder)), highlight=False)
    if kept:
        Console().print(say("kept", folder=_to_open(kept)), highlight=False)
    return 0


def _solution(options: argparse.Namespace) -> int:
    workspace = _workspace(options)
    if not (options.yes or Standing.of(workspace).is_done or _wants_the_solution(workspace, _words_of(options))):
        return 2
    progress = workspace.progress()
    if progress.solution_seen_at < 0:
        progress.solution_seen_at = progress.best
        workspace.remember(progress)
    for module in workspace.lab.modules:
        shipped = module_path(module)
        if options.code or not workspace.started:
            _show(shipped.read_text(encoding="utf-8"), "python")
        else:
            mine = workspace.files()[module]
            identical = word("identical", _language(options), file=mine.name)
            _show(_difference(mine, shipped) or identical, "diff")
    return 0


def _wants_the_solution(workspace: LabWorkspace, say: Callable[..., str]) -> bool:
    """Whether the learner has tried, and says yes on a terminal. If not, it prints why nothing is shown."""
    lab, progress = workspace.lab, workspace.progress()
    if not progress.checks:
        sys.stderr.write(say("after a try", command=f"{own_command()} labs check {lab.name}") + "\n")
        return False
    if not sys.stdin.isatty():
        sys.stderr.write(say("on request") + "\n")
        return False
    left = [str(task.number) for task in lab.tasks if task.number not in progress.tasks_passed]
    hints = sum(len(task.hints) for task in lab.tasks) - sum(progress.hints.values())
    sys.stdout.write(say("left to do", tasks=", ".join(left) or say("none"), hints=hints) + "\n")
    return input(say("show it")).strip().lower() in ("y", "yes")


def _show(text: str, language: str) -> None:
    """Print the text, coloured on a terminal and plain in a pipe."""
    console = Console()
    if console.is_terminal:
        console.print(Syntax(text, language, background_color="default", word_wrap=True))
    else:
        sys.stdout.write(text + "\n")


def _difference(mine: Path, shipped: Path) -> str:
    before, after = (path.read_text(encoding="utf-8").splitlines() for path in (mine, shipped))
    rows = difflib.unified_diff(before, after, f"yours/{mine.name}", f"shipped/{shipped.name}", lineterm="", n=2)
    return "\n".join(rows)


def _to_open(path: Path) -> str:
    """A path that an editor in the current folder can open: relative if it is below that folder."""
    return escape(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def _shown(path: Path) -> str:
    """A path in its shortest form: relative to the current folder or to the project if it is below one of them."""
    for base in (Path.cwd(), PROJECT_ROOT):
        if path.is_relative_to(base):
            return escape(str(path.relative_to(base)))
    return escape(str(path))
