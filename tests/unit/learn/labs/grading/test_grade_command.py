"""``labs grade``: a class with a right answer, a wrong one, a cheat, and one that cannot be read."""

import argparse
import json

import pytest

from kafka_learn.labs.command import add_arguments, run
from kafka_learn.labs.grading import grade_command
from kafka_learn.labs.grading.grading import Grade
from kafka_learn.labs.grading.submissions import Record
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.starter import starter
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.source import module_path

LAB = find_lab("ch04-request-future")
(MODULE,) = LAB.modules
SHIPPED = module_path(MODULE)


@pytest.fixture(autouse=True)
def own_key(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KAFKA_LITE_LABS_WORK", str(tmp_path / "labs-work"))


def labs(*words):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(list(map(str, words))))


@pytest.fixture
def hand_in(tmp_path):
    def write(student, source):
        folder = tmp_path / "class" / student / LAB.name
        folder.mkdir(parents=True)
        (folder / SHIPPED.name).write_text(source)
        return folder

    return write


def test_a_class_is_graded_and_reported(hand_in, tmp_path, capsys):
    hand_in("ann", SHIPPED.read_text())
    cheat = hand_in("bob", f"{starter(LAB, MODULE)}\nexec(open({str(SHIPPED)!r}).read(), globals())\n")
    (cheat / ".progress.json").write_text(json.dumps({"best": 100, "total": 100, "hints": {"1": 3}}))
    (tmp_path / "class/eve").mkdir()
    report, page = tmp_path / "out/report.json", tmp_path / "out/report.html"
    assert labs("grade", tmp_path / "class", "--lab", LAB.name, "--no-broker", "--json", report, "--html", page) == 1
    ann, bob, eve = json.loads(report.read_text())["students"]
    assert ann["as_shipped"] == [LAB.name]
    assert ann["grades"][0]["points"] > 60
    assert bob["grades"][0]["points"] == 0
    assert bob["grades"][0]["record"]["hints"] == {"1": 3}
    assert eve["grades"] == []
    shown = capsys.readouterr().out
    assert "no answer" in shown
    assert "hints used: 3" in " ".join(shown.split())
    assert "<td>ann</td>" in page.read_text()
    assert labs("grade", report, "--verify") == 0
    report.write_text(report.read_text().replace('"points": 0', '"points": 100'))
    assert labs("grade", report, "--verify") == 2


@pytest.fixture
def all_points(monkeypatch):
    """Every answer has all points; the list has what was hidden from each."""
    hidden = []

    def graded(answer, *, hidden=(), broker=True):
        seen.append(list(hidden))
        return Grade(answer.lab.name, 100, 100, {}, "", "", Record(is_there=True), "d")

    seen = hidden
    monkeypatch.setattr(grade_command, "grade", graded)
    return seen


def test_a_single_submission(hand_in, tmp_path, all_points, capsys):
    hand_in("ann", "x = 1\n")
    assert labs("grade", tmp_path / "class/ann", "--one") == 0
    assert "100/100" in capsys.readouterr().out


def test_no_answer_can_read_another_one(hand_in, tmp_path, all_points):
    hand_in("ann", "x = 1\n")
    hand_in("bob", "x = 2\n")
    assert labs("grade", tmp_path / "class", "--jobs", 2) == 0
    for hidden in all_points:
        assert {tmp_path / "class/ann", tmp_path / "class/bob"} <= set(hidden)


def test_a_fork_of_this_project_is_not_hidden_from_itself(tmp_path):
    assert PROJECT_ROOT not in grade_command._others(PROJECT_ROOT.parent, tmp_path)
    assert tmp_path in grade_command._others(PROJECT_ROOT.parent, tmp_path)


def test_what_cannot_be_graded(tmp_path, capsys):
    assert labs("grade", tmp_path / "nowhere") == 2
    (tmp_path / "class").mkdir()
    assert labs("grade", tmp_path / "class") == 2
    assert labs("grade", tmp_path / "class", "--verify") == 2
    assert "no submissions in" in capsys.readouterr().err


def test_the_table_is_in_the_language_of_the_teacher(hand_in, tmp_path, all_points, capsys):
    hand_in("ann", "x = 1\n")
    assert labs("grade", tmp_path / "class", "--zh") == 0
    assert "学生" in capsys.readouterr().out
