"""Paths are those to which a real Helix wrote."""

from kafka_lite.mirror.helix.property_paths import INSTANCE_CONTAINERS, PropertyPaths
from tests.support.helix_samples import writes

C = PropertyPaths("C")


def test_records_are_where_helix_writes_them():
    first = [path for _, path, _ in writes("resource t, 4 partitions CUSTOMIZED")]
    session = "1a21f5a7d790003"
    assert first[:2] == [C.resource_config("t"), C.ideal_state("t")]
    assert first[2] == C.message("w1", "1c289fa6-d198-44b2-ae38-07776ea35ec4")
    assert C.current_states("w2", session) in first
    assert C.current_state("w2", session, "t") in first
    assert first[-1] == C.external_view("t")


def test_a_participant_joins_with_its_containers_in_this_order():
    joined = [path for _, path, _ in writes("participants w1, w2 start") if "w2" in path]
    assert joined[:2] == [C.instance_config("w2"), C.instance("w2")]
    assert joined[2:7] == [C.instance("w2", name) for name in INSTANCE_CONTAINERS]
    assert joined[7] == C.live_instance("w2")


def test_a_new_cluster_is_created_from_the_root_down():
    paths = C.setup_paths
    assert paths[0] == "/C"
    assert all(path.rpartition("/")[0] in ("", *paths) for path in paths)
    containers = (C.ideal_states, C.external_views, C.state_models, C.live_instances, C.instances, C.cluster_config)
    assert {*containers, C.controller_history, C.configs("PARTICIPANT")} <= set(paths)


def test_what_belongs_to_the_controller():
    assert (C.leader, C.pause) == ("/C/CONTROLLER/LEADER", "/C/CONTROLLER/PAUSE")
    assert C.message_constraints == "/C/CONFIGS/CONSTRAINT/MESSAGE_CONSTRAINT"
    assert C.state_model("OnlineOffline") == "/C/STATEMODELDEFS/OnlineOffline"
    assert C.messages("w1") == "/C/INSTANCES/w1/MESSAGES"
