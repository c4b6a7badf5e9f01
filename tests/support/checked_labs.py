"""Which labs the tests check, and how often: with its starter, with the shipped code, with each wrong answer."""

import os
import tomllib
from functools import cache
from itertools import groupby

import pytest

from kafka_learn.labs.lab import SPARK, all_labs
from kafka_learn.source import find_symbol, module_path
from tests.support.tried_labs import has_changed, source_has_changed

LABS = all_labs()
WRONG = [(lab, row) for lab in LABS for row in tomllib.loads((lab.folder / "wrong.toml").read_text())["answer"]]
# A check takes half a second of CPU time: `make test` tries one wrong answer of each chapter, `make soak` the others of
# those labs that have changed. With a broker it takes eight seconds: `make test` checks one lab of some chapters that
# way, `make soak` one of each other chapter and those labs that have changed. On Spark, and with three brokers
# (chapter 7), it takes twenty: only `make soak` checks those.
QUICK_CHAPTERS = ("ch02", "ch10")
FIRST_OF_CHAPTER = {chapter: next(labs).name for chapter, labs in groupby(LABS, lambda lab: lab.name.partition("-")[0])}
IN_EACH_RUN = {FIRST_OF_CHAPTER[chapter] for chapter in QUICK_CHAPTERS}


def marks_of(lab):
    return [pytest.mark.spark, pytest.mark.soak, pytest.mark.timeout(700)] if lab.extra == SPARK else []


def marks_with_broker(lab):
    return marks_of(lab) or ([] if lab.name in IN_EACH_RUN else [pytest.mark.soak])


ALL_LABS = os.environ.get("KAFKA_LITE_ALL_LABS") == "1"
"""Whether all labs are tried with all wrong answers: half an hour more, every night. Without it, those that changed."""
SPARK_AS_A_LEARNER = "spark-skew"
"""The shipped code of this lab is checked in a JVM of its own; the others share one, which saves its start."""


@cache
def is_tried(lab):
    return ALL_LABS or has_changed(lab)


def is_checked(lab):
    """Whether its starter is checked, which is slow on Spark only."""
    return lab.extra != SPARK or lab.name == SPARK_AS_A_LEARNER or is_tried(lab) or source_has_changed()


def is_checked_with_broker(lab):
    return is_checked(lab) if lab.extra == SPARK else is_tried(lab) or lab.name in FIRST_OF_CHAPTER.values()


def answers_to_try(lab):
    """Those of a lab that has changed, otherwise the first; on Spark, none."""
    answers = [row for other, row in WRONG if other is lab]
    if not is_tried(lab):
        return [] if lab.extra == SPARK else answers[:1]
    return answers


def marks_of_answer(lab, row):
    """Only the first wrong answer of a chapter is tried in each run."""
    first = next(answer for other, answer in WRONG if other.name == FIRST_OF_CHAPTER[lab.name.partition("-")[0]])
    return [*marks_of(lab), *([] if row is first else [pytest.mark.soak])]


def shipped(lab):
    return {module: module_path(module) for module in lab.modules}


def shipped_function(answer):
    symbol = find_symbol(answer["function"])
    return "\n".join(symbol.lines[symbol.first_line - 1 : symbol.last_line])
