"""DescribeProducers: the producers that a log keeps the state of.

Kafka 2.8: clients/.../common/requests/DescribeProducersRequest.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string


class TopicRequest(Struct):
    """Partitions of one topic."""

    name: str = string()
    partition_indexes: list[int] = array(int32)


class DescribeProducersRequest(Request, api_key=ApiKey.DESCRIBE_PRODUCERS, versions="0", flexible="0+"):
    """The partitions."""

    topics: list[TopicRequest] = array(TopicRequest)


class ProducerState(Struct):
    """A producer, its last batch and its open transaction."""

    producer_id: int = int64()
    producer_epoch: int = int32()
    last_sequence: int = int32(default=-1)
    last_timestamp: int = int64(default=-1)
    coordinator_epoch: int = int32()
    current_txn_start_offset: int = int64(default=-1)  # -1 without one


class PartitionResponse(Struct):
    """The producers of one partition."""

    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    active_producers: list[ProducerState] = array(ProducerState)


class TopicResponse(Struct):
    """The partitions of one topic."""

    name: str = string()
    partitions: list[PartitionResponse] = array(PartitionResponse)


class DescribeProducersResponse(Response, api_key=ApiKey.DESCRIBE_PRODUCERS, versions="0", flexible="0+"):
    """The producers of each partition."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    topics: list[TopicResponse] = array(TopicResponse)
