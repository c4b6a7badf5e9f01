"""DeleteTopics: topics to delete.

Kafka 0.10.2: clients/.../common/requests/DeleteTopicsRequest.java, DeleteTopicsResponse.java · book 7.1.5
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, string, uuid_


class DeleteTopicState(Struct):
    """A topic, by name or by id."""

    name: str | None = string(versions="6+", nullable="6+", default=None)
    topic_id: UUID = uuid_(versions="6+")


class DeleteTopicsRequest(Request, api_key=ApiKey.DELETE_TOPICS, versions="0-6", flexible="4+"):
    """The topics. The controller responds when they are deleted or the timeout expires.

    v4  compact lengths and tagged fields
    v5  THROTTLING_QUOTA_EXCEEDED is possible
    v6  by name or by topic id
    """

    topics: list[DeleteTopicState] = array(DeleteTopicState, versions="6+")
    topic_names: list[str] = array(string, versions="0-5", ignorable=True)
    timeout_ms: int = int32()  # how long the broker may wait for completion


class DeletableTopicResult(Struct):
    """The outcome for one topic."""

    name: str | None = string(nullable="6+")
    topic_id: UUID = uuid_(versions="6+", ignorable=True)
    error_code: int = int16()
    error_message: str | None = string(versions="5+", nullable="5+", default=None, ignorable=True)


class DeleteTopicsResponse(Response, api_key=ApiKey.DELETE_TOPICS, versions="0-6", flexible="4+"):
    """The outcome for each topic.

    v1  throttle_time_ms
    v2  a throttling broker responds at once and mutes the connection afterwards
    v3  TOPIC_DELETION_DISABLED is possible; before, such requests time out
    v4  compact lengths and tagged fields
    v5  error_message
    v6  topic_id; name may be null
    """

    throttle_time_ms: int = int32(versions="1+", ignorable=True)  # how long a quota delays the client
    responses: list[DeletableTopicResult] = array(DeletableTopicResult)
