"""A certificate says what was done and what helped, and only a report that nobody has changed has one."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_learn.labs.grading.certificate import NothingDoneError, certificates
from kafka_learn.labs.grading.certificate_command import add_certificate
from kafka_learn.labs.grading.gradebook import Gradebook, StudentGrades, to_json, verified
from kafka_learn.labs.grading.grading import Grade
from kafka_learn.labs.grading.submissions import Record
from kafka_learn.labs.lab import all_labs

HELPED = Record(3, {"1": 2, "2": 1}, 40, 100, is_there=True)
INDEX = Grade("ch06-offset-index", 100, 100, {}, "", "", Record(1, is_there=True), "a")
ASSIGNORS = Grade("ch05-assignors", 100, 100, {}, "", "", HELPED, "b")
HALF = Grade("ch06-purgatory", 60, 100, {}, "", "wrong", Record(), "c")
BOOK = Gradebook(
    "in a sandbox",
    "0.1.0",
    with_broker=True,
    students=(
        StudentGrades("<ann>", (INDEX, ASSIGNORS, HALF), as_shipped=("ch05-assignors",)),
        StudentGrades("bob", (INDEX,)),
        StudentGrades("eve", (HALF,)),
    ),
)


@pytest.fixture(autouse=True)
def own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def page(book: Gradebook = BOOK, **options: str) -> str:
    return certificates(verified(to_json(book)), "0123456789abcdefg", all_labs(), **options)


def rows(html: str) -> list[list[str]]:
    """The cells of the table's rows, without the head."""
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", html)]


def test_the_sheet_has_the_labs_with_all_points_in_the_order_of_the_book() -> None:
    html = page(student="<ann>")
    assert "<h2>&lt;ann&gt;</h2>" in html
    assert "has written the code of 2 labs" in html
    assert "about 1 h 45 min" in html
    assert [row[0::2] for row in rows(html)] == [["book 5.1.3", "100"], ["book 6.1.3", "100"]]
    assert "in a sandbox" in html
    assert "0123456789abcdef…" in html


def test_what_helped_is_beside_each_lab() -> None:
    assert [row[3] for row in rows(page(student="<ann>"))] == [
        "built as the shipped code; solution seen at 40 points; 3 hints",
        "",
    ]


def test_there_is_a_sheet_for_each_student_who_has_done_a_lab() -> None:
    assert re.findall(r"<h2>(.*?)</h2>", page()) == ["&lt;ann&gt;", "bob"]
    assert "one lab" in page(student="bob")


def test_it_is_chinese_if_asked_for() -> None:
    html = page(student="bob", language="zh")
    assert '<html lang="zh">' in html
    assert "1 个实验" in html
    assert rows(html) == [["书 6.1.3", "偏移量索引", "100", ""]]


def test_a_report_without_brokers_says_so() -> None:
    assert "their tests without a broker pass" in page(replace(BOOK, with_broker=False))


@pytest.mark.parametrize("student", ["eve", "nobody"])
def test_nothing_is_certified_to_whom_has_done_nothing(student: str) -> None:
    with pytest.raises(NothingDoneError, match=student):
        page(student=student)


def test_it_needs_no_other_file() -> None:
    assert not re.search(r"https?:|<script|<link|src=|@import|url\(", page())


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_certificate(parser.add_subparsers())
    options: Any = parser.parse_args(["certificate", *arguments])
    options.zh = False
    code: int = options.run_verb(options)
    return code


def test_the_command_writes_the_page_of_a_student(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, html = tmp_path / "report.json", tmp_path / "made" / "ann.html"
    report.write_text(to_json(BOOK), encoding="utf-8")
    assert run(str(report), "--student", "bob", "--html", str(html)) == 0
    assert capsys.readouterr().out == f"{html}: 1 students\n"
    assert "<h2>bob</h2>" in html.read_text(encoding="utf-8")


def test_a_report_that_was_changed_has_no_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    report.write_text(to_json(BOOK).replace('"points": 60', '"points": 100'), encoding="utf-8")
    assert run(str(report), "--html", str(tmp_path / "a.html")) == 2
    assert "was changed" in capsys.readouterr().err
    assert not (tmp_path / "a.html").exists()
