"""ElectLeaders: triggers leader elections.

Kafka 2.2: clients/.../common/requests/ElectLeadersRequest.java (ElectPreferredLeaders until 2.4) · book 7.1.4
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int8, int16, int32, string


class TopicPartitions(Struct):
    """Partitions of one topic."""

    topic: str = string()
    partitions: list[int] = array(int32)


class ElectLeadersRequest(Request, api_key=ApiKey.ELECT_LEADERS, versions="0-2", flexible="2+"):
    """The partitions; null for all.

    v1  election_type: unclean elections too
    v2  compact lengths and tagged fields
    """

    election_type: int = int8(versions="1+")  # 0 the preferred replica, 1 any live replica if none in sync is
    topic_partitions: list[TopicPartitions] | None = array(TopicPartitions, nullable="0+")
    timeout_ms: int = int32(default=60000)  # how long the broker may wait for completion


class PartitionResult(Struct):
    """The outcome for one partition."""

    partition_id: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")


class ReplicaElectionResult(Struct):
    """The outcome for one topic."""

    topic: str = string()
    partition_result: list[PartitionResult] = array(PartitionResult)


class ElectLeadersResponse(Response, api_key=ApiKey.ELECT_LEADERS, versions="0-2", flexible="2+"):
    """The outcome for each partition.

    v1  an error_code for the whole request
    v2  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16(versions="1+")
    replica_election_results: list[ReplicaElectionResult] = array(ReplicaElectionResult)
