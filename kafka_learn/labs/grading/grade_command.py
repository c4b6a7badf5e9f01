"""``kafka-lite labs grade``: the answers of a class, with their points, in one report."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kafka_learn.labs.grading.gradebook import (
    Gradebook,
    NotSignedError,
    StudentGrades,
    mistake_in,
    notes,
    pair_words,
    to_html,
    to_json,
    verified,
    write,
)
from kafka_learn.labs.grading.grading import Grade, grade
from kafka_learn.labs.grading.sandbox import isolation
from kafka_learn.labs.grading.similarity import all_pairs, is_as_shipped
from kafka_learn.labs.grading.submissions import Answer, Submission, answers_in, read_submissions
from kafka_learn.labs.lab import Lab, all_labs, find_lab
from kafka_learn.labs.way.verbs import add_verb
from kafka_learn.project import PROJECT_ROOT
from kafka_lite import __version__


def add_grade(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to those of ``labs``."""
    parser = add_verb(verbs, "grade", "check the answers of a class, each in a sandbox, and report", _grade)
    parser.add_argument("folder", type=Path, help="a folder with a folder or a git bundle for each student")
    parser.add_argument("--one", action="store_true", help="the folder is one submission, as in a student's repository")
    parser.add_argument("--lab", action="append", help="only this lab (may be repeated)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report, signed")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page")
    parser.add_argument("--no-broker", action="store_true", help="run only the tests")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="check N answers at a time (default: 1)")
    parser.add_argument("--verify", action="store_true", help="FOLDER is a report in JSON: is it as it was written?")


def _grade(options: argparse.Namespace) -> int:
    """0: every answer has all points; 1: not every one; 2: there is nothing to grade, or no report to verify."""
    if options.verify:
        return _verify(options.folder)
    labs = [find_lab(name) for name in options.lab] if options.lab else all_labs()
    if not options.folder.is_dir():
        sys.stderr.write(f"{options.folder} is not a folder\n")
        return 2
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="kafka-lite-bundles-") as scratch:
        submissions = list(_read(options, labs, Path(scratch)))
        if not submissions:
            sys.stderr.write(f"no submissions in {options.folder}: a folder or a git bundle for each student\n")
            return 2
        with console.status("") as status:
            book = gradebook(
                submissions,
                labs,
                hidden=_others(options.folder.resolve(), Path(scratch)),
                broker=not options.no_broker,
                jobs=options.jobs,
                tell=lambda words: status.update(escape(words)),
            )
    if options.json:
        write(to_json(book), options.json)
    if options.html:
        write(to_html(book, "zh" if options.zh else "en"), options.html)
    _print(book, console, zh=options.zh)
    return 0 if all(_is_full(student) for student in book.students) else 1


def _read(options: argparse.Namespace, labs: Sequence[Lab], scratch: Path) -> Iterator[Submission]:
    if options.one:
        folder = options.folder.resolve()
        yield Submission(folder.name, answers_in(folder, labs))
    else:
        yield from read_submissions(options.folder, labs, scratch)


def _others(folder: Path, scratch: Path) -> list[Path]:
    """All submissions, which no answer may read, without one that contains this project, as a fork of it does."""
    return [entry for entry in (*folder.iterdir(), scratch) if not PROJECT_ROOT.is_relative_to(entry)]


def _verify(report: Path) -> int:
    try:
        content = verified(report.read_text(encoding="utf-8"))
    except (OSError, UnicodeError, NotSignedError) as error:
        sys.stderr.write(f"{report}: {error}\n")
        return 2
    sys.stdout.write(f"{report}: written by this grader, {len(content['students'])} students\n")
    return 0


def gradebook(
    submissions: Sequence[Submission],
    labs: Sequence[Lab],
    *,
    hidden: Sequence[Path] = (),
    broker: bool = True,
    jobs: int = 1,
    tell: Callable[[str], None] = lambda _words: None,
) -> Gradebook:
    """Check all answers, ``jobs`` at a time; ``tell`` hears what is checked."""

    def graded(student: str, answer: Answer) -> Grade:
        tell(f"{student}: {answer.lab.name}")
        return grade(answer, hidden=hidden, broker=broker)

    pairs = [(submission.student, answer) for submission in submissions for answer in submission.answers]
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        grades = list(pool.map(lambda pair: graded(*pair), pairs))
    students = []
    for submission in submissions:
        own = tuple(each for (student, _), each in zip(pairs, grades, strict=True) if student == submission.student)
        as_shipped = tuple(a.lab.name for a in submission.answers if is_as_shipped(a.lab, a.sources))
        students.append(StudentGrades(submission.student, own, submission.problem, as_shipped))
    by_student = {each.student: {answer.lab.name: answer for answer in each.answers} for each in submissions}
    return Gradebook(isolation(), __version__, broker, tuple(students), tuple(all_pairs(labs, by_student)))


def _is_full(student: StudentGrades) -> bool:
    return not student.problem and all(each.points == each.total and not each.failure for each in student.grades)


def _print(book: Gradebook, console: Console, *, zh: bool) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("学生 实验 得分 说明" if zh else "student lab points notes").split():
        table.add_column(column, ratio=1 if column in ("notes", "说明") else None, overflow="fold")
    for student in book.students:
        if student.problem or not student.grades:
            nothing = "没有答案" if zh else "no answer"
            table.add_row(escape(student.student), "", "–", escape(student.problem or nothing))
        for each in student.grades:
            found = notes(each, as_shipped=each.lab in student.as_shipped, zh=zh)
            found += [mistake_in(each, zh=zh)] if each.mistake else []
            points = f"{each.points}/{each.total}"
            table.add_row(escape(student.student), each.lab, points, escape("; ".join(found)))
    console.print(table)
    for pair in book.pairs:
        console.print(escape(pair_words(pair, zh=zh)), style="yellow")
    console.print(escape(book.isolation), style="dim")
