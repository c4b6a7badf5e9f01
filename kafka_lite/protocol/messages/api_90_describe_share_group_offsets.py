"""DescribeShareGroupOffsets: where share groups are in the partitions that they consume.

Kafka 4.1: clients/.../resources/common/message/DescribeShareGroupOffsetsRequest.json · book 10.3
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string, uuid_


class DescribeShareGroupOffsetsRequestTopic(Struct):
    """Partitions of one topic."""

    topic_name: str = string()
    partitions: list[int] = array(int32)


class DescribeShareGroupOffsetsRequestGroup(Struct):
    """A group, and which of its partitions are asked about."""

    group_id: str = string()
    # null: all
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = array(
        DescribeShareGroupOffsetsRequestTopic, nullable="0+"
    )


class DescribeShareGroupOffsetsRequest(
    Request, api_key=ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, versions="0", flexible="0+"
):
    """The groups to describe."""

    groups: list[DescribeShareGroupOffsetsRequestGroup] = array(DescribeShareGroupOffsetsRequestGroup)


class DescribeShareGroupOffsetsResponsePartition(Struct):
    """The position of a group in a partition."""

    partition_index: int = int32()
    start_offset: int = int64()  # -1 if it is not known
    leader_epoch: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)


class DescribeShareGroupOffsetsResponseTopic(Struct):
    """The positions of a group in one topic."""

    topic_name: str = string()
    topic_id: UUID = uuid_()
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = array(DescribeShareGroupOffsetsResponsePartition)


class DescribeShareGroupOffsetsResponseGroup(Struct):
    """A group, or the error of its description."""

    group_id: str = string()
    topics: list[DescribeShareGroupOffsetsResponseTopic] = array(DescribeShareGroupOffsetsResponseTopic)
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)


class DescribeShareGroupOffsetsResponse(
    Response, api_key=ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, versions="0", flexible="0+"
):
    """The groups."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    groups: list[DescribeShareGroupOffsetsResponseGroup] = array(DescribeShareGroupOffsetsResponseGroup)
