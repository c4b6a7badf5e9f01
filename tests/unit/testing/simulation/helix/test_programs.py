"""What the administrator of a simulated cluster draws, and that members reach it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.testing.simulation.helix.facts import Facts, Plan
from kafka_lite.testing.simulation.helix.programs import MOST_RESOURCES, Drawing, ideal_state
from kafka_lite.testing.simulation.helix.verdict import unreached
from tests.support.eventually import eventually
from tests.support.helix_zookeeper import PATHS, HelixOnZooKeeper, helix_in_memory

NAMES = ["w1", "w2", "w3"]


@pytest.fixture
def helix() -> Iterator[HelixOnZooKeeper]:
    with helix_in_memory() as cluster:
        yield cluster


@pytest.mark.parametrize("mode", ["CUSTOMIZED", "SEMI_AUTO", "FULL_AUTO"])
def test_a_plan_is_an_ideal_state(mode: str) -> None:
    lists = {"0": ["w2"], "1": ["w1"]} if mode != "FULL_AUTO" else {"0": [], "1": []}
    found = ideal_state("t", Plan(mode, "MasterSlave", "MASTER", "SLAVE", 1, lists))
    assert (found.resource, found.mode.name, found.state_model, found.replicas(3)) == ("t", mode, "MasterSlave", 1)
    assert found.partitions == ("0", "1")
    assert found.instance_states("0") == ({"w2": "MASTER"} if mode == "CUSTOMIZED" else None)
    assert found.preference_list("0", NAMES) == {"SEMI_AUTO": ["w2"], "FULL_AUTO": []}.get(mode)


@pytest.mark.parametrize("seed", range(4))
def test_changes_are_facts_and_records(helix: HelixOnZooKeeper, seed: int) -> None:
    random.seed(seed)
    facts = Facts()
    drawing = Drawing(helix.admin, NAMES, facts)
    drawing.add_resource()
    (first,) = facts.plans
    for _ in range(60):
        drawing.change()  # no instance has joined yet: none can be disabled
    assert facts.changes == 60
    assert len(facts.plans) <= MOST_RESOURCES
    assert first not in facts.plans, "it was dropped, and its name is not used again"
    assert set(helix.accessor.children(PATHS.ideal_states)) == facts.plans.keys()
    for resource, plan in facts.plans.items():
        record = helix.record(PATHS.ideal_state(resource))
        assert record is not None
        assert IdealState(record) == ideal_state(resource, plan)


@pytest.mark.parametrize("seed", range(4))
def test_once_all_work_the_plans_are_reached(helix: HelixOnZooKeeper, seed: int) -> None:
    random.seed(seed)
    facts = Facts()
    drawing = Drawing(helix.admin, NAMES, facts)
    helix.start_controller("c1")
    for name in NAMES:
        helix.start_participant(name)
    drawing.add_resource()
    for _ in range(20):
        drawing.change()
    drawing.let_all_work()

    def is_reached() -> bool:
        facts.views = {name: helix.view(name) for name in helix.accessor.children(PATHS.external_views)}
        return not any(unreached(facts))

    eventually(is_reached, lambda: list(unreached(facts)))
