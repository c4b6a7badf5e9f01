"""Assigns all partitions of all topics in turn.

Kafka 0.10.2: clients/.../consumer/RoundRobinAssignor.java · book 5.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import AbstractPartitionAssignor, Subscription, ordered_members


class RoundRobinAssignor(AbstractPartitionAssignor):
    """Deals out partitions like cards. A member that is not subscribed to the topic is skipped.

    ::

        t0 and t1 of 3 partitions each, 2 members
        C0: t0-0 t0-2 t1-1    C1: t0-1 t1-0 t1-2

    If all members have the same subscription, they differ by at most one partition. Otherwise the assignment may be
    uneven, because a member that is skipped loses its turn.
    """

    name = "roundrobin"

    def assign_partitions(
        self, partition_counts: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> dict[str, list[TopicPartition]]:
        """The partitions of each member, by member id."""
        shares: dict[str, list[TopicPartition]] = {member: [] for member in subscriptions}
        turn = cycle(ordered_members(subscriptions))
        for topic, count in partition_counts.items():
            for partition in range(count):
                member = next(member for member in turn if topic in subscriptions[member].topics)
                shares[member].append(TopicPartition(topic, partition))
        return shares
