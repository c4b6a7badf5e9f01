"""ListOffsets: offsets by timestamp, and the two ends of a log.

Kafka 0.10.2: clients/.../common/requests/ListOffsetRequest.java, ListOffsetResponse.java · book 4.1.2
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int8, int16, int32, int64, string


class ListOffsetsPartition(Struct):
    """The request for one partition."""

    partition_index: int = int32()
    # as the client knows it; -1 disables the check
    current_leader_epoch: int = int32(versions="4+", default=-1, ignorable=True)
    timestamp: int = int64()  # milliseconds; -1 the end of the log, -2 its start
    max_num_offsets: int = int32(versions="0", default=1)  # the most offsets to return, v0 only


class ListOffsetsTopic(Struct):
    """The request for one topic."""

    name: str = string()
    partitions: list[ListOffsetsPartition] = array(ListOffsetsPartition)


class ListOffsetsRequest(Request, api_key=ApiKey.LIST_OFFSETS, versions="0-10", flexible="6+"):
    """The timestamp to look up in each partition.

    Version 0 uses the modification times of segments; from version 1 on, the time index is searched.

        v1  one offset per partition, with its timestamp; max_num_offsets is removed
        v2  isolation_level
        v4  current_leader_epoch
        v6  compact lengths and tagged fields
        v7  timestamp -3: the record with the highest timestamp
        v8  timestamp -4: the start of the local log (tiered storage)
        v9  timestamp -5: the last offset in remote storage
        v10 timeout_ms, for a search in remote storage
    """

    replica_id: int = int32()
    isolation_level: int = int8(versions="2+")  # with 1, the end is the last stable offset
    topics: list[ListOffsetsTopic] = array(ListOffsetsTopic)
    timeout_ms: int = int32(versions="10+", ignorable=True)  # without remote storage there is nothing to wait for


class ListOffsetsPartitionResponse(Struct):
    """The offset of one partition."""

    partition_index: int = int32()
    error_code: int = int16()
    old_style_offsets: list[int] = array(int64, versions="0")  # newest first, v0 only
    timestamp: int = int64(versions="1+", default=-1)  # of the record at the offset, -1 for the ends
    offset: int = int64(versions="1+", default=-1)  # -1 where there is no record so late
    leader_epoch: int = int32(versions="4+", default=-1)  # of the record at the offset


class ListOffsetsTopicResponse(Struct):
    """The offsets of one topic."""

    name: str = string()
    partitions: list[ListOffsetsPartitionResponse] = array(ListOffsetsPartitionResponse)


class ListOffsetsResponse(Response, api_key=ApiKey.LIST_OFFSETS, versions="0-10", flexible="6+"):
    """The offset found in each partition.

    v1  timestamp and offset instead of a list of offsets
    v2  throttle_time_ms
    v3  a throttling broker responds at once and mutes the connection afterwards
    v4  leader_epoch
    v5  OFFSET_NOT_AVAILABLE is possible
    v6  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32(versions="2+", ignorable=True)  # how long a quota delays the client
    topics: list[ListOffsetsTopicResponse] = array(ListOffsetsTopicResponse)
