"""AlterPartitionReassignments: move partitions to other brokers.

Kafka 2.4: clients/.../common/requests/AlterPartitionReassignmentsRequest.java · book 7.1.6
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int16, int32, string


class ReassignablePartition(Struct):
    """A partition and its new replicas."""

    partition_index: int = int32()
    replicas: list[int] | None = array(int32, nullable="0+", default=None)  # null to cancel a reassignment


class ReassignableTopic(Struct):
    """Partitions of one topic."""

    name: str = string()
    partitions: list[ReassignablePartition] = array(ReassignablePartition)


class AlterPartitionReassignmentsRequest(
    Request, api_key=ApiKey.ALTER_PARTITION_REASSIGNMENTS, versions="0-1", flexible="0+"
):
    """The new replicas of each partition.

    v1  allow_replication_factor_change (KIP-860)
    """

    timeout_ms: int = int32(default=60000)  # how long the broker may wait for completion
    # whether the number of replicas may change
    allow_replication_factor_change: bool = boolean(versions="1+", default=True)
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
    Response, api_key=ApiKey.ALTER_PARTITION_REASSIGNMENTS, versions="0-1", flexible="0+"
):
    """Whether each reassignment was started.

    v1  allow_replication_factor_change, as in the request
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    allow_replication_factor_change: bool = boolean(versions="1+", default=True, ignorable=True)
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    responses: list[ReassignableTopicResponse] = array(ReassignableTopicResponse)
