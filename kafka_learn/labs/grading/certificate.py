"""A page that says what a student has done, made of a signed report: it prints on one sheet, and needs no other file.

A lab counts if all of its points were earned in the grader's runs. What helped is said beside it: hints, the solution,
an answer that is built as the shipped code. Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from kafka_learn.labs.lab import Lab
from kafka_learn.labs.way.lab_order import hours

SHOWN_SIGNATURE = 16
"""So many digits of the report's signature are printed: enough to find the report to which a certificate belongs."""


class NothingDoneError(ValueError):
    """A report has no such student, or none with a lab that is done."""


@dataclass(frozen=True)
class DoneLab:
    """A lab with all points, and what helped."""

    lab: Lab
    points: int
    hints: int
    solution_seen_at: int
    is_as_shipped: bool


def certificates(
    report: Mapping[str, Any], signature: str, labs: Iterable[Lab], *, student: str = "", language: str = "en"
) -> str:
    """One page of HTML with a sheet for each student who has done a lab, or for one of them.

    ``report`` is what ``gradebook.verified`` returns. Raises NothingDoneError.
    """
    known = {lab.name: lab for lab in labs}
    rows = [row for row in report["students"] if student in ("", row["student"])]
    done = {row["student"]: _done(row, known) for row in rows}
    sheets = [_sheet(name, found, report, signature, language) for name, found in done.items() if found]
    if not sheets:
        raise NothingDoneError(f"no lab with all points of {student or 'any student'} in this report")
    return (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{_WORDS["title"][language]}</title>'
        f"<style>{_STYLE}</style>{''.join(sheets)}</html>\n"
    )


def _done(row: Mapping[str, Any], known: Mapping[str, Lab]) -> list[DoneLab]:
    """The labs of a student that are done, in the order of the book."""
    done = [
        DoneLab(
            known[grade["lab"]],
            grade["points"],
            sum(grade["record"]["hints"].values()),
            grade["record"]["solution_seen_at"],
            grade["lab"] in row["as_shipped"],
        )
        for grade in row["grades"]
        if grade["lab"] in known and 0 < grade["points"] == grade["total"] and not grade["failure"]
    ]
    return sorted(done, key=lambda each: (each.lab.chapter, each.lab.section, each.lab.name))


# ── the sheet ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_STYLE = """body{font:15px/1.45 Georgia,"Noto Serif CJK SC",serif;margin:0;color:#1d2433;background:#eef1f6}
section{max-width:44rem;margin:2rem auto;padding:2.2rem 2.6rem;background:#fff;border:1px solid #c3cbdb;
box-shadow:inset 0 0 0 6px #fff,inset 0 0 0 7px #c3cbdb;break-after:page}
h1{font-size:1.05rem;letter-spacing:.12em;text-transform:uppercase;color:#4a5a7a;margin:0}
h2{font-size:2rem;margin:.4rem 0 .6rem;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;font-size:.9rem;margin:1rem 0}
th,td{padding:.28rem .5rem;border-bottom:1px solid #dde2ec;text-align:left;vertical-align:top}
td.n,th.n{text-align:right}td.n,td:first-child{white-space:nowrap}small{color:#4a5a7a;overflow-wrap:anywhere}
@media (max-width:40rem){section{margin:0;padding:1.4rem 1.2rem}}
@media print{body{background:#fff}section{margin:0;max-width:none;border:0;box-shadow:none}}"""
_WORDS = {
    "title": {"en": "Certificate of kafka_lite's labs", "zh": "kafka_lite 实验证书"},
    "wrote": {
        "en": "has written the code of {labs} of kafka_lite, a Kafka in Python, so that all of their tests pass, with"
        " real clients and brokers, too. The labs take about {hours}.",
        "zh": "完成了 kafka_lite（用 Python 实现的 Kafka）的 {labs}，亲手写的代码通过了全部测试，"
        "包括真实客户端和 broker 的测试。这些实验大约要用 {hours}。",
    },
    "without broker": {
        "en": "has written the code of {labs} of kafka_lite, a Kafka in Python, so that their tests without a broker"
        " pass. The labs take about {hours}.",
        "zh": "完成了 kafka_lite（用 Python 实现的 Kafka）的 {labs}，亲手写的代码通过了不带 broker 的测试。"
        "这些实验大约要用 {hours}。",
    },
    "one lab": {"en": "one lab", "zh": "1 个实验"},
    "labs": {"en": "{} labs", "zh": "{} 个实验"},
    "place": {"en": "section", "zh": "章节"},
    "lab": {"en": "lab", "zh": "实验"},
    "points": {"en": "points", "zh": "得分"},
    "help": {"en": "help", "zh": "帮助"},
    "hints": {"en": "{} hints", "zh": "{} 条提示"},
    "one hint": {"en": "one hint", "zh": "1 条提示"},
    "solution": {"en": "solution seen at {} points", "zh": "得 {} 分时看过答案"},
    "shipped": {"en": "built as the shipped code", "zh": "结构与项目代码相同"},
    "proof": {
        "en": "Checked by kafka_lite {project} · {isolation} · report {signature}…. To verify it: with this report and"
        " the grader's key, kafka-lite labs certificate REPORT makes the same page.",
        "zh": "由 kafka_lite {project} 检查 · {isolation} · 报告 {signature}…。核对的办法：用这份报告和评分者的密钥，"
        "kafka-lite labs certificate REPORT 会生成同样的一页。",
    },
}


def _sheet(student: str, done: Sequence[DoneLab], report: Mapping[str, Any], signature: str, language: str) -> str:
    def word(name: str, **values: object) -> str:
        return escape(_WORDS[name][language].format(**values))

    count = word("one lab") if len(done) == 1 else _WORDS["labs"][language].format(len(done))
    time = hours(sum(each.lab.minutes for each in done), language)
    checked = {"project": report["project"], "isolation": report["isolation"]}
    proof = word("proof", signature=signature[:SHOWN_SIGNATURE], **checked)
    columns = {"place": "", "lab": "", "points": ' class="n"', "help": ""}
    head = "".join(f"<th{kind}>{word(name)}</th>" for name, kind in columns.items())
    return (
        f"<section><h1>{word('title')}</h1><h2>{escape(student)}</h2>"
        f"<p>{word('wrote' if report['with_broker'] else 'without broker', labs=count, hours=time)}</p>"
        f"<table><tr>{head}</tr>{''.join(_row(each, language) for each in done)}</table>"
        f"<p><small>{proof}</small></p></section>"
    )


def _row(done: DoneLab, language: str) -> str:
    lab = done.lab
    cells = (f"<td>{escape(text)}</td>" for text in (lab.place_in(language), lab.title_in(language)))
    return f'<tr>{"".join(cells)}<td class="n">{done.points}</td><td>{escape(_help(done, language))}</td></tr>'


def _help(done: DoneLab, language: str) -> str:
    """The help that was used, the weightiest first; empty if there was none."""
    found = [_WORDS["shipped"][language]] if done.is_as_shipped else []
    if done.solution_seen_at >= 0:
        found.append(_WORDS["solution"][language].format(done.solution_seen_at))
    if done.hints:
        found.append(_WORDS["one hint" if done.hints == 1 else "hints"][language].format(done.hints))
    return ("；" if language == "zh" else "; ").join(found)
