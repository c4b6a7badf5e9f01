"""Answers that are built alike are found, whatever their names are; what everybody writes says nothing."""

import ast

import pytest

from kafka_learn.labs.grading.similarity import all_pairs, is_as_shipped, prints_of, similar, structure
from kafka_learn.labs.grading.submissions import Answer, Record
from kafka_learn.labs.lab import find_lab
from kafka_learn.source import module_path

LAB = find_lab("ch05-assignors")
SHIPPED = {module: module_path(module).read_text() for module in LAB.modules}
MODULE = LAB.modules[0]
ODD = """
def odd(members, counts):
    result = {}
    while len(counts) > 0:
        top = max(counts, key=lambda each: (counts[each], each))
        if top not in members:
            counts.pop(top)
            continue
        result[top] = [number * 2 for number in range(counts[top])]
        del counts[top]
    return result
"""
OTHER = """
def other(members):
    for member in members:
        with open(member) as file:
            print(file.read().upper().strip())
    assert members, "none"
    members.sort(reverse=True)
    members[0], members[1] = members[1], members[0]
"""
RENAMED = ODD.replace("members", "people").replace("counts", "n").replace("result", "r").replace("top", "who")


def answer(extra):
    return Answer(LAB, SHIPPED | {MODULE: SHIPPED[MODULE] + extra}, Record())


def test_names_values_and_annotations_do_not_count():
    one, other = (structure(ast.parse(text).body[0]) for text in ("total: int = 3 + x", "n: float = 4 + y"))
    assert one == other
    assert structure(ast.parse("a = b - 1").body[0]) != structure(ast.parse("a = b + 1").body[0])
    assert structure(ast.parse("a = 'x'").body[0]) != structure(ast.parse("a = 1").body[0])


def test_a_copy_with_other_names_is_found():
    (pair,) = similar(LAB, {"ann": answer(ODD), "bob": answer(RENAMED), "eve": answer(OTHER)})
    assert pair.students == ("ann", "bob")
    assert pair.alike == 1.0
    assert pair.shared == 7


def test_different_answers_are_no_pair():
    assert similar(LAB, {"ann": answer(ODD), "eve": answer(OTHER)}) == []


def test_what_the_shipped_code_has_or_the_class_writes_says_nothing():
    assert similar(LAB, {"ann": answer(""), "bob": answer("")}) == []
    everybody = {f"s{number}": answer(ODD) for number in range(12)}
    assert similar(LAB, everybody) == []


def test_code_that_cannot_be_parsed_has_no_prints():
    assert not prints_of(LAB, {MODULE: "def ("})
    assert similar(LAB, {"ann": Answer(LAB, {}, Record()), "bob": answer(ODD)}) == []


def test_an_answer_as_the_shipped_code_is_noticed():
    assert is_as_shipped(LAB, SHIPPED)
    assert not is_as_shipped(LAB, answer(ODD).sources)
    assert not is_as_shipped(LAB, {})


@pytest.mark.parametrize("labs", [[LAB], [LAB, find_lab("ch06-offset-index")]])
def test_pairs_of_all_labs(labs):
    answers = {"ann": {LAB.name: answer(ODD)}, "bob": {LAB.name: answer(RENAMED)}, "eve": {}}
    assert [pair.lab for pair in all_pairs(labs, answers)] == [LAB.name]
