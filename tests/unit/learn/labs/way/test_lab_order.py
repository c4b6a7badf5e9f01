"""Each lab comes after those that its lab.toml names."""

from dataclasses import replace

import pytest

from kafka_learn.labs.lab import all_labs, find_lab
from kafka_learn.labs.way.lab_order import LabOrderError, by_chapter, following, hours, in_order

LABS = all_labs()
SOME = find_lab("ch06-offset-index")


def named(name, *after, section="1.1"):
    return replace(SOME, name=name, section=section, after=after)


def test_what_comes_before_a_lab_comes_first():
    labs = [named("ch01-b", "ch02-a"), named("ch02-a"), named("ch01-c", section="1.2"), named("ch01-d", section="1.1")]
    assert [lab.name for lab in in_order(labs)] == ["ch01-d", "ch01-c", "ch02-a", "ch01-b"]


@pytest.mark.parametrize(
    ("labs", "words"),
    [
        ([named("a", "b"), named("b", "a"), named("c")], "wait for each other: a, b"),
        ([named("a", "b")], "no such lab: a after b"),
    ],
)
def test_an_order_that_cannot_be_is_refused(labs, words):
    with pytest.raises(LabOrderError, match=words):
        in_order(labs)


def test_the_way_has_every_lab_once_and_begins_with_an_easy_one():
    ordered = in_order(LABS)
    assert sorted(lab.name for lab in ordered) == [lab.name for lab in LABS]
    assert ordered[0].difficulty == "easy"


def test_no_lab_names_one_that_comes_before_another_one_that_it_names():
    """An arrow that two others make superfluous would only hide them in the drawing."""
    after = {lab.name: set(lab.after) for lab in LABS}

    def all_before(name):
        return after[name].union(*(all_before(before) for before in after[name]))

    superfluous = [
        (name, before) for name in after for other in after[name] for before in after[name] & all_before(other)
    ]
    assert superfluous == []


def test_a_chapter_has_its_labs_and_a_lab_those_that_follow():
    labs = [named("ch02-b", "ch02-a"), named("spark-c", "ch02-a"), named("ch02-a")]
    assert [(chapter, [lab.name for lab in found]) for chapter, found in by_chapter(labs)] == [
        ("ch02", ["ch02-a", "ch02-b"]),
        ("spark", ["spark-c"]),
    ]
    assert [lab.name for lab in following(labs[2], labs)] == ["ch02-b", "spark-c"]


def test_times_in_words():
    assert [hours(minutes, "en") for minutes in (0, 45, 60, 465)] == ["0 min", "45 min", "1 h", "7 h 45 min"]
    assert hours(465, "zh") == "7 小时 45 分钟"
