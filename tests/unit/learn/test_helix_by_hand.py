"""The notebook's cluster of Helix: bounds hold after each step, whoever is killed, and it ends where it should."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.ch08_pipelines.figures.helix_by_hand import HelixByHand
from chapters.ch08_pipelines.figures.helix_predictions import ALONE, IN_TURN, INSTANCES, settled
from kafka_lite.mirror.helix.model.built_in_state_models import LEADER_STANDBY, MASTER_SLAVE, ONLINE_OFFLINE
from kafka_lite.mirror.helix.model.state_model_definition import StateModelDefinition


def tops(cluster: HelixByHand, state: str) -> dict[str, list[str]]:
    return {partition: names for partition, names in cluster.instances_in(state).items() if names}


@pytest.mark.parametrize(("model", "top"), [(MASTER_SLAVE, "MASTER"), (LEADER_STANDBY, "LEADER")])
def test_the_best_instance_has_the_top_state(model: StateModelDefinition, top: str) -> None:
    cluster = settled(model, IN_TURN)
    assert tops(cluster, top) == {"0": ["a"], "1": ["b"], "2": ["c"]}
    cluster.kill("a")
    assert cluster.settle() == [[f"b 0 {'SLAVE' if top == 'MASTER' else 'STANDBY'}->{top}"]]
    assert tops(cluster, top) == {"0": ["b"], "1": ["b"], "2": ["c"]}
    cluster.start("a")
    cluster.settle()
    assert tops(cluster, top) == {"0": ["a"], "1": ["b"], "2": ["c"]}


def test_an_instance_that_is_alone_on_its_list_has_no_heir() -> None:
    cluster = settled(ONLINE_OFFLINE, ALONE)
    cluster.kill("a")
    assert cluster.settle() == []
    assert cluster.states() == {"1": {"b": "ONLINE"}, "2": {"c": "ONLINE"}}


@given(st.lists(st.sampled_from([*INSTANCES, ""]), max_size=12))
def test_there_are_never_two_masters(course: list[str]) -> None:
    """Each name kills or starts an instance; between them the controller runs once."""
    cluster, live = HelixByHand(MASTER_SLAVE, IN_TURN), set[str]()
    for name in course:
        if name:
            (cluster.kill if name in live else cluster.start)(name)
            live ^= {name}
        cluster.step()
        assert all(len(names) <= 1 for names in cluster.instances_in("MASTER").values())
    cluster.settle()
    assert all(len(names) == 1 for names in cluster.instances_in("MASTER").values())
    assert len(cluster.states()) == (3 if live else 0)
