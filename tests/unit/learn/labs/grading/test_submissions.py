"""What a class hands in is found, and nothing of it is believed or followed."""

import json
import subprocess

import pytest

from kafka_learn.labs.grading import submissions
from kafka_learn.labs.grading.submissions import Record, answers_in, read_submissions, record_in
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.workspace import PROGRESS_FILE

LAB = find_lab("ch04-request-future")
(MODULE,) = LAB.modules
FILE = "request_future.py"


@pytest.fixture
def hand_in(tmp_path):
    """``hand_in("ann/labs-work/LAB", "text")`` writes the file of an answer."""

    def write(place, text="x = 1\n", name=FILE):
        folder = tmp_path / place
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        return folder

    return write


@pytest.mark.parametrize("place", ["labs-work/ch04-request-future", "ch04-request-future", "."])
def test_an_answer_is_found_in_each_place(hand_in, tmp_path, place):
    hand_in(f"ann/{place}", "x = 7\n")
    (answer,) = answers_in(tmp_path / "ann", [LAB])
    assert (answer.lab, answer.sources, answer.problem) == (LAB, {MODULE: "x = 7\n"}, "")


def test_each_folder_is_a_student_and_other_files_are_none(hand_in, tmp_path):
    hand_in(f"class/bob/{LAB.name}")
    hand_in(f"class/ann/{LAB.name}")
    hand_in("class/.git")
    hand_in("class", name="notes.txt")
    found = list(read_submissions(tmp_path / "class", [LAB], tmp_path))
    assert [each.student for each in found] == ["ann", "bob"]
    assert all(len(each.answers) == 1 for each in found)


def test_a_lab_without_a_file_has_no_answer_and_one_with_some_says_what_is_missing(hand_in, tmp_path):
    lab = find_lab("ch06-log-recovery")
    folder = hand_in(f"ann/{lab.name}", name="log_segment.py")
    (answer,) = answers_in(tmp_path / "ann", [LAB, lab])
    assert answer.sources == {}
    assert answer.problem.startswith(f"{lab.name}/")
    assert answer.problem.endswith("is missing")
    assert folder.is_dir()


def git(folder, *words):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True, capture_output=True
    )


def test_a_git_bundle_is_a_submission(hand_in, tmp_path):
    hand_in(f"work/{LAB.name}", "x = 2\n")
    (tmp_path / "class").mkdir()
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["commit", "-qm", "x"],
        ["bundle", "create", "../class/eve.bundle", "HEAD"],
    ):
        git(tmp_path / "work", *words)
    (tmp_path / "class/mallory.bundle").write_text("no bundle")
    (tmp_path / "clones").mkdir()
    eve, mallory = read_submissions(tmp_path / "class", [LAB], tmp_path / "clones")
    assert (eve.student, eve.answers[0].sources) == ("eve", {MODULE: "x = 2\n"})
    assert mallory.answers == ()
    assert mallory.problem.startswith("not a git bundle")


def test_links_are_not_followed(hand_in, tmp_path):
    real = hand_in("other", "x = 3\n")
    folder = tmp_path / "ann" / LAB.name
    folder.mkdir(parents=True)
    (folder / FILE).symlink_to(real / FILE)
    (answer,) = answers_in(tmp_path / "ann", [LAB])
    assert answer.problem == f"{LAB.name}/{FILE} is a link: hand in the file itself"
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / LAB.name).symlink_to(real)
    (answer,) = answers_in(tmp_path / "bob", [LAB])
    assert "is a link" in answer.problem


@pytest.mark.parametrize(("content", "words"), [(b"\xff", "utf-8"), (b"x" * 2_000_000, "more than 1,000,000 bytes")])
def test_a_file_that_cannot_be_an_answer(hand_in, tmp_path, content, words):
    (hand_in(f"ann/{LAB.name}") / FILE).write_bytes(content)
    (answer,) = answers_in(tmp_path / "ann", [LAB])
    assert words in answer.problem


def test_the_record_of_a_students_checks(hand_in, tmp_path):
    folder = hand_in(f"ann/{LAB.name}")
    assert record_in(tmp_path, folder) == Record()
    noted = {"checks": 4, "hints": {"1": 2}, "solution_seen_at": 40, "best": 100, "proof": "mine"}
    (folder / PROGRESS_FILE).write_text(json.dumps(noted))
    assert record_in(tmp_path, folder) == Record(4, {"1": 2}, 40, 100, is_there=True)


@pytest.mark.parametrize("text", ["{", "[]", '{"checks": "many"}', '{"hints": 3}', '{"checks": null}'])
def test_a_record_that_cannot_be_read_is_none(hand_in, tmp_path, text):
    folder = hand_in(f"ann/{LAB.name}")
    (folder / PROGRESS_FILE).write_text(text)
    assert record_in(tmp_path, folder) == Record()


def test_a_bundle_that_takes_too_long_is_given_up(tmp_path, monkeypatch):
    def late(*_arguments, **_more):
        raise subprocess.TimeoutExpired("git", 1)

    (tmp_path / "ann.bundle").write_text("")
    monkeypatch.setattr(submissions.subprocess, "run", late)
    (ann,) = read_submissions(tmp_path, [LAB], tmp_path)
    assert "git needs more than" in ann.problem
