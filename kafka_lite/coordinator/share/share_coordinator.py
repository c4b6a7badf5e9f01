"""The share coordinator: keeps the state of the share partitions whose keys are in its partitions of the state topic.

Kafka 4.1: share-coordinator/.../coordinator/share/ShareCoordinatorService.java · book 10.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TypeVar
from uuid import UUID

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_names import SHARE_GROUP_STATE_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.common.utils import java_abs, java_string_hash
from kafka_lite.coordinator.group.offsets_log import AppendResult, OffsetsLog
from kafka_lite.coordinator.led_partitions import LedPartitions
from kafka_lite.coordinator.share import share_coordinator_records as records
from kafka_lite.coordinator.share.all_results import AllResults
from kafka_lite.coordinator.share.persister import (
    PartitionAllData,
    PartitionErrorData,
    PartitionStateBatchData,
    PartitionStateData,
    PartitionStateSummaryData,
    Persister,
    Respond,
    SharePartitionKey,
)
from kafka_lite.coordinator.share.shard_writer import Records, ShardWriter
from kafka_lite.coordinator.share.share_coordinator_config import ShareCoordinatorConfig
from kafka_lite.coordinator.share.share_coordinator_metrics import ShareCoordinatorMetrics
from kafka_lite.coordinator.share.share_coordinator_shard import (
    PartitionExists,
    ShareCoordinatorShard,
    failed_read,
    failed_summary,
    unable_to,
)
from kafka_lite.coordinator.share.share_partition_state import Operation
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record_batch import RecordBatch

logger = logging.getLogger(__name__)

R = TypeVar("R")
DeleteRecords = Callable[[TopicPartition, int], object]
"""Moves the log start offset of a partition up to an offset. Raises ApiError."""


class ShareCoordinator(Persister):
    """Serves the share partitions of this broker's partitions of ``__share_group_state``.

    ::

        groupId:topicId:partition ─ hash ─▶ partition of __share_group_state     its leader coordinates the key

        partition's leader          coordinator                    __share_group_state
          │ read_state(epoch 5) ──▶ the leader is 5 ─────────────▶ update
          │ ◀── state               older leaders are fenced
          │ write_state ──────────▶ merge ───────────────────────▶ update, or after 500 of them a snapshot
          │ ◀── durable

    As a Persister it keeps only these; the others are NOT_COORDINATOR.
    """

    def __init__(
        self,
        config: ShareCoordinatorConfig,
        log: OffsetsLog,
        delete_records: DeleteRecords,
        partition_exists: PartitionExists,
        metrics: ShareCoordinatorMetrics,
        scheduler: Scheduler,
        time: Time,
    ) -> None:
        self.config = config
        self._metrics = metrics
        self._log = log
        self._delete_records = delete_records
        self._partition_exists = partition_exists
        self._scheduler = scheduler
        self._time = time
        self._num_partitions: int | None = None
        """None: not started."""
        self._pruned: dict[int, int] = {}
        """Up to where each partition's records have been deleted."""
        self._partitions = LedPartitions(
            SHARE_GROUP_STATE_TOPIC_NAME, log, config.load_buffer_size, self._new_shard, _replay, scheduler, time
        )

    def startup(self, num_partitions: int) -> None:
        """Set the number of partitions of the topic, and start to prune them periodically."""
        self._scheduler.startup()
        self._num_partitions = num_partitions
        prune_ms = self.config.topic_prune_interval_ms
        self._scheduler.schedule("share-group-state-prune", self.prune_records, prune_ms, prune_ms)
        cold_ms = self.config.cold_partition_snapshot_interval_ms
        self._scheduler.schedule("snapshot-cold-partitions", self.snapshot_cold_partitions, cold_ms, cold_ms)

    def stop(self) -> None:
        """Stop serving. Writes in progress are not responded to."""
        self._num_partitions = None
        self._partitions.close()
        self._scheduler.shutdown()

    # ── partitions come and go ────────────────────────────────────────────────────────────────────────────────────

    def partition_for(self, key: SharePartitionKey) -> int:
        """The partition of ``__share_group_state`` that stores the key. Raises COORDINATOR_NOT_AVAILABLE."""
        if self._num_partitions is None:
            raise Errors.COORDINATOR_NOT_AVAILABLE.exception("Share coordinator is not available.")
        return java_abs(java_string_hash(key.as_coordinator_key())) % self._num_partitions

    def on_election(self, partition: int, leader_epoch: int) -> None:
        """This broker leads a partition of the topic."""
        self._partitions.schedule_load(partition, leader_epoch)

    def on_resignation(self, partition: int, leader_epoch: int | None) -> None:
        """Another broker leads it, or none."""
        self._pruned.pop(partition, None)
        shard = self._partitions.unload(partition, leader_epoch)
        if shard is not None:
            shard.close()

    def on_topics_deleted(self, topic_ids: Collection[UUID]) -> None:
        """Forget the state of these topics."""
        for shard in self._partitions.all().values() if topic_ids else ():
            shard.delete_topics(topic_ids)

    def shards(self) -> list[ShareCoordinatorShard]:
        """The partitions of the topic that are served here."""
        return list(self._partitions.all().values())

    # ── the Persister's methods ───────────────────────────────────────────────────────────────────────────────────

    def initialize_state(
        self, group_id: str, partitions: Mapping[TopicIdPartition, PartitionStateData], respond: Respond
    ) -> None:
        """See Persister."""
        results = AllResults(partitions, respond)
        for partition, data in partitions.items():
            respond_one = results.sender(partition)
            shard = self._shard(group_id, partition, Operation.INITIALIZE, respond_one)
            if shard is not None:
                shard.initialize_state(SharePartitionKey(group_id, *partition), data, respond_one)

    def write_state(
        self, group_id: str, partitions: Mapping[TopicIdPartition, PartitionStateBatchData], respond: Respond
    ) -> None:
        """See Persister."""
        start_ms = self._time.hi_res_ms()

        def responded(errors: Mapping[TopicIdPartition, PartitionErrorData]) -> None:
            self._metrics.write_took(self._time.hi_res_ms() - start_ms)
            respond(errors)

        results = AllResults(partitions, responded)
        for partition, data in partitions.items():
            respond_one = results.sender(partition)
            shard = self._shard(group_id, partition, Operation.WRITE, respond_one)
            if shard is not None:
                self._metrics.written()
                shard.write_state(SharePartitionKey(group_id, *partition), data, respond_one)

    def delete_state(self, group_id: str, partitions: Collection[TopicIdPartition], respond: Respond) -> None:
        """See Persister."""
        results = AllResults(partitions, respond)
        for partition in dict.fromkeys(partitions):
            respond_one = results.sender(partition)
            shard = self._shard(group_id, partition, Operation.DELETE, respond_one)
            if shard is not None:
                shard.delete_state(SharePartitionKey(group_id, *partition), respond_one)

    def read_state(
        self,
        group_id: str,
        leader_epochs: Mapping[TopicIdPartition, int],
        respond: Callable[[Mapping[TopicIdPartition, PartitionAllData]], None],
    ) -> None:
        """See Persister."""
        results = AllResults(leader_epochs, respond)
        for partition, leader_epoch in leader_epochs.items():
            respond_one = results.sender(partition)
            shard = self._shard(group_id, partition, Operation.READ, _failing(respond_one, failed_read))
            if shard is not None:
                shard.read_state(SharePartitionKey(group_id, *partition), leader_epoch, respond_one)

    def read_summary(
        self,
        group_id: str,
        leader_epochs: Mapping[TopicIdPartition, int],
        respond: Callable[[Mapping[TopicIdPartition, PartitionStateSummaryData]], None],
    ) -> None:
        """See Persister."""
        results = AllResults(leader_epochs, respond)
        for partition in leader_epochs:
            respond_one = results.sender(partition)
            shard = self._shard(group_id, partition, Operation.READ_SUMMARY, _failing(respond_one, failed_summary))
            if shard is not None:
                shard.read_summary(SharePartitionKey(group_id, *partition), respond_one)

    def _shard(
        self,
        group_id: str,
        partition: TopicIdPartition,
        operation: Operation,
        refuse: Callable[[PartitionErrorData], None],
    ) -> ShareCoordinatorShard | None:
        """The shard of a key; None if it is not served here, which ``refuse`` is told."""
        try:
            return self._partitions.get(self.partition_for(SharePartitionKey(group_id, *partition)))
        except ApiError as failure:
            is_started = self._num_partitions is not None
            refuse(
                unable_to(operation, failure.error) if is_started else PartitionErrorData(failure.error, str(failure))
            )
            return None

    # ── the log ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _new_shard(self, partition: int) -> ShareCoordinatorShard:
        def new_writer(shard: ShareCoordinatorShard) -> ShardWriter:
            linger = None if self.config.append_linger_ms == 0 else partial(self._linger, shard)
            return ShardWriter(partial(self._append, partition, shard), linger)

        return ShareCoordinatorShard(self.config, self._partition_exists, self._time, new_writer)

    def _linger(self, shard: ShareCoordinatorShard, end: Callable[[], None]) -> None:
        def end_linger() -> None:
            with shard.lock:
                end()

        self._scheduler.schedule("share-coordinator-linger", end_linger, self.config.append_linger_ms)

    def _append(
        self,
        partition: int,
        shard: ShareCoordinatorShard,
        written: Records,
        on_appended: Callable[[AppendResult], None],
    ) -> None:
        """Append one batch once the shard's lock, which the caller holds, is free."""
        topic_partition = TopicPartition(SHARE_GROUP_STATE_TOPIC_NAME, partition)
        builder = MemoryRecordsBuilder(compression=self.config.compression_type)
        now_ms = self._time.milliseconds()
        for key, value in written:
            builder.append(now_ms, key, value)
        batch = bytearray(builder.build())

        def append() -> None:
            with self._partitions.appending(partition, shard) as is_current:
                if is_current:  # otherwise the shard is closed, and has responded
                    self._log.append_records(
                        self.config.write_timeout_ms,
                        -1,
                        True,
                        {topic_partition: batch},
                        lambda results: shard.lock.holding(on_appended)(results[topic_partition]),
                        AppendOrigin.COORDINATOR,
                    )

        shard.lock.defer(append)

    # ── periodically ──────────────────────────────────────────────────────────────────────────────────────────────

    def snapshot_cold_partitions(self) -> None:
        """Write snapshots of what has not changed for ``share.coordinator.cold.partition.snapshot.interval.ms``."""
        for shard in self._partitions.all().values():
            shard.snapshot_cold_partitions()

    def prune_records(self) -> None:
        """Delete the records that the snapshots have made redundant."""
        for partition, shard in self._partitions.all().items():
            offset = shard.last_redundant_offset()
            if offset is None or self._pruned.get(partition) == offset:
                continue
            topic_partition = TopicPartition(SHARE_GROUP_STATE_TOPIC_NAME, partition)
            try:
                self._delete_records(topic_partition, offset)
            except ApiError as failure:
                logger.error("Cannot delete the records of %s before offset %d: %s", topic_partition, offset, failure)
                continue
            self._pruned[partition] = offset
            self._metrics.pruned(topic_partition, offset)


def _failing(
    respond: Callable[[R], None], failed: Callable[[PartitionErrorData], R]
) -> Callable[[PartitionErrorData], None]:
    """Responds to an error in the shape of the operation's results."""
    return lambda failure: respond(failed(failure))


def _replay(shard: ShareCoordinatorShard, batch: RecordBatch) -> None:
    """Apply the records of a batch. A record that cannot be decoded is skipped."""
    if batch.is_control:
        return
    for record in batch.records():
        try:
            decoded = records.decode(bytes(record.key or b""), record.value)
        except SchemaError as failure:
            logger.error(
                "Skipping the record at offset %d of %s: %s", record.offset, SHARE_GROUP_STATE_TOPIC_NAME, failure
            )
            continue
        if decoded is None:
            logger.warning("Ignoring the record with an unknown key at offset %d", record.offset)
        else:
            shard.replay(decoded, record.offset)
