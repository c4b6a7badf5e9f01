"""Task 1: from lines to operators."""

import pytest

from pipeline.tuning.plans import Operator, operators


@pytest.fixture
def names():
    """``names(plan)``: the operators' names, with their depth."""
    return lambda plan: [(each.depth, each.name) for each in operators(plan)]


@pytest.mark.points(4, task=1)
def test_one_line():
    """A plan of one operator"""
    got = operators("Scan ExistingRDD[airline#11,name#12]")
    assert got != [], "a line without a tree before it is the root, at depth 0"
    assert got[0].name == "Scan", f"the name ends before the first blank, bracket or parenthesis: not {got[0].name!r}"
    want = Operator(0, "Scan", "ExistingRDD[airline#11,name#12]")
    assert got == [want], f"the rest of the line is the text: {want}, not {got[0]}"


@pytest.mark.points(4, task=1)
def test_names_end_where_a_word_ends():
    """Name, bracket and parenthesis"""
    plan = "*(12) HashAggregate(keys=[a#1])\n+- Project [a#1]\n   +- CartesianProduct\n"
    got = [(each.name, each.text) for each in operators(plan)]
    assert all("*" not in name for name, _ in got), "*(12), the number of the generated class, is not of the name"
    want = [("HashAggregate", "(keys=[a#1])"), ("Project", "[a#1]"), ("CartesianProduct", "")]
    assert got == want, f"names and texts are {want}, not {got}"


@pytest.mark.points(5, task=1)
def test_a_tree_with_two_branches(plans, names):
    """The plan of a sort-merge join"""
    got = names(plans["sort-merge"])
    want = [
        (0, "Sort"), (1, "Exchange"), (2, "HashAggregate"), (3, "SortMergeJoin"), (4, "Sort"), (5, "Exchange"),
        (6, "Filter"), (7, "FileScan"), (4, "Sort"), (5, "Exchange"), (6, "Filter"), (7, "Scan"),
    ]  # fmt: skip
    assert len(got) == len(want), f"the plan has {len(want)} operators, you found {len(got)}"
    for number, (found, wanted) in enumerate(zip(got, want, strict=True), 1):
        assert found == wanted, (
            f"operator {number} is {wanted[1]} at depth {wanted[0]}, you have {found[1]} at {found[0]}: a level takes "
            "three characters, '*(14) ' none"
        )


@pytest.mark.points(3, task=1)
def test_lines_without_an_operator(names):
    """Blank lines, headings"""
    got = names("== Physical Plan ==\n\n*(1) Project [a#1]\n+- Scan ExistingRDD[a#1]\n\n")
    assert got == [(0, "Project"), (1, "Scan")], f"two lines have an operator, you found {got}"
