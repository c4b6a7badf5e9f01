"""AlterReplicaLogDirs: move replicas between the directories of a broker.

Kafka 1.1: clients/.../common/requests/AlterReplicaLogDirsRequest.java · book 6.1.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, string


class AlterReplicaLogDirTopic(Struct):
    """Partitions of one topic."""

    name: str = string()
    partitions: list[int] = array(int32)


class AlterReplicaLogDir(Struct):
    """A directory and the partitions to move there."""

    path: str = string()
    topics: list[AlterReplicaLogDirTopic] = array(AlterReplicaLogDirTopic)


class AlterReplicaLogDirsRequest(Request, api_key=ApiKey.ALTER_REPLICA_LOG_DIRS, versions="0-2", flexible="2+"):
    """For each directory, the partitions to move there.

    v2  compact lengths and tagged fields
    """

    dirs: list[AlterReplicaLogDir] = array(AlterReplicaLogDir)


class AlterReplicaLogDirPartitionResult(Struct):
    """The outcome for one partition."""

    partition_index: int = int32()
    error_code: int = int16()


class AlterReplicaLogDirTopicResult(Struct):
    """The outcome for one topic."""

    topic_name: str = string()
    partitions: list[AlterReplicaLogDirPartitionResult] = array(AlterReplicaLogDirPartitionResult)


class AlterReplicaLogDirsResponse(Response, api_key=ApiKey.ALTER_REPLICA_LOG_DIRS, versions="0-2", flexible="2+"):
    """Whether each move was started.

    v1  a throttling broker responds at once and mutes the connection afterwards
    v2  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    results: list[AlterReplicaLogDirTopicResult] = array(AlterReplicaLogDirTopicResult)
