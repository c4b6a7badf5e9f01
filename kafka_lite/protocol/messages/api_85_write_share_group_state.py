"""WriteShareGroupState: the leader of a partition has the share coordinator store what has changed.

Kafka 4.1: clients/.../resources/common/message/WriteShareGroupStateRequest.json · book 10.3
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.share_state import PartitionResult, StateBatch
from kafka_lite.protocol.schema import Request, Response, Struct, array, int32, int64, string, uuid_


class PartitionData(Struct):
    """The change of a partition's state."""

    partition: int = int32()
    state_epoch: int = int32()
    leader_epoch: int = int32()
    start_offset: int = int64()  # -1 if it has not changed
    state_batches: list[StateBatch] = array(StateBatch)


class WriteStateData(Struct):
    """Partitions of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionData] = array(PartitionData)


class WriteShareGroupStateRequest(Request, api_key=ApiKey.WRITE_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    """The changes of a share group's partitions."""

    group_id: str = string()
    topics: list[WriteStateData] = array(WriteStateData)


class WriteStateResult(Struct):
    """The outcomes for one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionResult] = array(PartitionResult)


class WriteShareGroupStateResponse(Response, api_key=ApiKey.WRITE_SHARE_GROUP_STATE, versions="0", flexible="0+"):
    """The outcomes."""

    results: list[WriteStateResult] = array(WriteStateResult)
