"""The rebalance after workers came or went: who gets the partitions of the dead, and what newcomers get.

    w1: t/0 t/3    w2: t/1 t/4    w3: t/2 t/5     w2 has died
    w1: t/0 t/3                   w3: t/2 t/5 | t/1 t/4     all of its partitions to the last worker in order
    w1: t/0 t/3 t/1               w3: t/2 t/5 | t/4         the most loaded gives to the least loaded, until the
                                                            two differ by one at most

If the live workers are those that have partitions, nothing moves: an imbalance alone is no reason. Only partitions that
nobody has, of a topic that was added while no worker lived, go to the least loaded workers. (In uReplicator they wait
for the next worker that comes or goes.)

Any partition of the most loaded worker may move (Java takes the first one of a HashSet). Here those without a living
worker go first, then the others by name: a survivor gives away a partition only for the balance.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/core/
AutoRebalanceLiveInstanceChangeListener.java (AutoRebalanceLiveInstanceChangeListener) · book 8.2.2
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.ureplicator.controller.assignment import (
    Assignment,
    IdealStates,
    ideal_states_from_assignment,
    instance_to_topic_partitions,
    unassigned_partitions,
)
from kafka_lite.mirror.ureplicator.controller.instance_topic_partition_holder import (
    HolderQueue,
    InstanceTopicPartitionHolder,
)


def rebalanced_ideal_states(ideal_states: IdealStates, live_instances: Collection[str]) -> dict[str, IdealState]:
    """The ideal states that change for these live workers; none if nothing is to be done."""
    assignment, unassigned = instance_to_topic_partitions(ideal_states), unassigned_partitions(ideal_states)
    if not live_instances or not (assignment or unassigned):
        return {}
    holders = rescale(live_instances, assignment, unassigned)
    if holders is None:
        return {}
    new = ideal_states_from_assignment(holders)
    return {topic: ideal_state for topic, ideal_state in new.items() if ideal_state != ideal_states[topic]}


def rescale(
    live_instances: Collection[str], assignment: Assignment, unassigned: Collection[TopicPartition]
) -> list[InstanceTopicPartitionHolder] | None:
    """The live workers, with what they get; None if there is nothing to do."""
    live = set(live_instances)
    holders = sorted(InstanceTopicPartitionHolder(name, assignment.get(name, ())) for name in live)
    if live == assignment.keys():
        return _give_away(holders, unassigned) if unassigned else None
    dead = assignment.keys() - live
    homeless = set(unassigned).union(*(assignment[name] for name in dead))
    holders[-1].topic_partitions |= homeless
    balance(holders, homeless)
    return holders


def _give_away(
    holders: list[InstanceTopicPartitionHolder], unassigned: Collection[TopicPartition]
) -> list[InstanceTopicPartitionHolder]:
    queue = HolderQueue(holders)
    for partition in sorted(unassigned):
        queue.give_to_least_loaded(partition)
    return holders


def balance(holders: list[InstanceTopicPartitionHolder], homeless: Collection[TopicPartition]) -> None:
    """Move partitions, homeless ones first, until no worker has two more than another one. ``holders`` stay sorted."""
    while len(holders[-1].topic_partitions) - len(holders[0].topic_partitions) > 1:
        highest, lowest = holders.pop(), holders.pop(0)
        moved = min(highest.topic_partitions, key=lambda partition: (partition not in homeless, partition))
        highest.topic_partitions.remove(moved)
        lowest.topic_partitions.add(moved)
        insort(holders, lowest)
        insort(holders, highest)
