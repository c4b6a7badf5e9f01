"""ReadShareGroupState: the leader of a partition reads what a share group has done with its records.

Kafka 4.1: clients/.../resources/common/message/ReadShareGroupStateRequest.json · book 10.3
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.share_state import StateBatch
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string, uuid_


class PartitionData(Struct):
    """A partition, and in which epoch it is led."""

    partition: int = int32()
    leader_epoch: int = int32()


class ReadStateData(Struct):
    """Partitions of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionData] = array(PartitionData)


class ReadShareGroupStateRequest(Request, api_key=ApiKey.READ_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    """The partitions that a broker begins to lead."""

    group_id: str = string()
    topics: list[ReadStateData] = array(ReadStateData)


class PartitionResult(Struct):
    """The state of a partition."""

    partition: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    state_epoch: int = int32()
    start_offset: int = int64()  # -1 if it is not known yet
    state_batches: list[StateBatch] = array(StateBatch)


class ReadStateResult(Struct):
    """The outcomes for one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionResult] = array(PartitionResult)


class ReadShareGroupStateResponse(Response, api_key=ApiKey.READ_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    """The states."""

    results: list[ReadStateResult] = array(ReadStateResult)
