"""Ideal states: their records are Helix's, and what they say about partitions, lists and replicas."""

import pytest

from kafka_lite.mirror.helix.model.ideal_state import IdealState, RebalanceMode
from kafka_lite.mirror.helix.zn_record import ZNRecord
from tests.support.helix_samples import record

LISTS = {"ms_0": ["w1", "w2"], "ms_1": ["w1", "w3"]}


def test_a_customized_record_is_what_helixs_builder_makes():
    owners = {"0": {"w1": "ONLINE"}, "1": {"w2": "ONLINE"}, "2": {"w1": "ONLINE"}, "3": {"w2": "ONLINE"}}
    made = IdealState.customized("t", "OnlineOffline", owners)
    assert made.record == record("resource t, 4 partitions CUSTOMIZED", "/IDEALSTATES/t")
    assert made.partitions == ("0", "1", "2", "3")
    assert made.instance_states("1") == {"w2": "ONLINE"}
    assert made.instance_states("9") is None


@pytest.mark.parametrize(
    ("mode", "older"), [(RebalanceMode.SEMI_AUTO, "AUTO"), (RebalanceMode.FULL_AUTO, "AUTO_REBALANCE")]
)
def test_the_fields_of_an_automatic_resource(mode, older):
    """As the same Helix wrote them for its resources ms and ls."""
    made = IdealState.automatic(mode, "ms", "MasterSlave", LISTS, replicas=2)
    assert made.record.simple_fields == {
        "IDEAL_STATE_MODE": older,
        "NUM_PARTITIONS": "2",
        "REBALANCE_MODE": mode.name,
        "REBALANCE_STRATEGY": "DEFAULT",
        "REPLICAS": "2",
        "STATE_MODEL_DEF_REF": "MasterSlave",
        "STATE_MODEL_FACTORY_NAME": "DEFAULT",
    }
    assert made.partitions == ("ms_0", "ms_1")
    assert (made.mode, made.state_model, made.state_model_factory) == (mode, "MasterSlave", "DEFAULT")


def ideal(simple, lists=None, maps=None):
    return IdealState(ZNRecord("t", simple, lists or {}, maps or {}))


@pytest.mark.parametrize(
    ("fields", "mode"),
    [
        ({"REBALANCE_MODE": "CUSTOMIZED", "IDEAL_STATE_MODE": "AUTO"}, RebalanceMode.CUSTOMIZED),
        ({"IDEAL_STATE_MODE": "AUTO_REBALANCE"}, RebalanceMode.FULL_AUTO),
        ({"REBALANCE_MODE": "NONSENSE", "IDEAL_STATE_MODE": "CUSTOMIZED"}, RebalanceMode.CUSTOMIZED),
        ({}, RebalanceMode.SEMI_AUTO),
    ],
)
def test_the_mode_has_two_names(fields, mode):
    assert ideal(fields).mode is mode


@pytest.mark.parametrize(
    ("state", "replicas"),
    [
        (ideal({"REPLICAS": "3"}), 3),
        (ideal({"REPLICAS": "ANY_LIVEINSTANCE"}), 5),
        (ideal({"REPLICAS": "many"}), None),
        (ideal({}, lists=LISTS), 2),
        (ideal({"REBALANCE_MODE": "CUSTOMIZED"}, maps={"0": {"w1": "ONLINE"}}), 1),
        (ideal({"REBALANCE_MODE": "FULL_AUTO"}, lists=LISTS), 0),
        (ideal({}), 0),
    ],
)
def test_replicas(state, replicas):
    assert state.replicas(live_instances=5) == replicas


def test_a_list_of_any_live_instance_is_all_of_them_by_name():
    state = ideal({}, lists={**LISTS, "any": ["ANY_LIVEINSTANCE"]})
    assert state.preference_list("any", ["w3", "w1"]) == ["w1", "w3"]
    assert state.preference_list("ms_1", ["w9"]) == ["w1", "w3"]
    assert state.preference_list("gone", ["w1"]) is None


def test_a_resource_is_enabled_and_unlimited_unless_it_says_otherwise():
    assert ideal({}).enabled
    assert not ideal({"HELIX_ENABLED": "false"}).enabled
    assert ideal({}).max_partitions_per_instance is None
    assert ideal({"MAX_PARTITIONS_PER_INSTANCE": "4"}).max_partitions_per_instance == 4
