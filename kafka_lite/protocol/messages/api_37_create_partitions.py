"""CreatePartitions: more partitions for topics.

Kafka 1.0: clients/.../common/requests/CreatePartitionsRequest.java · book 7.2.1
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int16, int32, string


class CreatePartitionsAssignment(Struct):
    """The brokers of one new partition."""

    broker_ids: list[int] = array(int32)


class CreatePartitionsTopic(Struct):
    """A topic, with its new number of partitions."""

    name: str = string()
    count: int = int32()  # all partitions, the old ones included
    # for each new partition; the broker chooses if it is null
    assignments: list[CreatePartitionsAssignment] | None = array(CreatePartitionsAssignment, nullable="0+")


class CreatePartitionsRequest(Request, api_key=ApiKey.CREATE_PARTITIONS, versions="0-3", flexible="2+"):
    """The topics and their new numbers of partitions.

    v2  compact lengths and tagged fields
    v3  THROTTLING_QUOTA_EXCEEDED is possible
    """

    topics: list[CreatePartitionsTopic] = array(CreatePartitionsTopic)
    timeout_ms: int = int32()  # how long the broker may wait for completion
    validate_only: bool = boolean()  # only check, change nothing


class CreatePartitionsTopicResult(Struct):
    """The outcome for one topic."""

    name: str = string()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)


class CreatePartitionsResponse(Response, api_key=ApiKey.CREATE_PARTITIONS, versions="0-3", flexible="2+"):
    """The outcome for each topic.

    v1  a throttling broker responds at once and mutes the connection afterwards
    v2  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    results: list[CreatePartitionsTopicResult] = array(CreatePartitionsTopicResult)
