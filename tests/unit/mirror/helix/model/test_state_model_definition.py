"""State models: their records are Helix's, and the next state is on a shortest path of allowed transitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.mirror.helix.helix_errors import UnreadableRecordError
from kafka_lite.mirror.helix.model.built_in_state_models import (
    BUILT_IN_STATE_MODELS,
    LEADER_STANDBY,
    MASTER_SLAVE,
    ONLINE_OFFLINE,
    UREPLICATOR_ONLINE_OFFLINE,
)
from kafka_lite.mirror.helix.model.state_model_definition import DROPPED, ERROR, StateModelDefinition
from kafka_lite.mirror.helix.zn_record import ZNRecord
from tests.support.helix_samples import record_of, state_models

MODELS = [*BUILT_IN_STATE_MODELS.values(), UREPLICATOR_ONLINE_OFFLINE]


@pytest.mark.parametrize("name", ["OnlineOffline", "MasterSlave", "LeaderStandby"])
def test_the_record_is_what_a_starting_controller_writes(name):
    written = record_of(state_models()["models"][name])
    assert BUILT_IN_STATE_MODELS[name].to_record() == written
    assert StateModelDefinition.from_record(written) == BUILT_IN_STATE_MODELS[name]


def test_the_record_of_ureplicator_is_what_helixs_builder_makes():
    written = record_of(state_models()["models of the builder"]["OnlineOffline"])
    assert UREPLICATOR_ONLINE_OFFLINE.to_record(self_loops=True) == written
    assert StateModelDefinition.from_record(written) == UREPLICATOR_ONLINE_OFFLINE


@pytest.mark.parametrize("model", MODELS)
def test_every_step_is_a_transition_of_the_table_and_every_way_ends(model):
    allowed = {*model.transitions, (ERROR, DROPPED), (ERROR, model.initial_state), (model.initial_state, DROPPED)}
    for start, targets in model.next_states.items():
        for target in targets:
            state, steps = start, 0
            while state != target:
                following = model.next_state(state, target)
                assert (state, following) in allowed
                state, steps = following, steps + 1
                assert steps <= len(model.bounds)


@pytest.mark.parametrize(
    ("model", "current", "desired", "following"),
    [
        (ONLINE_OFFLINE, "OFFLINE", "ONLINE", "ONLINE"),
        (ONLINE_OFFLINE, "ONLINE", "DROPPED", "OFFLINE"),
        (MASTER_SLAVE, "OFFLINE", "MASTER", "SLAVE"),
        (MASTER_SLAVE, "MASTER", "DROPPED", "SLAVE"),
        (MASTER_SLAVE, "SLAVE", "DROPPED", "OFFLINE"),
        (LEADER_STANDBY, "OFFLINE", "LEADER", "STANDBY"),
        (MASTER_SLAVE, "ERROR", "OFFLINE", "OFFLINE"),
        (MASTER_SLAVE, "ERROR", "DROPPED", "DROPPED"),
        (MASTER_SLAVE, "ERROR", "MASTER", None),
        (ONLINE_OFFLINE, "DROPPED", "ONLINE", None),
        (ONLINE_OFFLINE, "OFFLINE", "MASTER", None),
    ],
)
def test_next_state(model, current, desired, following):
    assert model.next_state(current, desired) == following


@given(
    st.lists(st.tuples(st.sampled_from("ABCDE"), st.sampled_from("ABCDE")).filter(lambda t: t[0] != t[1]), unique=True)
)
def test_the_way_is_a_shortest_one_in_any_table(transitions):
    model = StateModelDefinition.of_table("any", "A", dict.fromkeys("ABCDE", "-1"), transitions)
    distance = {
        (start, to): 0 if start == to else 1 if (start, to) in transitions else 99
        for start in "ABCDE"
        for to in "ABCDE"
    }
    for via in "ABCDE":
        for start in "ABCDE":
            for to in "ABCDE":
                distance[start, to] = min(distance[start, to], distance[start, via] + distance[via, to])
    for start in "ABCDE":
        for to in "ABCDE":
            following = model.next_state(start, to)
            if start != to:
                assert (following is not None) == (distance[start, to] < 99)
            if following is not None:
                assert distance[start, to] == 1 + distance[following, to]


@pytest.mark.parametrize(
    ("model", "state", "replicas", "bound"),
    [
        (MASTER_SLAVE, "MASTER", 3, 1),
        (MASTER_SLAVE, "SLAVE", 3, 3),
        (MASTER_SLAVE, "SLAVE", None, None),
        (MASTER_SLAVE, "OFFLINE", 3, None),
        (MASTER_SLAVE, "NO_SUCH_STATE", 3, None),
    ],
)
def test_upper_bounds(model, state, replicas, bound):
    assert model.upper_bound(state, replicas=replicas, live_instances=5) == bound


def test_n_is_the_number_of_live_instances():
    model = StateModelDefinition.of_table("all", "OFFLINE", {"MASTER": "N", "OFFLINE": "x"}, [("OFFLINE", "MASTER")])
    assert model.upper_bound("MASTER", replicas=1, live_instances=5) == 5
    assert model.upper_bound("OFFLINE", replicas=1, live_instances=5) is None
    assert model.replica_counts(replicas=1, live_instances=5) == {"MASTER": 5}


def test_what_r_leaves_over_after_the_numbers():
    assert MASTER_SLAVE.replica_counts(replicas=3, live_instances=9) == {"MASTER": 1, "SLAVE": 2}
    assert ONLINE_OFFLINE.replica_counts(replicas=1, live_instances=9) == {"ONLINE": 1}


def test_the_top_state_and_where_it_is_reached_from():
    assert (MASTER_SLAVE.top_state, MASTER_SLAVE.second_top_states) == ("MASTER", {"SLAVE"})
    assert (ONLINE_OFFLINE.top_state, ONLINE_OFFLINE.second_top_states) == ("ONLINE", {"OFFLINE"})


def test_transitions_have_priorities_and_others_come_last():
    assert MASTER_SLAVE.transition_priority("MASTER", "SLAVE") == 0
    assert MASTER_SLAVE.transition_priority("OFFLINE", "DROPPED") == 4
    assert MASTER_SLAVE.transition_priority("ERROR", "OFFLINE") == 5


def test_a_record_without_an_initial_state_is_no_state_model():
    with pytest.raises(UnreadableRecordError, match="no initial state"):
        StateModelDefinition.from_record(ZNRecord("m"))
