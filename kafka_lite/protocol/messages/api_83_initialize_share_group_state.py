"""InitializeShareGroupState: a group coordinator has the share coordinator begin the state of partitions.

Kafka 4.1: clients/.../resources/common/message/InitializeShareGroupStateRequest.json · book 10.3
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.share_state import PartitionResult
from kafka_lite.protocol.schema import Request, Response, Struct, array, int32, int64, string, uuid_


class PartitionData(Struct):
    """Where the state begins."""

    partition: int = int32()
    state_epoch: int = int32()
    start_offset: int = int64()  # -1: the partition's leader finds it


class InitializeStateData(Struct):
    """Partitions of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionData] = array(PartitionData)


class InitializeShareGroupStateRequest(
    Request, api_key=ApiKey.INITIALIZE_SHARE_GROUP_STATE, versions="0", flexible="0+"
):
    """The partitions that a share group begins to consume, or whose offset is set."""

    group_id: str = string()
    topics: list[InitializeStateData] = array(InitializeStateData)


class InitializeStateResult(Struct):
    """The outcomes for one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionResult] = array(PartitionResult)


class InitializeShareGroupStateResponse(
    Response, api_key=ApiKey.INITIALIZE_SHARE_GROUP_STATE, versions="0", flexible="0+"
):
    """The outcomes."""

    results: list[InitializeStateResult] = array(InitializeStateResult)
