"""The partition counts of the topics that Streams creates, and the check that topics are copartitioned.

Kafka 0.10.2: streams/.../processor/internals/StreamPartitionAssignor.java (assign, ensureCopartitioning,
CopartitionedTopicsValidator) · book 9.1.3
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kafka_lite.clients.cluster import Cluster
from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.processor.internals.topology.internal_topic_config import InternalTopicConfig
from kafka_lite.streams.processor.topology_builder import TopicsInfo
from kafka_lite.streams.task_id import TaskId


def repartition_partition_counts(topic_groups: Mapping[int, TopicsInfo], cluster: Cluster) -> dict[str, int]:
    """The number of partitions of each repartition topic: as many as the largest topic that its writers read.

    What cannot be known does not count: an input that does not exist, and the topic itself in a circle. A topic whose
    writers read only topics that do not exist has no number yet. Raises TopologyBuilderError for a repartition topic
    that no node group writes.
    """
    groups = topic_groups.values()
    repartition = {topic for group in groups for topic in group.repartition_source_topics}
    writers = {topic: [group for group in groups if topic in group.sink_topics] for topic in repartition}
    unwritten = sorted(topic for topic, found in writers.items() if not found)
    if unwritten:
        raise TopologyBuilderError(f"Topics {unwritten} are internal, but no sink writes them")
    inputs = {topic: {source for group in found for source in group.source_topics} for topic, found in writers.items()}
    counts: dict[str, int] = {}
    for complete in (True, False):  # at first topics of which everything is known, then those in circles
        while added := _next_counts(inputs, counts, cluster, complete):
            counts |= added
    return counts


def _next_counts(
    inputs: Mapping[str, Collection[str]], counts: Mapping[str, int], cluster: Cluster, complete: bool
) -> dict[str, int]:
    """The counts that follow from those known: of all inputs, or (not ``complete``) of some."""
    added = {}
    for topic, sources in inputs.items():
        known = [
            count
            for source in sources
            if (count := counts.get(source) if source in inputs else cluster.partition_count_for_topic(source))
        ]
        if topic not in counts and known and (len(known) == len(sources) or not complete):
            added[topic] = max(known)
    return added


def ensure_copartitioning(
    groups: Iterable[Collection[str]], repartition_counts: dict[str, int], cluster: Cluster
) -> None:
    """Give the repartition topics of each group the number of partitions of the group's other topics.

    If a group has repartition topics only, they get the largest of their numbers. Raises TopologyBuilderError for a
    topic that does not exist, and for topics with different numbers of partitions.
    """
    for group in groups:
        given = {topic: cluster.partition_count_for_topic(topic) for topic in group if topic not in repartition_counts}
        missing = sorted(topic for topic, count in given.items() if count is None)
        if missing:
            raise TopologyBuilderError(f"Topic not found: {', '.join(missing)}. Create it before the start")
        numbers = {count for count in given.values() if count is not None}
        if len(numbers) > 1:
            listed = ",".join(f"{topic} ({count})" for topic, count in sorted(given.items()))
            raise TopologyBuilderError(f"Topics not co-partitioned: [{listed}]. A join needs equal numbers")
        own = {topic: repartition_counts[topic] for topic in group if topic in repartition_counts}
        number = max(numbers or own.values(), default=0)
        repartition_counts.update(dict.fromkeys(own, number))


def changelog_partition_counts(
    topic_groups: Mapping[int, TopicsInfo], tasks: Iterable[TaskId]
) -> dict[InternalTopicConfig, int]:
    """A partition of each changelog for each task of its node group."""
    largest: dict[int, int] = {}
    for task in tasks:
        largest[task.topic_group_id] = max(largest.get(task.topic_group_id, 0), task.partition + 1)
    return {
        config: largest[group]
        for group, info in topic_groups.items()
        if group in largest
        for config in info.state_changelog_topics.values()
    }
