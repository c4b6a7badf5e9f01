"""OffsetFetch: the committed offsets of a consumer group.

Kafka 0.10.2: clients/.../common/requests/OffsetFetchRequest.java, OffsetFetchResponse.java · book 4.1.2
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int16, int32, int64, string, uuid_


class OffsetFetchRequestTopic(Struct):
    """Partitions of one topic."""

    name: str = string(versions="0-7")
    partition_indexes: list[int] = array(int32, versions="0-7")


class OffsetFetchRequestTopics(Struct):
    """Partitions of one topic."""

    name: str = string(versions="8-9", ignorable=True)
    topic_id: UUID = uuid_(versions="10+", ignorable=True)
    partition_indexes: list[int] = array(int32, versions="8+")


class OffsetFetchRequestGroup(Struct):
    """The request for one group."""

    group_id: str = string(versions="8+")
    member_id: str | None = string(versions="9+", nullable="9+", default=None, ignorable=True)
    member_epoch: int = int32(versions="9+", default=-1, ignorable=True)
    topics: list[OffsetFetchRequestTopics] | None = array(OffsetFetchRequestTopics, versions="8+", nullable="8+")


class OffsetFetchRequest(Request, api_key=ApiKey.OFFSET_FETCH, versions="0-10", flexible="6+"):
    """The partitions whose committed offsets are requested.

    Version 0 reads from ZooKeeper, later ones from the group's coordinator.

        v2  null for all partitions of the group
        v6  compact lengths and tagged fields
        v7  require_stable: an error for partitions with an open transaction
        v8  several groups at once
        v9  member_id and member_epoch (KIP-848)
        v10 topic_id in place of name
    """

    group_id: str = string(versions="0-7")
    topics: list[OffsetFetchRequestTopic] | None = array(OffsetFetchRequestTopic, versions="0-7", nullable="2-7")
    groups: list[OffsetFetchRequestGroup] = array(OffsetFetchRequestGroup, versions="8+")
    require_stable: bool = boolean(versions="7+")


class OffsetFetchResponsePartition(Struct):
    """The offset of one partition."""

    partition_index: int = int32(versions="0-7")
    committed_offset: int = int64(versions="0-7")  # -1 where none was committed
    committed_leader_epoch: int = int32(versions="5-7", default=-1, ignorable=True)
    metadata: str | None = string(versions="0-7", nullable="0-7")
    error_code: int = int16(versions="0-7")


class OffsetFetchResponseTopic(Struct):
    """The offsets of one topic."""

    name: str = string(versions="0-7")
    partitions: list[OffsetFetchResponsePartition] = array(OffsetFetchResponsePartition, versions="0-7")


class OffsetFetchResponsePartitions(Struct):
    """The offset of one partition."""

    partition_index: int = int32(versions="8+")
    committed_offset: int = int64(versions="8+")  # -1 where none was committed
    committed_leader_epoch: int = int32(versions="8+", default=-1, ignorable=True)
    metadata: str | None = string(versions="8+", nullable="8+")
    error_code: int = int16(versions="8+")


class OffsetFetchResponseTopics(Struct):
    """The offsets of one topic."""

    name: str = string(versions="8-9", ignorable=True)
    topic_id: UUID = uuid_(versions="10+", ignorable=True)
    partitions: list[OffsetFetchResponsePartitions] = array(OffsetFetchResponsePartitions, versions="8+")


class OffsetFetchResponseGroup(Struct):
    """The offsets of one group."""

    group_id: str = string(versions="8+")
    topics: list[OffsetFetchResponseTopics] = array(OffsetFetchResponseTopics, versions="8+")
    error_code: int = int16(versions="8+")


class OffsetFetchResponse(Response, api_key=ApiKey.OFFSET_FETCH, versions="0-10", flexible="6+"):
    """The committed offsets.

    v2  an error_code for the whole request
    v3  throttle_time_ms
    v4  a throttling broker responds at once and mutes the connection afterwards
    v5  committed_leader_epoch
    v6  compact lengths and tagged fields
    v7  UNSTABLE_OFFSET_COMMIT is possible
    v8  several groups at once
    v9  UNKNOWN_MEMBER_ID and STALE_MEMBER_EPOCH are possible
    v10 topic_id in place of name; UNKNOWN_TOPIC_ID is possible
    """

    throttle_time_ms: int = int32(versions="3+", ignorable=True)  # how long a quota delays the client
    topics: list[OffsetFetchResponseTopic] = array(OffsetFetchResponseTopic, versions="0-7")
    error_code: int = int16(versions="2-7", ignorable=True)
    groups: list[OffsetFetchResponseGroup] = array(OffsetFetchResponseGroup, versions="8+")
