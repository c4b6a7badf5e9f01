"""DescribeLogDirs and AlterReplicaLogDirs: the logs in the log directories of a broker, and moving them.

Kafka 1.1: core/.../server/KafkaApis.scala (handleDescribeLogDirsRequest, handleAlterReplicaLogDirsRequest), KIP-113;
0.10 has none · book 6.2.1
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path

from kafka_lite.common.errors import Errors
from kafka_lite.common.process.file_names import displayed
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_35_describe_log_dirs as log_dirs
from kafka_lite.protocol.messages.api_34_alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.replica_manager import ReplicaManager

logger = logging.getLogger(__name__)


class LogDirApis:
    """The handlers of requests about log directories. DescribeLogDirs shows how far a move is."""

    def __init__(self, directories: Sequence[str], replica_manager: ReplicaManager) -> None:
        """``directories``: the configured ones (``log.dirs``)."""
        self._directories = directories
        self._replicas = replica_manager

    def handle_alter_replica_log_dirs(
        self, _request: Request, body: AlterReplicaLogDirsRequest, respond: Respond
    ) -> None:
        """Start the moves; respond at once."""
        results: dict[TopicPartition, Errors] = {}
        for directory in body.dirs:
            partitions = [TopicPartition(topic.name, index) for topic in directory.topics for index in topic.partitions]
            results |= self._replicas.log_dir_moves.alter(directory.path, partitions)
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

    def handle_describe_log_dirs(
        self,
        _request: Request,
        body: log_dirs.DescribeLogDirsRequest,
        respond: Respond,
    ) -> None:
        """Return the size of each partition by log directory (KIP-113), and the free space (KIP-827)."""
        wanted = None
        if body.topics is not None:
            wanted = {TopicPartition(topic.topic, index) for topic in body.topics for index in topic.partitions}
        results = [self._describe_log_dir(Path(directory), wanted) for directory in self._directories]
        respond(log_dirs.DescribeLogDirsResponse(results=results))

    def _describe_log_dir(self, directory: Path, wanted: set[TopicPartition] | None) -> log_dirs.DescribeLogDirsResult:
        result = log_dirs.DescribeLogDirsResult(log_dir=displayed(directory.absolute()))
        manager = self._replicas.log_manager
        if directory.absolute() not in {Path(live).absolute() for live in manager.live_log_dirs}:
            result.error_code = Errors.KAFKA_STORAGE_ERROR.code
            return result
        try:
            usage = shutil.disk_usage(directory)
        except OSError as failure:
            logger.warning("Cannot tell the size of log directory %s: %s", directory, failure)
            result.error_code = Errors.KAFKA_STORAGE_ERROR.code
            return result
        result.total_bytes, result.usable_bytes = usage.total, usage.free
        by_topic: dict[str, log_dirs.DescribeLogDirsTopic] = {}
        for log in (*manager.all_logs(), *manager.future_logs.all()):
            topic, index = log.topic_partition
            if log.dir.parent.absolute() != directory.absolute():
                continue
            if wanted is not None and log.topic_partition not in wanted:
                continue
            is_future = log is manager.future_logs.get(log.topic_partition)
            described = log_dirs.DescribeLogDirsPartition(
                partition_index=index,
                partition_size=log.size,
                offset_lag=self._future_lag(log) if is_future else self._offset_lag(log.topic_partition),
                is_future_key=is_future,
            )
            by_topic.setdefault(topic, log_dirs.DescribeLogDirsTopic(name=topic)).partitions.append(described)
        result.topics = list(by_topic.values())
        return result

    def _future_lag(self, copy: Log) -> int:
        """How far the copy of a log that is being moved is behind the log."""
        log = self._replicas.log_manager.get_log(copy.topic_partition)
        return max(0, log.log_end_offset - copy.log_end_offset) if log is not None else 0

    def _offset_lag(self, topic_partition: TopicPartition) -> int:
        """How far the log is behind the high watermark: 0 unless a replica was just reassigned."""
        partition = self._replicas.get_partition(topic_partition)
        replica = partition.get_replica() if partition is not None else None
        if replica is None:
            return 0
        return max(0, replica.high_watermark.message_offset - replica.log_end_offset.message_offset)
