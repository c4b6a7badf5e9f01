"""AlterShareGroupOffsets: an empty share group begins at other offsets.

Kafka 4.1: clients/.../resources/common/message/AlterShareGroupOffsetsRequest.json · book 10.3
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string, uuid_


class AlterShareGroupOffsetsRequestPartition(Struct):
    """Where the group shall begin in a partition."""

    partition_index: int = int32()
    start_offset: int = int64()


class AlterShareGroupOffsetsRequestTopic(Struct):
    """Partitions of one topic."""

    topic_name: str = string()
    partitions: list[AlterShareGroupOffsetsRequestPartition] = array(AlterShareGroupOffsetsRequestPartition)


class AlterShareGroupOffsetsRequest(Request, api_key=ApiKey.ALTER_SHARE_GROUP_OFFSETS, versions="0", flexible="0+"):
    """A group with its new offsets."""

    group_id: str = string()
    topics: list[AlterShareGroupOffsetsRequestTopic] = array(AlterShareGroupOffsetsRequestTopic)


class AlterShareGroupOffsetsResponsePartition(Struct):
    """The outcome for a partition."""

    partition_index: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)


class AlterShareGroupOffsetsResponseTopic(Struct):
    """The outcomes for one topic."""

    topic_name: str = string()
    topic_id: UUID = uuid_()
    partitions: list[AlterShareGroupOffsetsResponsePartition] = array(AlterShareGroupOffsetsResponsePartition)


class AlterShareGroupOffsetsResponse(Response, api_key=ApiKey.ALTER_SHARE_GROUP_OFFSETS, versions="0", flexible="0+"):
    """The outcomes, or the group's error."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    responses: list[AlterShareGroupOffsetsResponseTopic] = array(AlterShareGroupOffsetsResponseTopic)
