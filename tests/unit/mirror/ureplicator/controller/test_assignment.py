"""The assignment as all ideal states together have it."""

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.model.ideal_state import IdealState, RebalanceMode
from kafka_lite.mirror.ureplicator.controller.assignment import (
    ideal_states_from_assignment,
    instance_to_topic_partitions,
    is_mirrored,
    serving_instances,
    unassigned_partitions,
)
from kafka_lite.mirror.ureplicator.controller.ideal_state_builder import ideal_state_of
from kafka_lite.mirror.ureplicator.controller.instance_topic_partition_holder import InstanceTopicPartitionHolder

T = ideal_state_of("t", {"0": {"w1": "ONLINE"}, "10": {"w2": "ONLINE"}}, 2)
HALF = ideal_state_of("half", {"1": {"w1": "ONLINE"}}, 3)
FOREIGN = {
    "semi": IdealState.automatic(
        RebalanceMode.SEMI_AUTO, "semi", "OnlineOffline", {"0": ["w9"], "1": ["w9"]}, replicas=1
    ),
    "named": ideal_state_of("named", {"named_0": {"w9": "ONLINE"}}, 1),
    "masters": IdealState.customized("masters", "MasterSlave", {"0": {"w9": "MASTER"}}),
}
STATES = {"t": T, "half": HALF, **FOREIGN}


def test_what_each_worker_has() -> None:
    assert instance_to_topic_partitions(STATES) == {
        "w1": {TopicPartition("t", 0), TopicPartition("half", 1)},
        "w2": {TopicPartition("t", 10)},
    }


def test_what_nobody_has() -> None:
    assert unassigned_partitions({"half": HALF}) == {TopicPartition("half", 0), TopicPartition("half", 2)}


def test_resources_of_others_are_left_alone() -> None:
    assert [name for name, state in STATES.items() if is_mirrored(state)] == ["t", "half"]
    assert unassigned_partitions(FOREIGN) == set()


def test_only_live_workers_are_in_the_queue() -> None:
    queue = serving_instances(STATES, ["w2", "w3"])
    assert [(each.instance_name, len(each.topic_partitions)) for each in iter(queue.poll, None)] == [
        ("w3", 0),
        ("w2", 1),
    ]


def test_an_assignment_becomes_the_same_ideal_states() -> None:
    assignment = instance_to_topic_partitions({"t": T})
    holders = [InstanceTopicPartitionHolder(name, partitions) for name, partitions in assignment.items()]
    assert ideal_states_from_assignment(holders) == {"t": T}
    assert ideal_states_from_assignment([InstanceTopicPartitionHolder("w1")]) == {}
