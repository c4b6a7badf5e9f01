"""What is noted of the wrong answers that were tried, and when a lab counts as changed."""

import dataclasses
import shutil

import pytest

from kafka_learn.labs.lab import all_labs, find_lab
from tests.support.stranger_rules import RULES
from tests.support.tried_mutants import KINDS, Tried, by_kind, by_lab, digest, noted, with_tables

LAB = find_lab("ch06-timing-wheel")
ROWS = {
    "ch02-b": Tried("1", {"no lock": 2, "swapped": 1000}, 3, ["A.f | no lock | with self._lock:"]),
    "ch02-a": Tried("2", {"no lock": 1}, 0),
}


def test_every_kind_has_its_words():
    assert list(KINDS) == list(RULES)


def test_kinds_are_counted_over_all_labs():
    lines = by_kind(ROWS, "en").splitlines()
    assert "| a `with` of a lock left out | 3 | 1 |" in lines
    assert lines[-1] == "| all | 1,003 | 1 |"


def test_labs_are_sorted():
    assert by_lab(ROWS, "zh").splitlines()[2:] == ["| `ch02-a` | 1 | 0 | 0 |", "| `ch02-b` | 1002 | 3 | 1 |"]


def test_tables_replace_those_that_a_page_has():
    page = "one\n<!-- kinds -->\n<!-- /kinds -->\ntwo\n<!-- labs -->\nold\n<!-- /labs -->\nthree\n"
    text = with_tables(page, ROWS, "en")
    assert text == with_tables(text, ROWS, "en")
    assert [line for line in text.splitlines() if not line.startswith(("|", "<"))] == [
        "one", "", "", "two", "", "", "three",
    ]  # fmt: skip


@pytest.fixture
def lab(tmp_path):
    """A copy of a lab, to be changed."""
    shutil.copytree(LAB.folder, tmp_path / LAB.name, ignore=shutil.ignore_patterns("__pycache__"))
    return dataclasses.replace(LAB, folder=tmp_path / LAB.name)


def test_another_test_or_right_answer_changes_the_digest_and_words_do_not(lab):
    before = digest(lab)
    (lab.folder / "README.md").write_text("other words")
    assert digest(lab) == before
    (lab.tests / "test_9_more.py").write_text("more = 1\n")
    more = digest(lab)
    assert more != before
    (lab.folder / "equal.toml").write_text('[[equal]]\nanswer = "A.f | swapped | pass"\nreason = "No reason."\n')
    assert digest(lab) not in {before, more}


def test_labs_that_are_noted_exist():
    assert noted().keys() <= {lab.name for lab in all_labs()}
