"""OffsetForLeaderEpoch: where the records of a leader epoch end.

Kafka 0.11: clients/.../common/requests/OffsetsForLeaderEpochRequest.java · book 6.2.1
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string


class OffsetForLeaderPartition(Struct):
    """The request for one partition."""

    partition: int = int32()
    # as the client knows it; -1 disables the check
    current_leader_epoch: int = int32(versions="2+", default=-1, ignorable=True)
    leader_epoch: int = int32()


class OffsetForLeaderTopic(Struct):
    """The request for one topic."""

    topic: str = string()
    partitions: list[OffsetForLeaderPartition] = array(OffsetForLeaderPartition)


class OffsetForLeaderEpochRequest(Request, api_key=ApiKey.OFFSET_FOR_LEADER_EPOCH, versions="0-4", flexible="4+"):
    """For each partition, the leader epoch of the sender's last record.

    v2  current_leader_epoch
    v3  replica_id
    v4  compact lengths and tagged fields
    """

    # broker id of a follower, -1 for a consumer, -2 for a debugging one
    replica_id: int = int32(versions="3+", default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic] = array(OffsetForLeaderTopic)


class EpochEndOffset(Struct):
    """The end offset in one partition."""

    error_code: int = int16()
    partition: int = int32()
    leader_epoch: int = int32(versions="1+", default=-1, ignorable=True)
    end_offset: int = int64(default=-1)


class OffsetForLeaderTopicResult(Struct):
    """The end offsets in one topic."""

    topic: str = string()
    partitions: list[EpochEndOffset] = array(EpochEndOffset)


class OffsetForLeaderEpochResponse(Response, api_key=ApiKey.OFFSET_FOR_LEADER_EPOCH, versions="0-4", flexible="4+"):
    """For each partition, the end offset of that epoch, or of the last one before it.

    v1  leader_epoch
    v2  throttle_time_ms
    v4  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32(versions="2+", ignorable=True)  # how long a quota delays the client
    topics: list[OffsetForLeaderTopicResult] = array(OffsetForLeaderTopicResult)
