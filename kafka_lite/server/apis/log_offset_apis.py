"""Requests about the offsets of logs: ListOffsets, OffsetForLeaderEpoch, DeleteRecords.

Kafka 0.10.2: core/.../server/KafkaApis.scala (handleOffsetRequest) · book 2.3.5
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from kafka_lite.cluster.partition import Partition
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_offset_search import (
    EARLIEST_LOCAL_TIMESTAMP,
    EARLIEST_TIMESTAMP,
    LATEST_TIERED_TIMESTAMP,
    LATEST_TIMESTAMP,
    MAX_TIMESTAMP,
)
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_02_list_offsets as list_offsets
from kafka_lite.protocol.messages import api_21_delete_records as delete_records
from kafka_lite.protocol.messages import api_23_offset_for_leader_epoch as epochs
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.fetch_params import DEBUGGING_CONSUMER_ID, READ_COMMITTED
from kafka_lite.server.replica_manager import ReplicaManager

FIRST_VERSION_OF_SPECIAL_TIMESTAMP = {
    EARLIEST_TIMESTAMP: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL_TIMESTAMP: 8,
    LATEST_TIERED_TIMESTAMP: 9,
}
"""Negative timestamps with a special meaning, and the first ListOffsets version with each."""
EARLIEST = (EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP)
ALL_VERSIONS = 2**15
FIRST_LIST_OFFSETS_VERSION_WITH_EPOCH = 4


class LogOffsetApis:
    """Handlers that read the logs that this broker leads. ``OffsetApis`` serves committed offsets."""

    def __init__(self, replica_manager: ReplicaManager) -> None:
        self._replicas = replica_manager

    # ── ListOffsets ───────────────────────────────────────────────────────────────────────────────────────────────

    def handle_list_offsets(self, request: Request, body: list_offsets.ListOffsetsRequest, respond: Respond) -> None:
        """Look up offsets by time. Version 0 returns base offsets of segments, like 0.8."""
        version = request.header.api_version
        named = Counter(TopicPartition(t.name, p.partition_index) for t in body.topics for p in t.partitions)
        topics = []
        for topic in body.topics:
            partitions = []
            for asked in topic.partitions:
                topic_partition = TopicPartition(topic.name, asked.partition_index)
                if version >= 1 and named[topic_partition] > 1:
                    result = list_offsets.ListOffsetsPartitionResponse(error_code=Errors.INVALID_REQUEST.code)
                else:
                    result = self._list_offsets(version, body, topic_partition, asked)
                result.partition_index = asked.partition_index
                partitions.append(result)
            topics.append(list_offsets.ListOffsetsTopicResponse(name=topic.name, partitions=partitions))
        respond(list_offsets.ListOffsetsResponse(topics=topics))

    def _list_offsets(
        self,
        version: int,
        body: list_offsets.ListOffsetsRequest,
        topic_partition: TopicPartition,
        asked: list_offsets.ListOffsetsPartition,
    ) -> list_offsets.ListOffsetsPartitionResponse:
        try:
            if version == 0:
                offsets = self._legacy_offsets(body.replica_id, topic_partition, asked)
                return list_offsets.ListOffsetsPartitionResponse(old_style_offsets=offsets)
            return self._offset_for_timestamp(body, topic_partition, asked, version)
        except ApiError as failure:
            return list_offsets.ListOffsetsPartitionResponse(error_code=failure.error.code)

    def _log_getter(self, replica_id: int) -> Callable[..., tuple[Partition, Replica, Log]]:
        """The function that finds a log: only a leader's, except for tools that look at each replica."""
        any_replica = replica_id == DEBUGGING_CONSUMER_ID
        return self._replicas.get_local_log if any_replica else self._replicas.get_leader_log

    def _legacy_offsets(
        self, replica_id: int, topic_partition: TopicPartition, asked: list_offsets.ListOffsetsPartition
    ) -> list[int]:
        """Base offsets of segments before a time, newest first; for consumers, only up to the high watermark."""
        get_log = self._log_getter(replica_id)
        _, leader, log = get_log(topic_partition)
        offsets = log.legacy_fetch_offsets_before(asked.timestamp, asked.max_num_offsets)
        if replica_id >= 0:
            return offsets
        high_watermark = leader.high_watermark.message_offset
        if any(offset > high_watermark for offset in offsets):
            return [high_watermark, *(offset for offset in offsets if offset < high_watermark)]
        return offsets

    def _offset_for_timestamp(
        self,
        body: list_offsets.ListOffsetsRequest,
        topic_partition: TopicPartition,
        asked: list_offsets.ListOffsetsPartition,
        version: int,
    ) -> list_offsets.ListOffsetsPartitionResponse:
        if asked.timestamp < LATEST_TIMESTAMP:
            first_version = FIRST_VERSION_OF_SPECIAL_TIMESTAMP.get(asked.timestamp, ALL_VERSIONS)
            if version < first_version:
                raise Errors.UNSUPPORTED_VERSION.exception(
                    f"version {version} does not support timestamp {asked.timestamp}"
                )
        get_log = self._log_getter(body.replica_id)
        partition, leader, log = get_log(topic_partition, asked.current_leader_epoch)
        committed_only = body.isolation_level == READ_COMMITTED
        readable = partition.fetchable_end_offset(leader, body.replica_id >= 0, committed_only)
        end = log.log_end_offset if readable is None else readable
        response = list_offsets.ListOffsetsPartitionResponse
        with_epoch = version >= FIRST_LIST_OFFSETS_VERSION_WITH_EPOCH
        if asked.timestamp == LATEST_TIMESTAMP:
            return response(offset=end, leader_epoch=partition.leader_epoch if with_epoch else -1)
        found = log.fetch_offset_by_timestamp(asked.timestamp)
        if found is None or (found.offset >= end and asked.timestamp not in EARLIEST):
            return response()
        leader_epoch = found.leader_epoch if with_epoch else -1
        return response(timestamp=found.timestamp, offset=found.offset, leader_epoch=leader_epoch)

    # ── DeleteRecords, OffsetForLeaderEpoch ───────────────────────────────────────────────────────────────────────

    def handle_delete_records(
        self,
        _request: Request,
        body: delete_records.DeleteRecordsRequest,
        respond: Respond,
    ) -> None:
        """Move log start offsets up, partition by partition."""
        topics = []
        for topic in body.topics:
            partitions = []
            for asked in topic.partitions:
                result = delete_records.DeleteRecordsPartitionResult(
                    partition_index=asked.partition_index, low_watermark=-1
                )
                try:
                    topic_partition = TopicPartition(topic.name, asked.partition_index)
                    result.low_watermark = self._replicas.delete_records(topic_partition, asked.offset)
                except ApiError as failure:
                    result.error_code = failure.error.code
                partitions.append(result)
            topics.append(delete_records.DeleteRecordsTopicResult(name=topic.name, partitions=partitions))
        respond(delete_records.DeleteRecordsResponse(topics=topics))

    def handle_offset_for_leader_epoch(
        self,
        _request: Request,
        body: epochs.OffsetForLeaderEpochRequest,
        respond: Respond,
    ) -> None:
        """Return where an epoch ended. Followers and consumers use it to detect truncation (KIP-101, KIP-320)."""
        topics = [
            epochs.OffsetForLeaderTopicResult(
                topic=topic.topic, partitions=[self._epoch_end(topic.topic, asked) for asked in topic.partitions]
            )
            for topic in body.topics
        ]
        respond(epochs.OffsetForLeaderEpochResponse(topics=topics))

    def _epoch_end(self, topic: str, asked: epochs.OffsetForLeaderPartition) -> epochs.EpochEndOffset:
        result = epochs.EpochEndOffset(partition=asked.partition, leader_epoch=-1, end_offset=-1)
        try:
            topic_partition = TopicPartition(topic, asked.partition)
            partition, _, log = self._replicas.get_leader_log(topic_partition, asked.current_leader_epoch)
            if asked.leader_epoch == partition.leader_epoch:
                result.leader_epoch, result.end_offset = asked.leader_epoch, log.log_end_offset
            else:
                result.leader_epoch, result.end_offset = log.end_offset_for_epoch(asked.leader_epoch)
        except ApiError as failure:
            result.error_code = failure.error.code
        return result
