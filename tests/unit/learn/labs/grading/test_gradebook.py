"""The report is signed, says what helped, and shows nothing of a student's that a browser would execute."""

import json
from dataclasses import replace

import pytest

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
from kafka_learn.labs.grading.grading import Grade
from kafka_learn.labs.grading.similarity import Pair
from kafka_learn.labs.grading.submissions import Record

RECORD = Record(3, {"1": 2, "2": 1}, 40, 100, is_there=True)
ANN = Grade("ch05-assignors", 100, 100, {"1": [100, 100]}, "", "", Record(1, is_there=True), "a1")
BOB = Grade("ch06-offset-index", 20, 100, {"1": [20, 100]}, "", "Search: <b>not</b> 3", RECORD, "b2")
BOOK = Gradebook(
    "a sandbox",
    "0.1.0",
    with_broker=True,
    students=(
        StudentGrades("<ann>", (ANN,), as_shipped=("ch05-assignors",)),
        StudentGrades("bob", (BOB,)),
        StudentGrades("eve", (), "not a git bundle"),
    ),
    pairs=(Pair("ch05-assignors", ("<ann>", "bob"), 0.75, 9),),
)


@pytest.fixture(autouse=True)
def own_key(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_the_first_mistake_is_said_in_chinese_on_a_chinese_page():
    grade = replace(ANN, mistake="9 members: not said")
    assert mistake_in(grade, zh=True) == "9 members: not said"
    known = replace(ANN, mistake="5 partitions, 2 members: a, b, a, b, a; not [1]")
    assert mistake_in(known, zh=True) == "5 个分区，2 个成员：a、b、a、b、a；不是 [1]"
    assert mistake_in(known, zh=False) == known.mistake


def test_a_report_is_the_same_for_the_same_grades_and_can_be_verified():
    text = to_json(BOOK)
    assert text == to_json(BOOK)
    assert verified(text)["students"][1]["grades"][0]["points"] == 20


@pytest.mark.parametrize(
    ("before", "after"), [('"points": 20', '"points": 100'), ('"signature": "', '"signature": "0')]
)
def test_a_report_that_was_changed_is_refused(before, after):
    with pytest.raises(NotSignedError, match="was changed"):
        verified(to_json(BOOK).replace(before, after))


@pytest.mark.parametrize("text", ["", "[]", "{}", "3"])
def test_what_is_no_report_is_refused(text):
    with pytest.raises(NotSignedError, match="no report"):
        verified(text)


def test_another_users_grader_has_another_signature(tmp_path, monkeypatch):
    text = to_json(BOOK)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    with pytest.raises(NotSignedError):
        verified(text)


def test_notes_say_what_helped():
    assert notes(BOB, as_shipped=True) == [
        "built as the shipped code",
        "has seen the solution at 40 points",
        "hints used: 3",
        "the student's own record says 100 points",
    ]
    assert notes(BOB, as_shipped=True, zh=True) == [
        "结构与项目代码相同", "得 40 分时看过答案", "用了 3 条提示", "自己的记录写着 100 分",
    ]  # fmt: skip
    assert notes(ANN, as_shipped=False) == []
    unknown = Grade("x", 0, 100, {}, "late", "", Record(), "c3")
    assert notes(unknown, as_shipped=False) == ["late", "no record of hints and solutions"]


def test_pairs_in_words():
    assert pair_words(BOOK.pairs[0]) == (
        "ch05-assignors: <ann> and bob share 75% of their structure (9 statements that are rare)"
    )
    assert "75% 相同（9 条不常见的语句）" in pair_words(BOOK.pairs[0], zh=True)


@pytest.mark.parametrize(("language", "word"), [("en", "student"), ("zh", "学生")])
def test_the_page_escapes_what_students_write(language, word):
    page = to_html(BOOK, language)
    assert f"<th>{word}</th><th>ch05-assignors</th><th>ch06-offset-index</th>" in page
    assert "<ann>" not in page
    assert "&lt;ann&gt;" in page
    assert "<b>not</b>" not in page
    assert '<td class="n full">100</td><td class="n">–</td>' in page
    assert "not a git bundle" in page
    assert "<script" not in page


def test_a_class_without_pairs_says_so():
    book = Gradebook("a sandbox", "0.1.0", with_broker=True, students=())
    assert "No two answers are built alike." in to_html(book)
    assert book.labs == []


def test_reports_are_written_with_their_folder(tmp_path):
    write(to_json(BOOK), tmp_path / "a/b/report.json")
    assert json.loads((tmp_path / "a/b/report.json").read_text())["version"] == 1
