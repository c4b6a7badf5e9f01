"""AlterPartitionReassignments: move partitions to other brokers.

Kafka 2.4: clients/.../common/requests/AlterPartitionReassignmentsRequest.java · book 7.1.6
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, string


class ReassignablePartition(Struct):
    """A partition and its new replicas."""

    partition_index: int = int32()
    replicas: list[int] | None = array(int32, nullable="0+", default=None)  # null to cancel a reassignment


class ReassignableTopic(Struct):
    """Partitions of one topic."""

    name: str = string()
    partitions: list[ReassignablePartition] = array(ReassignablePartition)


class AlterPartitionReassignmentsRequest(
    Request, api_key=ApiKey.ALTER_PARTITION_REASSIGNMENTS, versions="0", flexible="0+"
):
    """The new replicas of each partition."""

    timeout_ms: int = int32(default=60000)  # how long the broker may wait for completion
    topics: list[ReassignableTopic] = array(ReassignableTopic)


class ReassignablePartitionResponse(Struct):
    """The outcome for one partition."""

    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")


class ReassignableTopicResponse(Struct):
    """The outcome for one topic."""

    name: str = string()
    partitions: list[ReassignablePartitionResponse] = array(ReassignablePartitionResponse)


class AlterPartitionReassignmentsResponse(
    Response, api_key=ApiKey.ALTER_PARTITION_REASSIGNMENTS, versions="0", flexible="0+"
):
    """Whether each reassignment was started."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    responses: list[ReassignableTopicResponse] = array(ReassignableTopicResponse)
