"""Decides which topics are copied, what is missing in the target, and who copies what.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorSourceConnector.java (shouldReplicateTopic, isCycle,
computeAndCreateTopicPartitions, taskConfigs) · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.filters import TopicFilter
from kafka_lite.mirror.connectors.replication_policy import ReplicationPolicy

Topics = Mapping[str, int]
"""Topics, with their numbers of partitions."""


class MirroredTopics:
    """The topics of one mirror, in both clusters."""

    def __init__(
        self,
        source: str,
        target: str,
        policy: ReplicationPolicy,
        topic_filter: TopicFilter,
        *,
        with_heartbeats: bool = True,
    ) -> None:
        """``with_heartbeats``: these are copied whatever the filter says."""
        self._source = source
        self._target = target
        self._policy = policy
        self._filter = topic_filter
        self._with_heartbeats = with_heartbeats

    def should_replicate(self, topic: str) -> bool:
        """Whether a topic of the source is copied."""
        is_heartbeats = self._with_heartbeats and self._policy.is_heartbeats_topic(topic)
        is_wanted = is_heartbeats or self._filter.should_replicate_topic(topic)
        return is_wanted and not self._policy.is_internal_topic(topic) and not self.is_cycle(topic)

    def is_cycle(self, topic: str) -> bool:
        """Whether the records of a topic of the source have been in the target: they must not come back.

        ::

            west ──▶ east        east.t of west is not copied to east
            east ──▶ west        nor is north.east.t, which came by a third cluster
        """
        source = self._policy.topic_source(topic)
        if source is None or source == self._target:
            return source is not None
        upstream = self._policy.upstream_topic(topic)
        # A policy that keeps names knows no way back.
        return upstream is not None and upstream != topic and self.is_cycle(upstream)

    def remote(self, topic: str) -> str:
        """The name in the target of a topic of the source."""
        return self._policy.format_remote_topic(self._source, topic)

    def of_source(self, topics: Topics) -> dict[str, int]:
        """The topics of the source that are copied, sorted."""
        return {topic: topics[topic] for topic in sorted(topics) if self.should_replicate(topic)}

    def of_target(self, topics: Topics) -> dict[str, int]:
        """The topics of the target that came from the source."""
        checkpoints = self._policy.checkpoints_topic(self._source)
        return {
            topic: count
            for topic, count in topics.items()
            if self._policy.topic_source(topic) == self._source and topic != checkpoints
        }

    def new_topics(self, in_source: Topics, in_target: Topics) -> dict[str, int]:
        """Topics of the source that the target lacks."""
        return {topic: count for topic, count in in_source.items() if self.remote(topic) not in in_target}

    def grown_topics(self, in_source: Topics, in_target: Topics) -> dict[str, int]:
        """Topics of the source that have more partitions than in the target."""
        return {topic: count for topic, count in in_source.items() if count > in_target.get(self.remote(topic), count)}


def partitions_of(topics: Topics) -> list[TopicPartition]:
    """All partitions, topic by topic."""
    return [TopicPartition(topic, number) for topic, count in topics.items() for number in range(count)]


def spread(partitions: Sequence[TopicPartition], max_tasks: int) -> list[list[TopicPartition]]:
    """Deal partitions out among tasks, so that each task has some of a large topic.

    ::

        8, 2 and 2 partitions      a0 a3 a6 b1
        of three topics            a1 a4 a7 c0
        among three tasks          a2 a5 b0 c1

    There are no more tasks than partitions.
    """
    tasks = min(max_tasks, len(partitions))
    return [list(partitions[index::tasks]) for index in range(tasks)]
