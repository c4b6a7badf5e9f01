"""A wrong answer to a lab gets a message that names its mistake.

These tests have a file of their own, which another process can run beside the other tests of labs.
"""

import re

import pytest

from kafka_learn.labs.grader import check
from kafka_learn.labs.lab import SPARK
from kafka_learn.labs.way.in_chinese import in_language
from kafka_learn.source import find_symbol
from tests.support.checked_labs import LABS, answers_to_try, marks_of_answer, shipped, shipped_function

HAN = re.compile(r"[\u4e00-\u9fff]")
WRONG_ANSWERS = [
    pytest.param(lab, row, id=f"{lab.name}: {row['name']}", marks=marks_of_answer(lab, row))
    for lab in LABS
    for row in answers_to_try(lab)
]


@pytest.mark.parametrize(("lab", "answer"), WRONG_ANSWERS)
def test_a_wrong_answer_gets_a_message_that_names_its_mistake(lab, answer, tmp_path, request):
    if lab.extra == SPARK:
        request.getfixturevalue("jvm")
    run = None if lab.extra == SPARK else request.getfixturevalue("forks").run
    symbol = find_symbol(answer["function"])
    lines = list(symbol.lines)
    wrong = shipped_function(answer).replace(answer["replace"], answer["by"])
    source = "\n".join([*lines[: symbol.first_line - 1], wrong, *lines[symbol.last_line :]]) + "\n"
    mistaken = tmp_path / symbol.path.name
    mistaken.write_text(source)
    result = check(lab, shipped(lab) | {symbol.module: mistaken}, broker=False, run=run)
    assert not result.passed
    messages = [outcome.message for outcome in result.outcomes if not outcome.passed]
    assert any(answer["says"] in message for message in messages), messages
    told = [outcome.message for outcome in in_language(lab, result, "zh").outcomes if not outcome.passed]
    assert [message for message in told if not HAN.search(message)] == []
