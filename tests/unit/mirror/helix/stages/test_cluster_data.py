"""Reading: what is in the cluster, in the order that makes it safe."""

import logging

from kafka_lite.mirror.helix.helix_errors import UnreadableRecordError
from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.instance_config import InstanceConfig
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.zn_record import ZNRecord
from tests.support.helix_cluster import PATHS, Tree


class Reading(Tree):
    """A tree that notes what is read, and has records that nobody can read."""

    def __init__(self):
        super().__init__()
        self.read, self.unreadable = [], set()

    def children(self, path):
        self.read.append(path)
        return super().children(path)

    def get(self, path):
        if path in self.unreadable:
            raise UnreadableRecordError("not a ZNRecord: unknown properties color")
        return super().get(path)


def cluster():
    tree = Reading()
    tree.add(PATHS.live_instance("w1"), LiveInstance.of("w1", "s2", "1@here").record)
    for session in ("s1", "s2"):
        current = CurrentState.empty("t", session, "OnlineOffline").with_state("0", "ONLINE")
        tree.add(PATHS.current_state("w1", session, "t"), current.record)
    tree.add(PATHS.message("w1", "m"), Message.no_op("m", 1, "w1").record)
    tree.add(PATHS.message("w9", "m"), Message.no_op("m", 1, "w9").record)
    tree.add(PATHS.instance_config("w1"), InstanceConfig.joining("w1").record)
    return tree


def test_only_live_instances_and_their_present_sessions_are_read():
    data = ClusterData.read(cluster(), PATHS)
    assert data.live_instances["w1"].session == "s2"
    assert [message.id for message in data.messages["w1"]] == ["m"]
    assert data.current_states["w1"]["t"].session == "s2"
    assert list(data.messages) == list(data.current_states) == ["w1"]


def test_messages_are_read_before_current_states():
    tree = cluster()
    ClusterData.read(tree, PATHS)
    order = [PATHS.live_instances, PATHS.messages("w1"), PATHS.current_states("w1", "s2")]
    assert [path for path in tree.read if path in order] == order


def test_an_unreadable_record_is_said_and_counts_as_missing(caplog):
    tree = cluster()
    tree.add(PATHS.ideal_state("t"), ZNRecord("t"))
    tree.add(PATHS.state_model("no initial state"), ZNRecord("no initial state"))
    tree.add(PATHS.message_constraints, ZNRecord("MESSAGE_CONSTRAINT"))
    tree.unreadable = {PATHS.ideal_state("t"), PATHS.message_constraints}
    with caplog.at_level(logging.ERROR):
        data = ClusterData.read(tree, PATHS)
    assert (data.ideal_states, data.state_models, data.constraints) == ({}, {}, ())
    assert len(caplog.records) == 3
    assert f"{PATHS.ideal_state('t')} is ignored: not a ZNRecord: unknown properties color" in caplog.text


def test_instances_are_disabled_as_a_whole_or_for_a_partition():
    tree = cluster()
    config = InstanceConfig.joining("w2").with_partition_disabled("t", "7").with_partition_disabled("t", "3")
    tree.add(PATHS.instance_config("w2"), config.record)
    tree.add(PATHS.instance_config("w3"), InstanceConfig.joining("w3").record.with_simple(HELIX_ENABLED="false"))
    data = ClusterData.read(tree, PATHS)
    assert config.record.map_fields == {"HELIX_DISABLED_PARTITION": {"t": "3,7"}}
    assert data.disabled_instances("t", "7") == {"w2", "w3"}
    assert data.disabled_instances("t", "8") == data.disabled_instances("u", "7") == {"w3"}
