"""The report of a class: points, what helped, what is alike; signed, as JSON and as a page."""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from kafka_learn.labs.grading.grading import Grade
from kafka_learn.labs.grading.similarity import Pair
from kafka_learn.labs.lab import LABS
from kafka_learn.labs.way.in_chinese import chinese_of
from kafka_learn.labs.workspace import grader_key

SIGNATURE = "signature"
VERSION = 1


class NotSignedError(ValueError):
    """A report was not written by this grader, or was changed afterwards."""


@dataclass(frozen=True)
class StudentGrades:
    """The grades of a student; ``problem`` says why a submission could not be read."""

    student: str
    grades: tuple[Grade, ...]
    problem: str = ""
    as_shipped: tuple[str, ...] = ()
    """The labs whose answer is built as the shipped code."""


@dataclass(frozen=True)
class Gradebook:
    """The grades of a class. ``isolation`` says in which sandbox they were found, ``version`` of what project."""

    isolation: str
    project: str
    with_broker: bool
    students: tuple[StudentGrades, ...]
    pairs: tuple[Pair, ...] = field(default=())

    @property
    def labs(self) -> list[str]:
        """The labs of which there is an answer."""
        return sorted({grade.lab for each in self.students for grade in each.grades})


def to_json(book: Gradebook) -> str:
    """The report with its signature, in a form that is the same for the same grades."""
    content: dict[str, Any] = {"version": VERSION, **asdict(book)}
    return json.dumps(content | {SIGNATURE: _signature(content)}, indent=1, ensure_ascii=False) + "\n"


def verified(text: str) -> dict[str, Any]:
    """The content of a report. Raises NotSignedError unless this user's grader has written it as it is."""
    try:
        content: dict[str, Any] = json.loads(text)
        signature = str(content.pop(SIGNATURE))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotSignedError("this is no report of labs grade") from error
    if not hmac.compare_digest(signature, _signature(content)):
        raise NotSignedError("the report was changed, or written by another user's grader")
    return content


def _signature(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hmac.new(grader_key(), text.encode(), "sha256").hexdigest()


# ── notes ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def notes(grade: Grade, *, as_shipped: bool, zh: bool = False) -> list[str]:
    """Remarks beside the points, the weightiest first."""
    record, found = grade.record, list[str]()
    if grade.failure:
        found.append(grade.failure)
    if as_shipped:
        found.append("结构与项目代码相同" if zh else "built as the shipped code")
    if record.solution_seen_at >= 0:
        seen = record.solution_seen_at
        found.append(f"得 {seen} 分时看过答案" if zh else f"has seen the solution at {seen} points")
    if hints := sum(record.hints.values()):
        found.append(f"用了 {hints} 条提示" if zh else f"hints used: {hints}")
    if record.best > grade.points:
        claimed = record.best
        found.append(f"自己的记录写着 {claimed} 分" if zh else f"the student's own record says {claimed} points")
    if not record.is_there:
        found.append("没有检查记录：提示和答案用没用过，无从得知" if zh else "no record of hints and solutions")
    return found


def pair_words(pair: Pair, *, zh: bool = False) -> str:
    """A pair in a sentence."""
    one, other = pair.students
    percent = f"{pair.alike:.0%}"
    if zh:
        return f"{pair.lab}：{one} 与 {other} 的答案结构有 {percent} 相同（{pair.shared} 条不常见的语句）"
    return f"{pair.lab}: {one} and {other} share {percent} of their structure ({pair.shared} statements that are rare)"


# ── the page ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_STYLE = """body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color:#222;background:#fff}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.3rem .7rem;border:1px solid #ccc;text-align:left;
vertical-align:top}td.n{text-align:right}.full{background:#e3f4e3}.none{background:#fbe6e4}small{color:#555}"""
_WORDS = {
    "title": ("Grades", "成绩"),
    "student": ("student", "学生"),
    "sum": ("sum", "合计"),
    "notes": ("Notes", "说明"),
    "alike": ("Built alike: for a person to look at", "结构相似，请人工核对"),
    "no pairs": ("No two answers are built alike.", "没有结构相似的答案。"),
    "mistake": ("first mistake", "第一处错误"),
}


def to_html(book: Gradebook, language: str = "en") -> str:
    """A page without scripts; everything that a student has written is escaped."""
    zh = language == "zh"
    words = {name: pair[zh] for name, pair in _WORDS.items()}
    head = "".join(f"<th>{escape(name)}</th>" for name in (words["student"], *book.labs, words["sum"]))
    rows = "".join(_row(each, book.labs) for each in book.students)
    pairs = "".join(f"<li>{escape(pair_words(pair, zh=zh))}</li>" for pair in book.pairs)
    alike = f"<ul>{pairs}</ul>" if pairs else f"<p>{words['no pairs']}</p>"
    return (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{words["title"]}</title>'
        f"<style>{_STYLE}</style><h1>{words['title']}</h1>"
        f"<p><small>kafka_lite {escape(book.project)} · {escape(book.isolation)}</small></p>"
        f"<table><tr>{head}</tr>{rows}</table><h2>{words['notes']}</h2>"
        f"{''.join(_details(each, words['mistake'], zh=zh) for each in book.students)}"
        f"<h2>{words['alike']}</h2>{alike}</html>\n"
    )


def _row(student: StudentGrades, labs: Sequence[str]) -> str:
    grades = {grade.lab: grade for grade in student.grades}
    cells = "".join(_cell(grades.get(lab)) for lab in labs)
    points = sum(grade.points for grade in student.grades)
    return f'<tr><td>{escape(student.student)}</td>{cells}<td class="n">{points}</td></tr>'


def _cell(grade: Grade | None) -> str:
    if grade is None:
        return '<td class="n">–</td>'
    kind = " full" if grade.points == grade.total else " none" if not grade.points else ""
    return f'<td class="n{kind}">{grade.points}</td>'


def mistake_in(grade: Grade, *, zh: bool) -> str:
    """The first red test and its message; the report itself has them in English."""
    return chinese_of(LABS / grade.lab).mistake(grade.mistake) if zh else grade.mistake


def _details(student: StudentGrades, mistake: str, *, zh: bool) -> str:
    lines = [f"<li>{escape(student.problem)}</li>"] if student.problem else []
    for grade in student.grades:
        found = notes(grade, as_shipped=grade.lab in student.as_shipped, zh=zh)
        found += [f"{mistake}: {mistake_in(grade, zh=zh)}"] if grade.mistake else []
        lines += [f"<li><b>{escape(grade.lab)}</b> {escape('; '.join(found))}</li>"] if found else []
    return f"<h3>{escape(student.student)}</h3><ul>{''.join(lines)}</ul>" if lines else ""


def write(text: str, path: Path) -> None:
    """Write a report, with the folder that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
