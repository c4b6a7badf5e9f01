"""Asks the leaders how many bytes the logs of partitions have, to split a query's work by size.

Kafka 0.10.2: later addition: clients/.../clients/admin/KafkaAdminClient.java (describeLogDirs, 1.0) · book 6.1.5
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_35_describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from kafka_lite.spark.cluster_client import ClusterClient


def log_sizes(client: ClusterClient, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """The size in bytes of each log on its leader's disk; a log whose size the leader does not tell is left out.

    Raises ``OSError``, and ``ApiError`` if a broker is older than Kafka 1.0.
    """
    by_leader: dict[int, set[TopicPartition]] = defaultdict(set)
    for partition in partitions:
        by_leader[client.leader_of(partition)].add(partition)
    sizes: dict[TopicPartition, int] = {}
    for node_id, wanted in by_leader.items():
        response = client.connection(node_id).exchange(_request(wanted), DescribeLogDirsResponse)
        sizes |= {partition: size for partition, size in _sizes_in(response).items() if partition in wanted}
    return sizes


def _request(partitions: Iterable[TopicPartition]) -> DescribeLogDirsRequest:
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(partitions):
        topics[topic].append(partition)
    return DescribeLogDirsRequest(
        topics=[DescribableLogDirTopic(topic=topic, partitions=numbers) for topic, numbers in topics.items()]
    )


def _sizes_in(response: DescribeLogDirsResponse) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic.name, partition.partition_index): partition.partition_size
        for directory in response.results
        if directory.error_code == Errors.NONE.code
        for topic in directory.topics
        for partition in topic.partitions
        if not partition.is_future_key
    }
