"""DescribeLogDirs: the logs in the directories of a broker.

Kafka 1.0: clients/.../common/requests/DescribeLogDirsRequest.java · book 6.1.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int16, int32, int64, string


class DescribableLogDirTopic(Struct):
    """Partitions of one topic."""

    topic: str = string()
    partitions: list[int] = array(int32)


class DescribeLogDirsRequest(Request, api_key=ApiKey.DESCRIBE_LOG_DIRS, versions="0-4", flexible="2+"):
    """The requested partitions; null for all.

    v2  compact lengths and tagged fields
    """

    topics: list[DescribableLogDirTopic] | None = array(DescribableLogDirTopic, nullable="0+")


class DescribeLogDirsPartition(Struct):
    """One log."""

    partition_index: int = int32()
    partition_size: int = int64()
    offset_lag: int = int64()  # how far a log that is being moved is behind the current one
    is_future_key: bool = boolean()  # whether it is the copy that a move is filling


class DescribeLogDirsTopic(Struct):
    """The logs of one topic."""

    name: str = string()
    partitions: list[DescribeLogDirsPartition] = array(DescribeLogDirsPartition)


class DescribeLogDirsResult(Struct):
    """A directory."""

    error_code: int = int16()
    log_dir: str = string()
    topics: list[DescribeLogDirsTopic] = array(DescribeLogDirsTopic)
    total_bytes: int = int64(versions="4+", default=-1, ignorable=True)  # -1 unknown
    usable_bytes: int = int64(versions="4+", default=-1, ignorable=True)  # -1 unknown


class DescribeLogDirsResponse(Response, api_key=ApiKey.DESCRIBE_LOG_DIRS, versions="0-4", flexible="2+"):
    """The directories, with the sizes of the logs.

    v1  a throttling broker responds at once and mutes the connection afterwards
    v2  compact lengths and tagged fields
    v3  an error_code for the whole request
    v4  total_bytes, usable_bytes: of the volume
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16(versions="3+", ignorable=True)
    results: list[DescribeLogDirsResult] = array(DescribeLogDirsResult)
