"""The assignment of partitions to workers, read from all ideal states and written back to them.

A resource that no controller of uReplicator wrote, such as one that Helix itself places, is left alone.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/utils/HelixUtils.java (HelixUtils) ·
book 8.2.2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.model.ideal_state import IdealState, RebalanceMode
from kafka_lite.mirror.ureplicator.controller.ideal_state_builder import ideal_state_of
from kafka_lite.mirror.ureplicator.controller.instance_topic_partition_holder import (
    HolderQueue,
    InstanceTopicPartitionHolder,
)
from kafka_lite.mirror.ureplicator.helix_names import ONLINE, STATE_MODEL, partition_name, topic_partition

IdealStates = Mapping[str, IdealState]
"""By topic."""
Assignment = dict[str, set[TopicPartition]]
"""From a worker to its partitions. Workers without any are not in it."""


def is_mirrored(ideal_state: IdealState) -> bool:
    """Whether uReplicator places the resource: its partitions are numbers, and it says itself where they are."""
    numbers = all(topic_partition(ideal_state.resource, name) for name in ideal_state.partitions)
    return ideal_state.mode is RebalanceMode.CUSTOMIZED and ideal_state.state_model == STATE_MODEL and numbers


def instance_to_topic_partitions(ideal_states: IdealStates) -> Assignment:
    """Each worker's partitions."""
    assignment: Assignment = {}
    for topic, ideal_state in _mirrored(ideal_states).items():
        for name in ideal_state.partitions:
            for instance in ideal_state.instance_states(name) or ():
                assignment.setdefault(instance, set()).add(TopicPartition(topic, int(name)))
    return assignment


def unassigned_partitions(ideal_states: IdealStates) -> set[TopicPartition]:
    """The partitions that no worker has: there was none when their topic was added."""
    return {
        TopicPartition(topic, number)
        for topic, ideal_state in _mirrored(ideal_states).items()
        for number in range(ideal_state.num_partitions)
        if not ideal_state.instance_states(partition_name(number))
    }


def serving_instances(ideal_states: IdealStates, live_instances: Iterable[str]) -> HolderQueue:
    """The queue of live workers, each with what it has by now."""
    assignment = instance_to_topic_partitions(ideal_states)
    return HolderQueue(InstanceTopicPartitionHolder(name, assignment.get(name, ())) for name in live_instances)


def ideal_states_from_assignment(holders: Iterable[InstanceTopicPartitionHolder]) -> dict[str, IdealState]:
    """One ideal state for each topic that has a worker."""
    topics: dict[str, dict[str, dict[str, str]]] = {}
    for holder in holders:
        for topic, partition in holder.topic_partitions:
            states = topics.setdefault(topic, {}).setdefault(partition_name(partition), {})
            states[holder.instance_name] = ONLINE
    return {topic: ideal_state_of(topic, partitions, len(partitions)) for topic, partitions in sorted(topics.items())}


def _mirrored(ideal_states: IdealStates) -> dict[str, IdealState]:
    return {topic: ideal_state for topic, ideal_state in ideal_states.items() if is_mirrored(ideal_state)}
