"""DescribeTopicPartitions: topics with their partitions, page by page.

Kafka 3.8: clients/.../common/requests/DescribeTopicPartitionsRequest.java, KIP-966; 0.10 has Metadata only · book 7.3.2
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import (
    Request,
    Response,
    Struct,
    array,
    boolean,
    int16,
    int32,
    nullable_struct,
    string,
    uuid_,
)


class TopicRequest(Struct):
    """A topic to describe."""

    name: str = string()


class Cursor(Struct):
    """The first topic and partition of a page. Pages go by topic name."""

    topic_name: str = string()
    partition_index: int = int32()


class DescribeTopicPartitionsRequest(Request, api_key=ApiKey.DESCRIBE_TOPIC_PARTITIONS, versions="0", flexible="0+"):
    """The topics to describe, from the cursor on."""

    topics: list[TopicRequest] = array(TopicRequest)  # empty for all
    response_partition_limit: int = int32(default=2000)  # the most partitions of a page
    cursor: Cursor | None = nullable_struct(Cursor)  # null for the first page


class DescribeTopicPartitionsResponsePartition(Struct):
    """A partition and its replicas."""

    error_code: int = int16()
    partition_index: int = int32()
    leader_id: int = int32()  # -1 for none
    leader_epoch: int = int32(default=-1)
    replica_nodes: list[int] = array(int32)
    isr_nodes: list[int] = array(int32)
    # replicas outside the ISR that have all committed records; only controllers of KRaft know them
    eligible_leader_replicas: list[int] | None = array(int32, nullable="0+", default=None)
    last_known_elr: list[int] | None = array(int32, nullable="0+", default=None)
    offline_replicas: list[int] = array(int32)


class DescribeTopicPartitionsResponseTopic(Struct):
    """A topic, with those of its partitions that are on the page."""

    error_code: int = int16()
    name: str | None = string(nullable="0+")
    topic_id: UUID = uuid_()
    is_internal: bool = boolean()
    partitions: list[DescribeTopicPartitionsResponsePartition] = array(DescribeTopicPartitionsResponsePartition)
    topic_authorized_operations: int = int32(default=-2147483648)  # one bit per operation


class DescribeTopicPartitionsResponse(Response, api_key=ApiKey.DESCRIBE_TOPIC_PARTITIONS, versions="0", flexible="0+"):
    """One page."""

    throttle_time_ms: int = int32(ignorable=True)  # how long a quota delays the client
    topics: list[DescribeTopicPartitionsResponseTopic] = array(DescribeTopicPartitionsResponseTopic)
    next_cursor: Cursor | None = nullable_struct(Cursor)  # where the next page begins; null after the last one
