"""Assigns consecutive partitions of each topic.

Kafka 0.10.2: clients/.../consumer/RangeAssignor.java · book 5.1.3, 1.2.2
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import AbstractPartitionAssignor, Subscription, members_of


class RangeAssignor(AbstractPartitionAssignor):
    """Assigns topic by topic, so that equally numbered partitions of two topics go to the same member.

    ::

        7 partitions, 3 members: 7 // 3 = 2 each, and one more for the first 7 % 3 = 1
        C0: 0 1 2    C1: 3 4    C2: 5 6

    With many topics of few partitions, the first members get the remainder of every topic.
    """

    name = "range"

    def assign_partitions(
        self, partition_counts: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> dict[str, list[TopicPartition]]:
        """The partitions of each member, by member id."""
        shares: dict[str, list[TopicPartition]] = {member: [] for member in subscriptions}
        for topic, count in partition_counts.items():
            members = members_of(topic, subscriptions)
            each, remainder = divmod(count, len(members))
            start = 0
            for index, member in enumerate(members):
                end = start + each + (index < remainder)
                shares[member] += [TopicPartition(topic, partition) for partition in range(start, end)]
                start = end
        return shares
