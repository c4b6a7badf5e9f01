"""What is said of a run with a share group."""

from __future__ import annotations

import pytest

from kafka_lite.testing.simulation.shares.facts import At, Facts
from kafka_lite.testing.simulation.shares.verdict import (
    DELIVERED_AGAIN,
    LOST,
    TOO_OFTEN,
    judge,
    undone,
)

FIRST, SECOND = ("t", 0, 0), ("t", 0, 1)
LIMIT = 2


def facts_of(*events: tuple[str, At]) -> Facts:
    """``deliver``, ``attempt`` and ``accept`` in this order; the delivery count grows."""
    facts = Facts()
    counts: dict[At, int] = {}
    for kind, at in events:
        if kind == "deliver":
            counts[at] = counts.get(at, 0) + 1
            facts.deliver("m", at, counts[at], len(facts.accepted))
        else:
            facts.attempted.add(at)
            if kind == "accept":
                facts.accepted.append(at)
    return facts


@pytest.mark.parametrize(
    ("events", "rules"),
    [
        ([("deliver", FIRST), ("accept", FIRST)], set()),
        ([("deliver", FIRST), ("attempt", FIRST)], set()),  # its member was killed, or got no response
        ([("deliver", FIRST), ("deliver", FIRST)], set()),  # as often as it may be
        ([], {LOST}),
        ([("deliver", FIRST)], {LOST}),
        ([("deliver", FIRST), ("accept", FIRST), ("deliver", FIRST)], {DELIVERED_AGAIN}),
        ([("deliver", FIRST), ("deliver", FIRST), ("accept", FIRST), ("accept", FIRST)], set()),  # one of them was late
        ([("deliver", FIRST)] * 3, {TOO_OFTEN}),
    ],
)
def test_what_is_wrong(events: list[tuple[str, At]], rules: set[str]) -> None:
    assert {violation.rule for violation in judge(facts_of(*events), [FIRST], LIMIT)} == rules


def test_what_is_still_to_be_delivered() -> None:
    facts = facts_of(("deliver", FIRST), ("accept", FIRST))
    assert undone(facts, [FIRST, SECOND], LIMIT) == {SECOND}
    facts.deliver("m", SECOND, 1, 1)
    assert undone(facts, [FIRST, SECOND], LIMIT) == {SECOND}
    facts.deliver("m", SECOND, 2, 1)
    assert undone(facts, [FIRST, SECOND], LIMIT) == set()
