"""DeleteRecords: move the start of logs.

Kafka 0.11: clients/.../common/requests/DeleteRecordsRequest.java · book 6.1.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string


class DeleteRecordsPartition(Struct):
    """The records of one partition to delete."""

    partition_index: int = int32()
    offset: int = int64()  # -1 for the high watermark


class DeleteRecordsTopic(Struct):
    """The records of one topic to delete."""

    name: str = string()
    partitions: list[DeleteRecordsPartition] = array(DeleteRecordsPartition)


class DeleteRecordsRequest(Request, api_key=ApiKey.DELETE_RECORDS, versions="0-2", flexible="2+"):
    """For each partition, the offset below which records are deleted.

    v2  compact lengths and tagged fields
    """

    topics: list[DeleteRecordsTopic] = array(DeleteRecordsTopic)
    timeout_ms: int = int32()  # how long the broker may wait for completion


class DeleteRecordsPartitionResult(Struct):
    """The outcome for one partition."""

    partition_index: int = int32()
    low_watermark: int = int64()  # the lowest log start offset among the replicas
    error_code: int = int16()


class DeleteRecordsTopicResult(Struct):
    """The outcome for one topic."""

    name: str = string()
    partitions: list[DeleteRecordsPartitionResult] = array(DeleteRecordsPartitionResult)


class DeleteRecordsResponse(Response, api_key=ApiKey.DELETE_RECORDS, versions="0-2", flexible="2+"):
    """The new start offsets of the logs.

    v1  a throttling broker responds at once and mutes the connection afterwards
    v2  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    topics: list[DeleteRecordsTopicResult] = array(DeleteRecordsTopicResult)
