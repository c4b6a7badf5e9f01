"""No lab lets a wrong answer pass that is not noted: docs/design/wrong-answers.md.

Trying an answer takes half a second, and there are more than two thousand: CI tries those of labs that have changed, of
two labs in a run at most; `make nightly` those of all that have changed.
"""

import ast

import pytest

from kafka_learn.labs.lab import all_labs
from kafka_learn.source import find_symbol
from tests.support.lab_mutants import equal
from tests.support.stranger_rules import RULES
from tests.support.tried_mutants import PAGES, changed, noted, runner_of, try_all, until_first_failure, with_tables

IN_EACH_RUN = 2


def problems_of(labs):
    """The answers of these labs that pass, are wrong, and are not noted."""
    before, found = noted(), []
    for lab in labs:
        with runner_of(lab) as run:
            passing = try_all(lab, until_first_failure(run)).passing
        found += [f"{lab.name}: {name}" for name in passing if name not in before[lab.name].passing]
    return found


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_no_more_wrong_answers_pass_in_labs_that_changed():
    assert not problems_of(changed()[:IN_EACH_RUN]), "make the tests of these labs refuse them, or see equal.toml"


@pytest.mark.soak
@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_no_more_wrong_answers_pass_in_other_labs_that_changed():
    assert not problems_of(changed()[IN_EACH_RUN:]), "make the tests of these labs refuse them, or see equal.toml"


def is_made(lab, answer):
    """Whether the generator makes an answer of this name, the number of equal ones left aside."""
    name, kind, line = answer.split(" | ", 2)
    (function,) = [each for task in lab.tasks for each in task.functions if each.partition(":")[2] == name]
    symbol = find_symbol(function)
    assert isinstance(symbol.node, ast.FunctionDef)
    lines = {symbol.lines[place - 1].strip() for place, _ in RULES[kind](symbol.node)}
    return line in lines or line.rpartition(" (")[0] in lines


@pytest.mark.parametrize(
    "lab", [lab for lab in all_labs() if (lab.folder / "equal.toml").exists()], ids=lambda lab: lab.name
)
def test_right_answers_are_made_and_have_a_reason(lab):
    rows = equal(lab)
    assert [answer for answer in rows if not is_made(lab, answer)] == [], "the function has changed: see equal.toml"
    assert all(reason.endswith(".") for reason in rows.values())


@pytest.mark.parametrize("language", PAGES)
def test_the_tables_of_the_design_notes_are_those_of_the_data(language):
    text = PAGES[language].read_text(encoding="utf-8")
    assert text == with_tables(text, noted(), language), "python -m tests.support.tried_mutants writes them again"
