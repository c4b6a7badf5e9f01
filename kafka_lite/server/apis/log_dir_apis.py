"""AlterReplicaLogDirs: moving replicas between the log directories of a broker.

Kafka 1.1: core/.../server/KafkaApis.scala (handleAlterReplicaLogDirsRequest), KIP-113; 0.10 has none · book 6.2.1
"""

from __future__ import annotations

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages.api_34_alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.replication.replica_alter_log_dirs import ReplicaAlterLogDirsManager


class LogDirApis:
    """The handler of AlterReplicaLogDirs. DescribeLogDirs shows how far a move is."""

    def __init__(self, moves: ReplicaAlterLogDirsManager) -> None:
        self._moves = moves

    def handle_alter_replica_log_dirs(
        self, _request: Request, body: AlterReplicaLogDirsRequest, respond: Respond
    ) -> None:
        """Start the moves; respond at once."""
        results: dict[TopicPartition, Errors] = {}
        for directory in body.dirs:
            partitions = [TopicPartition(topic.name, index) for topic in directory.topics for index in topic.partitions]
            results |= self._moves.alter(directory.path, partitions)
        topics: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
        for (topic, index), error in results.items():
            result = AlterReplicaLogDirPartitionResult(partition_index=index, error_code=error.code)
            topics.setdefault(topic, []).append(result)
        respond(
            AlterReplicaLogDirsResponse(
                results=[
                    AlterReplicaLogDirTopicResult(topic_name=topic, partitions=rows) for topic, rows in topics.items()
                ]
            )
        )
