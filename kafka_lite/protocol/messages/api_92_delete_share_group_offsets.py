"""DeleteShareGroupOffsets: an empty share group forgets topics.

Kafka 4.1: clients/.../resources/common/message/DeleteShareGroupOffsetsRequest.json · book 10.3
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, string, uuid_


class DeleteShareGroupOffsetsRequestTopic(Struct):
    """A topic to forget."""

    topic_name: str = string()


class DeleteShareGroupOffsetsRequest(Request, api_key=ApiKey.DELETE_SHARE_GROUP_OFFSETS, versions="0", flexible="0+"):
    """A group, and the topics to forget."""

    group_id: str = string()
    topics: list[DeleteShareGroupOffsetsRequestTopic] = array(DeleteShareGroupOffsetsRequestTopic)


class DeleteShareGroupOffsetsResponseTopic(Struct):
    """The outcome for a topic."""

    topic_name: str = string()
    topic_id: UUID = uuid_()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)


class DeleteShareGroupOffsetsResponse(Response, api_key=ApiKey.DELETE_SHARE_GROUP_OFFSETS, versions="0", flexible="0+"):
    """The outcomes, or the group's error."""

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    responses: list[DeleteShareGroupOffsetsResponseTopic] = array(DeleteShareGroupOffsetsResponseTopic)
