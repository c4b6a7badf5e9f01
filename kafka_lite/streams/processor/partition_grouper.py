"""Divides the partitions of a node group's topics into tasks.

Kafka 0.10.2: streams/.../processor/PartitionGrouper.java, DefaultPartitionGrouper.java · book 9.1.3
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping

from kafka_lite.clients.cluster import Cluster
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.task_id import TaskId

logger = logging.getLogger(__name__)


class PartitionGrouper(ABC):
    """Every instance must compute the same tasks."""

    @abstractmethod
    def partition_groups(
        self, topic_groups: Mapping[int, Collection[str]], cluster: Cluster
    ) -> dict[TaskId, frozenset[TopicPartition]]:
        """The partitions of each task. ``topic_groups`` has the source topics by the numbers of their node groups."""


class DefaultPartitionGrouper(PartitionGrouper):
    """One task for each partition number: it reads that partition of all topics that have it.

    So records of the same key meet in one task, if the topics are partitioned in the same way. A node group has no
    tasks while one of its topics does not exist.
    """

    def partition_groups(
        self, topic_groups: Mapping[int, Collection[str]], cluster: Cluster
    ) -> dict[TaskId, frozenset[TopicPartition]]:
        """The partitions of each task: as many tasks as the largest topic of a group has partitions."""
        groups = {}
        for group, topics in sorted(topic_groups.items()):
            counts = {topic: cluster.partition_count_for_topic(topic) for topic in sorted(topics)}
            missing = [topic for topic, count in counts.items() if count is None]
            if missing:
                logger.warning("No tasks for topic group %d: topics %s do not exist yet", group, missing)
                continue
            for number in range(max(count or 0 for count in counts.values())):
                groups[TaskId(group, number)] = frozenset(
                    TopicPartition(topic, number) for topic, count in counts.items() if number < (count or 0)
                )
        return groups
