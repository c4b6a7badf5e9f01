"""Reads one partition for a fetch request: the records, the bounds of the log, or the replica to read instead.

Kafka 0.10.2: core/.../server/ReplicaManager.scala (readFromLocalLog) · book 6.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from kafka_lite.cluster.partition import Partition
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.sendable import Part
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.fetch_data_info import FetchDataInfo
from kafka_lite.log.log import Log
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.server.fetch_params import FetchParams, FetchPartition, LogReadResult
from kafka_lite.server.quotas.replication_quota_manager import ReplicationQuotaManager
from kafka_lite.server.reading.read_replica_finder import ReadReplicaFinder

logger = logging.getLogger(__name__)

_NO_ERROR: Final = Errors.NONE  # looked up once: Python 3.11 takes as long as a call for that

GetLog = Callable[[TopicPartition, int], tuple[Partition, Replica, Log]]
"""``ReplicaManager.get_leader_log`` or ``get_local_log``: takes the client's leader epoch, and raises ApiError."""


class LogReader:
    """Reads from the leader's log, or from a follower's::

    reader                      reads from             up to
    ─────────────────────────   ────────────────────   ─────────────────────────────────────────────────────────
    follower                    the leader             the log end offset
    consumer, Fetch 0–10        the leader             the leader's high watermark, or last stable offset
    consumer, Fetch 11 and up   the leader, until it   the replica's high watermark, or last stable offset. It
                                prefers a follower     follows the leader's by one fetch
    tool (replica id -2)        any replica            the same
    """

    def __init__(
        self,
        get_leader_log: GetLog,
        get_local_log: GetLog,
        leader_quota: ReplicationQuotaManager,
        on_high_watermark: Callable[[TopicPartition], object],
        read_replicas: ReadReplicaFinder | None = None,
    ) -> None:
        """``on_high_watermark`` is called if a follower's fetch has moved it. ``read_replicas``: None without a
        ``replica.selector.class``."""
        self._get_leader_log = get_leader_log
        self._get_local_log = get_local_log
        self._quota = leader_quota
        self._on_high_watermark = on_high_watermark
        self._read_replicas = read_replicas

    def read(
        self,
        params: FetchParams,
        topic_partition: TopicPartition,
        asked: FetchPartition,
        limit_bytes: int,
        min_one_message: bool,
    ) -> LogReadResult:
        """One partition's part of the response, with its error. ``limit_bytes``: what is left of the response."""
        try:
            get_log = self._get_local_log if params.from_any_replica else self._get_leader_log
            partition, local, log = get_log(topic_partition, asked.current_leader_epoch)
        except ApiError as failure:
            # An empty list for what the broker does not know, as in Kafka, and null where a log could not be read.
            is_unknown = failure.error is Errors.UNKNOWN_TOPIC_OR_PARTITION
            return LogReadResult(failure.error, aborted_transactions=[] if is_unknown else None)
        max_offset = partition.fetchable_end_offset(local, params.from_follower, params.committed_only)
        end_before_read = log.log_end_offset if params.from_follower else 0
        try:
            preferred = self._preferred_read_replica(params, partition, asked)
            if preferred is not None:
                return _to_be_read_elsewhere(preferred, local, log)
            diverging = partition.diverging_epoch(log, asked.last_fetched_epoch, asked.fetch_offset)
            if diverging is not None:  # the reader has yet to truncate its log, so its position means nothing
                data = FetchDataInfo(LogOffsetMetadata(asked.fetch_offset))
            else:
                data = log.read(asked.fetch_offset, min(asked.max_bytes, limit_bytes), max_offset, min_one_message)
            if params.from_follower and diverging is None:
                self._note_follower_position(
                    params.replica_id, partition, asked, data.fetch_offset_metadata, end_before_read
                )
            last_stable = log.last_stable_offset(local.high_watermark.message_offset)
            aborted = log.aborted_transactions(data) if params.committed_only else None
        except ApiError as failure:
            # As in Kafka without the log start offset, even if the offset is below it: the client uses ListOffsets.
            return LogReadResult(failure.error)
        except Exception:
            logger.exception("Error processing fetch operation on partition %s", topic_partition)
            return LogReadResult(Errors.UNKNOWN_SERVER_ERROR)
        return LogReadResult(
            _NO_ERROR,
            local.high_watermark.message_offset,
            log.log_start_offset,
            data.fetch_offset_metadata,
            self._records_of(data, params, partition, asked.max_bytes <= limit_bytes),
            last_stable,
            aborted,
            diverging,
        )

    def _records_of(self, data: FetchDataInfo, params: FetchParams, partition: Partition, has_room: bool) -> Part:
        """The records that are sent. ``has_room``: the response still takes what the client wants of the partition.

        From version 3 on a client takes part of a batch, and nothing but that, for an error of the broker. Before, it
        told of a batch that does not fit into what the client wants of a partition; but not if others have used up the
        room.
        """
        is_held_back = data.first_entry_incomplete and not (params.hard_max_bytes and has_room)
        return b"" if is_held_back or self.should_leader_throttle(params, partition) else data.records

    def _preferred_read_replica(self, params: FetchParams, partition: Partition, asked: FetchPartition) -> int | None:
        client = params.client_metadata
        if self._read_replicas is None or client is None:
            return None
        return self._read_replicas.preferred_read_replica(partition, client, asked.fetch_offset)

    def should_leader_throttle(self, params: FetchParams, partition: Partition) -> bool:
        """Whether a follower gets no records now: its replica is throttled and not in sync, and the quota is used up.

        Followers in the ISR are never throttled: producers wait for them.
        """
        quota = self._quota
        if not params.from_follower or not quota.is_throttled(partition.topic_partition):
            return False
        is_in_sync = partition.get_replica(params.replica_id) in partition.isr
        return not is_in_sync and quota.is_quota_exceeded

    def _note_follower_position(
        self,
        replica_id: int,
        partition: Partition,
        asked: FetchPartition,
        position: LogOffsetMetadata,
        end_before_read: int,
    ) -> None:
        has_moved = partition.update_follower_log_end_offset(replica_id, position, end_before_read)
        follower = partition.get_replica(replica_id)
        if follower is not None:
            follower.log_start_offset = asked.log_start_offset
        if has_moved:
            self._on_high_watermark(partition.topic_partition)


def _to_be_read_elsewhere(broker_id: int, local: Replica, log: Log) -> LogReadResult:
    """The bounds of the log, and no records."""
    high_watermark = local.high_watermark.message_offset
    return LogReadResult(
        _NO_ERROR,
        high_watermark,
        log.log_start_offset,
        last_stable_offset=log.last_stable_offset(high_watermark),
        preferred_read_replica=broker_id,
    )
