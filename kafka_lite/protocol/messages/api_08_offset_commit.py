"""OffsetCommit: a consumer group stores its offsets.

Kafka 0.10.2: clients/.../common/requests/OffsetCommitRequest.java, OffsetCommitResponse.java · book 3.5.4
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string, uuid_


class OffsetCommitRequestPartition(Struct):
    """The offset of one partition."""

    partition_index: int = int32()
    committed_offset: int = int64()
    committed_leader_epoch: int = int32(versions="6+", default=-1, ignorable=True)
    commit_timestamp: int = int64(versions="1", default=-1)  # milliseconds; -1 for the broker's time
    committed_metadata: str | None = string(nullable="0+")  # the consumer's own metadata


class OffsetCommitRequestTopic(Struct):
    """The offsets of one topic."""

    name: str = string(versions="0-9", ignorable=True)
    topic_id: UUID = uuid_(versions="10+", ignorable=True)
    partitions: list[OffsetCommitRequestPartition] = array(OffsetCommitRequestPartition)


class OffsetCommitRequest(Request, api_key=ApiKey.OFFSET_COMMIT, versions="0-10", flexible="8+"):
    """The next offset to read, for each partition.

    Version 0 is stored in ZooKeeper, by any broker; later ones in __consumer_offsets, by the group's coordinator.

        v1  generation and member, which must be current; commit_timestamp
        v2  retention_time_ms; commit_timestamp is removed
        v5  retention_time_ms is removed; offsets.retention.minutes applies
        v6  committed_leader_epoch
        v7  group_instance_id: static members (KIP-345)
        v8  compact lengths and tagged fields
        v9  the generation may be a member epoch (KIP-848)
        v10 topic_id in place of name
    """

    group_id: str = string()
    # -1 from a consumer that is no member
    generation_id_or_member_epoch: int = int32(versions="1+", default=-1, ignorable=True)
    member_id: str = string(versions="1+", ignorable=True)
    group_instance_id: str | None = string(versions="7+", nullable="7+", default=None)  # for a static member
    # -1 for the broker's configured retention
    retention_time_ms: int = int64(versions="2-4", default=-1, ignorable=True)
    topics: list[OffsetCommitRequestTopic] = array(OffsetCommitRequestTopic)


class OffsetCommitResponsePartition(Struct):
    """The outcome for one partition."""

    partition_index: int = int32()
    error_code: int = int16()


class OffsetCommitResponseTopic(Struct):
    """The outcome for one topic."""

    name: str = string(versions="0-9", ignorable=True)
    topic_id: UUID = uuid_(versions="10+", ignorable=True)
    partitions: list[OffsetCommitResponsePartition] = array(OffsetCommitResponsePartition)


class OffsetCommitResponse(Response, api_key=ApiKey.OFFSET_COMMIT, versions="0-10", flexible="8+"):
    """Whether each offset was committed.

    v3  throttle_time_ms
    v4  a throttling broker responds at once and mutes the connection afterwards
    v8  compact lengths and tagged fields
    v9  STALE_MEMBER_EPOCH and GROUP_ID_NOT_FOUND are possible
    v10 topic_id in place of name; UNKNOWN_TOPIC_ID is possible
    """

    throttle_time_ms: int = int32(versions="3+", ignorable=True)  # how long a quota delays the client
    topics: list[OffsetCommitResponseTopic] = array(OffsetCommitResponseTopic)
