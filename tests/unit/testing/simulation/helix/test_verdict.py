"""When a plan is reached."""

from __future__ import annotations

import pytest

from kafka_lite.testing.simulation.helix.facts import Facts, Plan
from kafka_lite.testing.simulation.helix.verdict import NOT_REACHED, is_reached, unreached

LISTED = Plan("SEMI_AUTO", "MasterSlave", "MASTER", "SLAVE", 2, {"0": ["w2", "w1"]})
FREE = Plan("FULL_AUTO", "MasterSlave", "MASTER", "SLAVE", 2, {"0": []})
ONLINE = Plan("SEMI_AUTO", "OnlineOffline", "ONLINE", "ONLINE", 2, {"0": ["w1", "w2"]})


@pytest.mark.parametrize(
    ("plan", "states", "reached"),
    [
        (LISTED, {"w1": "SLAVE", "w2": "MASTER"}, True),
        (LISTED, {"w1": "MASTER", "w2": "SLAVE"}, False),
        (LISTED, {"w2": "MASTER"}, False),
        (LISTED, {"w1": "SLAVE", "w2": "MASTER", "w3": "OFFLINE"}, False),
        (FREE, {"w1": "MASTER", "w3": "SLAVE"}, True),
        (FREE, {"w1": "MASTER", "w3": "MASTER"}, False),
        (ONLINE, {"w1": "ONLINE", "w2": "ONLINE"}, True),
        (ONLINE, {"w1": "ONLINE", "w2": "ERROR"}, False),
    ],
)
def test_a_plan_says_where_the_replicas_are(plan: Plan, states: dict[str, str], reached: bool) -> None:
    assert is_reached(plan, {"0": states}) is reached


def test_all_partitions_are_there_and_no_others() -> None:
    states = {"w1": "SLAVE", "w2": "MASTER"}
    assert not is_reached(LISTED, {})
    assert not is_reached(LISTED, {"0": states, "1": states})


def test_a_dropped_resource_leaves_no_view() -> None:
    facts = Facts()
    facts.plans["t"], facts.views["t"] = LISTED, {"0": {"w1": "SLAVE", "w2": "MASTER"}}
    assert list(unreached(facts)) == []
    facts.views["gone"] = {"0": {"w1": "OFFLINE"}}
    facts.plans["late"] = FREE
    assert [(each.rule, each.text.split()[0]) for each in unreached(facts)] == [
        (NOT_REACHED, "late"),
        (NOT_REACHED, "gone"),
    ]
