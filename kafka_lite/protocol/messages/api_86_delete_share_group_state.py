"""DeleteShareGroupState: a group coordinator has the share coordinator forget the state of partitions.

Kafka 4.1: clients/.../resources/common/message/DeleteShareGroupStateRequest.json · book 10.3
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.share_state import PartitionResult
from kafka_lite.protocol.schema import Request, Response, Struct, array, int32, string, uuid_


class PartitionData(Struct):
    """A partition."""

    partition: int = int32()


class DeleteStateData(Struct):
    """Partitions of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionData] = array(PartitionData)


class DeleteShareGroupStateRequest(Request, api_key=ApiKey.DELETE_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    """The partitions that a share group does not consume any more."""

    group_id: str = string()
    topics: list[DeleteStateData] = array(DeleteStateData)


class DeleteStateResult(Struct):
    """The outcomes for one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionResult] = array(PartitionResult)


class DeleteShareGroupStateResponse(Response, api_key=ApiKey.DELETE_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    """The outcomes."""

    results: list[DeleteStateResult] = array(DeleteStateResult)
