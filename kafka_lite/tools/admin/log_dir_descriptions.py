"""The log directories of a broker and the replicas in them, as DescribeLogDirs tells them.

Kafka 1.0: clients/.../clients/admin/KafkaAdminClient.java (describeLogDirs, describeReplicaLogDirs) · book 7.1.6
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_35_describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from kafka_lite.tools.admin.admin_channel import AdminChannel, check_error
from kafka_lite.tools.common.tool_errors import ToolError


def describe_log_dirs(channel: AdminChannel, broker_id: int) -> list[DescribeLogDirsResult]:
    """The log directories of a broker; each has its own error. Raises ToolError if the broker refuses the request."""
    response = channel.send(DescribeLogDirsRequest(topics=None), DescribeLogDirsResponse, broker_id)
    check_error(response.error_code)
    return response.results


def live_replicas(
    channel: AdminChannel, broker_id: int
) -> Iterator[tuple[str, TopicPartition, DescribeLogDirsPartition]]:
    """The replicas in the live log directories of a broker, each with its directory.

    A directory that is offline (KAFKA_STORAGE_ERROR) does not tell its replicas. Raises ToolError for any other error
    of a directory: it says nothing about the replicas, so they must not count as missing.
    """
    for directory in describe_log_dirs(channel, broker_id):
        error = Errors.for_code(directory.error_code)
        if error is Errors.KAFKA_STORAGE_ERROR:
            continue
        if error is not Errors.NONE:
            raise ToolError(f"broker {broker_id}, log directory {directory.log_dir}: {error.name}: {error.message}")
        for topic in directory.topics:
            for partition in topic.partitions:
                yield directory.log_dir, TopicPartition(topic.name, partition.partition_index), partition
