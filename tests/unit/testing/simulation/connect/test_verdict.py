"""What each rule finds, and that a run in which records come again is good: Connect promises at least once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.testing.simulation.connect.facts import Facts, Report, Written
from kafka_lite.testing.simulation.connect.verdict import OFFSET_AHEAD, SINK_LOST, SOURCE_LOST, TWO_OWNERS, judge


def _good() -> Facts:
    """Two tasks of the source: the successor of task 0 has sent number 1 again."""
    facts = Facts()
    facts.produced = [
        Written(number, time) for number, time in (((0, 0), 10), ((0, 1), 20), ((1, 0), 25), ((0, 1), 30), ((0, 2), 40))
    ]
    facts.offsets = [Written((0, 0), 15), Written((1, 0), 25), Written((0, 2), 41)]
    facts.acknowledged = facts.flushed = {(0, 0), (0, 1), (0, 2), (1, 0)}
    facts.reports = [
        Report("task-source-0", "RUNNING", "a", 1), Report("task-source-0", "RUNNING", "a", 1),
        Report("task-source-0", "UNASSIGNED", "b", 2), Report("task-source-0", "RUNNING", "c", 2),
        Report("task-source-1", "RUNNING", "b", 2),
    ]  # fmt: skip
    return facts


def test_records_that_come_again_and_tasks_that_move_are_good() -> None:
    assert list(judge(_good())) == []


def _lose(facts: Facts) -> None:
    facts.produced = [record for record in facts.produced if record.number != (0, 1)]


def _lose_last(facts: Facts) -> None:
    facts.produced = facts.produced[:-1]


def _not_flushed(facts: Facts) -> None:
    facts.flushed = facts.flushed - {(1, 0)}


def _too_early(facts: Facts) -> None:
    facts.offsets.append(Written((0, 1), 19))


def _of_nothing(facts: Facts) -> None:
    facts.offsets.append(Written((1, 7), 99))


def _second_owner(facts: Facts) -> None:
    facts.reports.append(Report("task-source-0", "RUNNING", "b", 1))


@pytest.mark.parametrize(
    ("change", "rules", "text"),
    [
        (_lose, [SOURCE_LOST, SOURCE_LOST], "number 1 of task 0 is not in the topic, and 2 is"),
        (_lose_last, [SOURCE_LOST, OFFSET_AHEAD], "number 2 of task 0 was acknowledged, and is not in the topic"),
        (_not_flushed, [SINK_LOST], "number 0 of task 1 was acknowledged, and no task of the sink has flushed it"),
        (_too_early, [OFFSET_AHEAD], "number 1 of task 0 came 1 ms after its offset"),
        (_of_nothing, [OFFSET_AHEAD], "the offset of number 7 of task 1 is stored, the record is not there"),
        (_second_owner, [TWO_OWNERS], "task-source-0 ran on a, b in generation 1"),
    ],
)
def test_each_rule_finds_what_breaks_it(change: Callable[[Facts], None], rules: list[str], text: str) -> None:
    facts = _good()
    change(facts)
    found = list(judge(facts))
    assert [violation.rule for violation in found] == rules
    assert found[0].text == text
