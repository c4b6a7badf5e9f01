"""The ideal state of a topic that is added or expanded: each new partition goes to the least loaded live worker.

Partitions that have a worker keep it, of this topic as of all others: no ideal state but this one is written. So
nothing that is copied stops when a topic is added. This is why uReplicator was written: in a group of consumers a
new topic stops all of them.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/core/IdealStateBuilder.java
(IdealStateBuilder) · book 8.2.2
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.ureplicator.controller.instance_topic_partition_holder import HolderQueue
from kafka_lite.mirror.ureplicator.helix_names import ONLINE, STATE_MODEL, partition_name


def build_custom_ideal_state_for(topic: str, num_partitions: int, queue: HolderQueue) -> IdealState:
    """The ideal state of a new topic. Without live workers its partitions have none until the next rebalance."""
    return _with_new_partitions(topic, {}, range(num_partitions), num_partitions, queue)


def expand_custom_rebalance_mode_ideal_state_for(
    old: IdealState, topic: str, new_num_partitions: int, queue: HolderQueue
) -> IdealState:
    """The ideal state of a topic that has more partitions than before. The old ones stay where they are.

    One that had no worker still has none: it waits for the rebalance. (Without live workers, Uber's fails.)
    """
    kept = {
        partition_name(number): dict(states)
        for number in range(old.num_partitions)
        if (states := old.instance_states(partition_name(number)))
    }
    return _with_new_partitions(topic, kept, range(old.num_partitions, new_num_partitions), new_num_partitions, queue)


def ideal_state_of(topic: str, assignment: Mapping[str, Mapping[str, str]], num_partitions: int) -> IdealState:
    """The record as uReplicator writes it: CUSTOMIZED, OnlineOffline, one replica."""
    return IdealState.customized(topic, STATE_MODEL, assignment, num_partitions=num_partitions)


def _with_new_partitions(
    topic: str, assignment: dict[str, dict[str, str]], new: range, num_partitions: int, queue: HolderQueue
) -> IdealState:
    for number in new:
        instance = queue.give_to_least_loaded(TopicPartition(topic, number))
        if instance is not None:
            assignment[partition_name(number)] = {instance: ONLINE}
    return ideal_state_of(topic, assignment, num_partitions)
