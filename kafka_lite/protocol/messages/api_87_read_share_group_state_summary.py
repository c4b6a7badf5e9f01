"""ReadShareGroupStateSummary: a group coordinator reads where a share group is in partitions.

Kafka 4.1: clients/.../resources/common/message/ReadShareGroupStateSummaryRequest.json · book 10.3
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string, uuid_


class PartitionData(Struct):
    """A partition, and in which epoch it is led."""

    partition: int = int32()
    leader_epoch: int = int32()  # -1: any


class ReadStateSummaryData(Struct):
    """Partitions of one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionData] = array(PartitionData)


class ReadShareGroupStateSummaryRequest(
    Request, api_key=ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, versions="0", flexible="0+"
):
    """The partitions of a group that somebody asks about."""

    group_id: str = string()
    topics: list[ReadStateSummaryData] = array(ReadStateSummaryData)


class PartitionResult(Struct):
    """The position in a partition."""

    partition: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    state_epoch: int = int32()
    leader_epoch: int = int32()
    start_offset: int = int64()  # -1 if it is not known


class ReadStateSummaryResult(Struct):
    """The outcomes for one topic."""

    topic_id: UUID = uuid_()
    partitions: list[PartitionResult] = array(PartitionResult)


class ReadShareGroupStateSummaryResponse(
    Response, api_key=ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, versions="0", flexible="0+"
):
    """The positions."""

    results: list[ReadStateSummaryResult] = array(ReadStateSummaryResult)
