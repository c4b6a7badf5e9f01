"""Copies partitions from their leader on another broker into the local logs.

Kafka 0.10.2: core/.../server/ReplicaFetcherThread.scala · book 6.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from kafka_lite.clients.abstract_fetcher_thread import AbstractFetcherThread, PartitionFetchState
from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.cluster.partition import Partition
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.log.log_append_info import UnexpectedAppendOffsetError
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.config.replica_fetch_config import ReplicaFetchConfig
from kafka_lite.server.quotas.replication_quota_manager import ReplicaQuota
from kafka_lite.server.replication.inter_broker_versions import leader_epochs_are_known, truncation_on_fetch_is_known
from kafka_lite.server.replication.leader_end_point import (
    UNDEFINED_EPOCH,
    EpochEnd,
    FetchPosition,
    LeaderEndPoint,
    ReplicaFetchRequest,
    ReplicaPartitionData,
)
from kafka_lite.server.replication.truncation import truncation_state

logger = logging.getLogger(__name__)


class ReplicaFetcherThread(AbstractFetcherThread[ReplicaFetchRequest, ReplicaPartitionData]):
    """Each turn truncates what must be truncated, then fetches::

        added ─▶ TRUNCATING ── OffsetForLeaderEpoch ─▶ FETCHING ── Fetch ─▶ append, HW = min(own LEO, leader's HW)
                  ▲       │ (the logs may differ below)   ▲                          │
                  └───────┘                               └──────────────────────────┘

    From protocol 2.7 on the leader compares the logs when it is fetched from (KIP-595), and the first state is left
    out, except for a log without epochs::

        added ─▶ FETCHING ── Fetch with the epoch of the last record ─┬─▶ append …
                  ▲                                                   └─▶ the logs diverge: truncate ─┐
                  └───────────────────────────────────────────────────────────────────────────────────┘

    A leader of 0.10 knows no epochs: then the logs were cut back to their high watermarks before, and nothing is
    truncated here.
    """

    def __init__(
        self,
        name: str,
        source_broker: BrokerEndPoint,
        config: ReplicaFetchConfig,
        leader: LeaderEndPoint,
        partition_of: Callable[[TopicPartition], Partition | None],
        log_manager: LogManager,
        *,
        registry: MetricsRegistry,
        time: Time,
        quota: ReplicaQuota,
        on_high_watermark: Callable[[TopicPartition], object] = lambda _partition: None,
    ) -> None:
        """``on_high_watermark`` is called for each partition whose high watermark has moved: consumers may wait for it
        here (KIP-392)."""
        super().__init__(name, name, source_broker, config.backoff_ms, registry=registry, time=time)
        self._config = config
        self._leader = leader
        self._partition_of = partition_of
        self._log_manager = log_manager
        self._quota = quota
        self._on_high_watermark = on_high_watermark
        self._moved: list[TopicPartition] = []
        """Partitions whose high watermark has moved in this turn."""
        self._truncating: set[TopicPartition] = set()
        self._not_comparable: set[TopicPartition] = set()
        """Partitions of which the leader does not know the newest epoch, so that it cannot compare the logs."""

    # ── partitions ─────────────────────────────────────────────────────────────────────────────────────────────────

    def add_partitions(self, partitions_and_offsets: Mapping[TopicPartition, int]) -> None:
        """Fetch more partitions, once their logs have been truncated."""
        with self._partition_map_cond:
            if leader_epochs_are_known(self._config.protocol):
                added = {p for p in partitions_and_offsets if p not in self._partition_states}
                self._truncating |= {p for p in added if not self._leader_compares or not self._has_epochs(p)}
            super().add_partitions(partitions_and_offsets)

    @property
    def _leader_compares(self) -> bool:
        return truncation_on_fetch_is_known(self._config.protocol)

    def _has_epochs(self, topic_partition: TopicPartition) -> bool:
        partition = self._partition_of(topic_partition)
        log = partition.log if partition is not None else None
        return log is not None and log.latest_epoch != UNDEFINED_EPOCH

    def remove_partitions(self, partitions: Iterable[TopicPartition]) -> None:
        """Stop fetching partitions. Once this returns, none of them is being truncated or appended to."""
        removed = list(partitions)
        with self._partition_map_cond:
            self._truncating.difference_update(removed)
            self._not_comparable.difference_update(removed)
            super().remove_partitions(removed)

    def _local(self, partition: TopicPartition) -> tuple[Partition, Replica, Log]:
        """The partition with its local replica and log. Raises KAFKA_STORAGE_ERROR if the log has gone."""
        found = self._partition_of(partition)
        replica = found.get_replica() if found is not None else None
        if found is None or replica is None or replica.log is None:
            raise Errors.KAFKA_STORAGE_ERROR.exception(f"this broker has no log of {partition}")
        return found, replica, replica.log

    # ── the loop ───────────────────────────────────────────────────────────────────────────────────────────────────

    def do_work(self) -> None:
        """Truncate the logs of new partitions; then send one fetch request."""
        self._maybe_truncate()
        super().do_work()
        moved, self._moved = self._moved, []
        for topic_partition in moved:  # without the lock: their consumers read now
            self._on_high_watermark(topic_partition)

    def build_fetch_request(
        self, partitions: Sequence[tuple[TopicPartition, PartitionFetchState]]
    ) -> ReplicaFetchRequest:
        """A request for the partitions that are neither truncating nor delayed nor throttled."""
        now_ms = self._time.hi_res_ms()
        positions = {}
        for topic_partition, state in partitions:
            if not state.is_active(now_ms) or topic_partition in self._truncating:
                continue
            if not self._should_throttle(topic_partition):
                partition, _, log = self._local(topic_partition)
                may_diverge = self._leader_compares and topic_partition not in self._not_comparable
                last_epoch = log.latest_epoch if may_diverge else UNDEFINED_EPOCH
                positions[topic_partition] = FetchPosition(
                    state.offset,
                    log.log_start_offset,
                    partition.leader_epoch,
                    last_epoch,
                    log.topic_id or ZERO_UUID,
                )
        return ReplicaFetchRequest(positions)

    def _should_throttle(self, partition: TopicPartition) -> bool:
        """Whether the replica is throttled, the quota is used up, and the last fetch did not reach the leader's HW."""
        quota = self._quota
        if not quota.is_throttled(partition) or self.fetcher_lag_stats.is_replica_in_sync(partition):
            return False
        return quota.is_quota_exceeded

    def fetch(self, request: ReplicaFetchRequest) -> list[tuple[TopicPartition, ReplicaPartitionData]]:
        """Send the request to the leader."""
        return self._leader.fetch(request)

    def process_response(
        self, partition: TopicPartition, state: PartitionFetchState, data: ReplicaPartitionData
    ) -> bool:
        """Truncate a log that diverges, else handle the records or the error; false if the partition has failed.

        Nothing is done for a partition that was added again since, and must be truncated first. A leader that writes an
        old message format has forgotten all epochs, so that the offset is out of range whatever it is: then the log is
        truncated as with a leader that does not compare. (Kafka asks the same again and again.)
        """
        if partition in self._truncating:
            return True
        if data.error is Errors.NONE and data.diverging_epoch is not None and self._leader_compares:
            return self._truncate_diverging(partition, data.diverging_epoch)
        is_handled = super().process_response(partition, state, data)
        if data.error is Errors.OFFSET_OUT_OF_RANGE and self._leader_compares and self._has_epochs(partition):
            self._not_comparable.add(partition)
            self._truncating.add(partition)
        elif data.error is Errors.NONE and data.records.valid_bytes:
            self._not_comparable.discard(partition)
        return is_handled

    def _truncate_diverging(self, topic_partition: TopicPartition, end: EpochEnd) -> bool:
        try:
            _, replica, log = self._local(topic_partition)
            high_watermark = replica.high_watermark.message_offset
            where = truncation_state(end, log.log_end_offset, high_watermark, log.end_offset_for_epoch)
            logger.info("Truncating partition %s to %d: the leader's log has %s", topic_partition, where.offset, end)
            self._cut({topic_partition: where.offset})
        except ApiError as error:
            logger.error("Failed to truncate %s: %s", topic_partition, error)
            return False
        return True

    def process_partition_data(self, partition: TopicPartition, fetch_offset: int, data: ReplicaPartitionData) -> None:
        """Append the records; the high watermark and the start of the log follow the leader's.

        If the partition is throttled, the valid bytes are recorded in the quota. Raises RuntimeError for records that
        do not begin at the end of the log.
        """
        _, replica, log = self._local(partition)
        if fetch_offset != log.log_end_offset:
            raise RuntimeError(f"Offset mismatch for {partition}: fetched {fetch_offset}, log end {log.log_end_offset}")
        self._append(log, data.records.buffer[: data.records.valid_bytes])
        if self._quota.is_throttled(partition):
            self._quota.record(data.records.valid_bytes)
        self._update_high_watermark(replica, min(log.log_end_offset, data.high_watermark))
        if data.log_start_offset > log.log_start_offset:
            log.maybe_increment_log_start_offset(min(data.log_start_offset, log.log_end_offset))

    def _update_high_watermark(self, replica: Replica, offset: int) -> None:
        if offset != replica.high_watermark.message_offset:
            replica.high_watermark = LogOffsetMetadata(offset)
            self._moved.append(replica.topic_partition)

    def _append(self, log: Log, records: Buffer) -> None:
        """Append records, even if the first batch begins before the start of the log.

        DeleteRecords can move the leader's log start into a batch. A follower that starts there gets the whole batch.
        """
        try:
            log.append_as_follower(records)
        except UnexpectedAppendOffsetError as error:
            is_empty = log.log_start_offset == log.log_end_offset
            if not is_empty or not error.is_within_first_batches(log.log_end_offset):
                raise
            logger.info("%s starts within a batch: truncating to its first offset %d", log.name, error.first_offset)
            self._log_manager.truncate_fully_and_start_at(log.topic_partition, error.first_offset)
            log.append_as_follower(records)

    def handle_offset_out_of_range(self, partition: TopicPartition) -> int:
        """The follower is beyond the leader's end (an unclean election), or before its start.

        ::

            follower beyond the end    |─────────────────|    is cut at the leader's end
            leader                         |─────────|
            follower before the start  |─|                    is emptied, and starts where the leader's log does
        """
        _, replica, log = self._local(partition)
        leader_end = self._leader.latest_offset(partition)
        if leader_end < log.log_end_offset:
            logger.warning(
                "Replica %d for partition %s reset its fetch offset from %d to current leader %d's latest offset %d",
                *(self._config.broker_id, partition, log.log_end_offset, self.source_broker.id, leader_end),
            )
            self._log_manager.truncate_to({partition: leader_end})
        else:
            leader_start = self._leader.earliest_offset(partition)
            if leader_start > log.log_end_offset:
                self._log_manager.truncate_fully_and_start_at(partition, leader_start)
        self._limit_high_watermark(replica, log)
        return log.log_end_offset

    def handle_partitions_with_errors(self, partitions: Collection[TopicPartition]) -> None:
        """Leave them alone for ``replica.fetch.backoff.ms``; the controller may be about to name another leader."""
        self.delay_partitions(partitions, self._config.backoff_ms)

    def wake_up(self) -> None:
        """End a backoff, or the wait for a response."""
        super().wake_up()
        self._leader.abort()

    def on_exit(self) -> None:
        """Close the connection."""
        self._leader.close()

    # ── truncation ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _maybe_truncate(self) -> None:
        """Ask the leader where the epochs of truncating partitions end, and cut the logs there."""
        with self._partition_map_cond:
            epochs = self._epochs_to_ask_for()
        if not epochs:
            return
        try:
            ends = self._leader.epoch_ends(epochs)
        except (KafkaError, OSError) as error:
            if self.is_running:
                logger.warning("Error when asking broker %s for the ends of epochs: %s", self.source_broker, error)
                self.delay_partitions(epochs, self._config.backoff_ms)
            return
        with self._partition_map_cond:
            self._truncate(epochs, ends)

    def _epochs_to_ask_for(self) -> dict[TopicPartition, tuple[int, int]]:
        """For each truncating partition the leader's epoch and the newest epoch in the log.

        A log without epochs is cut back to its high watermark right away.
        """
        now_ms = self._time.hi_res_ms()
        asked: dict[TopicPartition, tuple[int, int]] = {}
        for topic_partition in sorted(self._truncating):
            state = self._partition_states.state_value(topic_partition)
            if state is None or not state.is_active(now_ms):
                continue
            partition, replica, log = self._local(topic_partition)
            if log.latest_epoch != UNDEFINED_EPOCH:
                asked[topic_partition] = (partition.leader_epoch, log.latest_epoch)
            else:
                self._cut({topic_partition: min(replica.high_watermark.message_offset, log.log_end_offset)})
                self._truncating.discard(topic_partition)
        return asked

    def _truncate(
        self, epochs: Mapping[TopicPartition, tuple[int, int]], ends: Mapping[TopicPartition, EpochEnd]
    ) -> None:
        offsets: dict[TopicPartition, int] = {}
        completed: set[TopicPartition] = set()
        failed: set[TopicPartition] = set()
        for topic_partition in sorted(self._truncating & ends.keys()):
            partition, replica, log = self._local(topic_partition)
            if (partition.leader_epoch, log.latest_epoch) != epochs[topic_partition]:
                continue  # added again since, under another leader epoch: ask once more
            end = ends[topic_partition]
            if end.error is not Errors.NONE:
                who, error = self.source_broker, end.error.name
                logger.info("%s does not say where epochs of %s end: %s", who, topic_partition, error)
                failed.add(topic_partition)
                continue
            high_watermark = replica.high_watermark.message_offset
            state = truncation_state(end, log.log_end_offset, high_watermark, log.end_offset_for_epoch)
            offsets[topic_partition] = state.offset
            if state.completed:
                completed.add(topic_partition)
        self._cut(offsets)
        self._truncating -= completed
        self.delay_partitions(failed, self._config.backoff_ms)

    def _cut(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Truncate logs, and continue to fetch where they end."""
        self._log_manager.truncate_to(offsets)
        for topic_partition in offsets:
            _, replica, log = self._local(topic_partition)
            self._limit_high_watermark(replica, log)
            self._partition_states.update_and_move_to_end(topic_partition, PartitionFetchState(log.log_end_offset))

    @staticmethod
    def _limit_high_watermark(replica: Replica, log: Log) -> None:
        if replica.high_watermark.message_offset > log.log_end_offset:
            replica.high_watermark = LogOffsetMetadata(log.log_end_offset)
