"""All groups of this broker: cached in memory, and stored in ``__consumer_offsets``.

Kafka 0.10.2: core/.../coordinator/GroupMetadataManager.scala · book 3.5.4, 3.5.5, 7.2.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.common.utils import java_abs, java_string_hash
from kafka_lite.coordinator.group import group_metadata_records as group_records
from kafka_lite.coordinator.group.group_config import OffsetConfig
from kafka_lite.coordinator.group.group_coordinator_metrics import GroupCoordinatorMetrics
from kafka_lite.coordinator.group.group_loader import GroupLoader, batches_of
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_records_appender import GroupRecordsAppender
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.group_change import GroupChange
from kafka_lite.coordinator.group.modern.group_writer import GroupWriter, Records
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from kafka_lite.coordinator.group.offset_cache import OffsetCache
from kafka_lite.coordinator.group.offsets_log import (
    COMMIT_ERRORS,
    COMMIT_POLL_MS,
    GROUP_ERRORS,
    LOAD_RETRY_MS,
    AppendResult,
    OffsetsLog,
    uncommitted_end,
)
from kafka_lite.log.producers.verification_state_entry import VerificationGuard

logger = logging.getLogger(__name__)

Offsets = Mapping[TopicPartition, OffsetAndMetadata]
GroupCallback = Callable[[GroupMetadata], None]
OffsetsSelector = Callable[[GroupMetadata], Offsets]
"""Takes offsets out of a group's cache, and returns them."""


class GroupMetadataManager:
    """The groups whose partitions of ``__consumer_offsets`` this broker leads.

    ::

        group id ─ hash ─▶ partition of __consumer_offsets        its leader coordinates the group

        key                             value (null deletes it)
        v1  group, topic, partition  →  offset, metadata, timestamps                  one for each commit
        v2  group                    →  generation, protocol, leader, members and their assignments

    The topic is compacted and keeps the last record of each key: the log is the state, and a new leader reads it from
    the beginning. Until that is done (``loading``) its groups are not available. Records that belong together are
    appended as one batch: the offsets of one commit, the tombstones of one group.
    """

    def __init__(self, config: OffsetConfig, offsets_log: OffsetsLog, scheduler: Scheduler, time: Time) -> None:
        self.config = config
        self.metrics = GroupCoordinatorMetrics()
        self._log = offsets_log
        self._scheduler = scheduler
        self._time = time
        self._groups: dict[str, GroupMetadata] = {}
        self._lock = threading.Lock()  # guards the maps and sets below, and insertions into _groups
        self._loading: dict[int, int] = {}
        """Partition -> the epoch of the election for which it is being loaded."""
        self._owned: set[int] = set()
        self._epochs: dict[int, int] = {}
        self._open_groups: dict[int, set[str]] = {}
        """The groups with pending offsets of a transaction, by producer id."""
        self._num_partitions = config.topic_num_partitions
        self._shutting_down = threading.Event()
        self._appender = GroupRecordsAppender(config, offsets_log, time, self.topic_partition_for)

    def startup(self, num_partitions: int, *, expire: bool = True) -> None:
        """Set the number of partitions of ``__consumer_offsets``, and start to delete expired offsets periodically."""
        self._num_partitions = num_partitions
        self._scheduler.startup()
        if expire:
            interval_ms = self.config.retention_check_interval_ms
            self._scheduler.schedule(
                "delete-expired-group-metadata", self.cleanup_expired_offsets, interval_ms, interval_ms
            )

    def shutdown(self) -> None:
        """Stop loading partitions and expiring offsets."""
        self._shutting_down.set()
        self._scheduler.shutdown()

    # ── the cache ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def current_groups(self) -> list[GroupMetadata]:
        """All groups."""
        with self._lock:
            return list(self._groups.values())

    def get_group(self, group_id: str) -> GroupMetadata | None:
        """The group; None if it is not in the cache."""
        return self._groups.get(group_id)

    def get_or_create_group(self, group_id: str) -> GroupMetadata:
        """The group, created if it is not in the cache."""
        with self._lock:
            group = self._groups.get(group_id)
            if group is None:
                group = self._groups[group_id] = GroupMetadata(group_id, self._time)
            return group

    def partition_for(self, group_id: str) -> int:
        """The partition of ``__consumer_offsets`` that stores the group."""
        return java_abs(java_string_hash(group_id)) % self._num_partitions

    def topic_partition_for(self, group_id: str) -> TopicPartition:
        """The same, with the topic."""
        return TopicPartition(GROUP_METADATA_TOPIC_NAME, self.partition_for(group_id))

    def is_group_local(self, group_id: str) -> bool:
        """Whether this broker coordinates the group."""
        return self.partition_for(group_id) in self._owned

    def is_group_loading(self, group_id: str) -> bool:
        """Whether this broker is loading the partition that stores the group."""
        return self.partition_for(group_id) in self._loading

    @property
    def is_loading(self) -> bool:
        """Whether any partition is being read."""
        return bool(self._loading)

    # ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def store_group(
        self, group: GroupMetadata, assignment: Mapping[str, bytes], on_stored: Callable[[Errors], None]
    ) -> None:
        """Write the generation and its assignment. Must be called with the group's lock held. The append runs once the
        lock is free, and ``on_stored`` is called with the lock held again."""
        record = self.group_record(group, assignment)
        if group.writer is not None and not group.writer.is_idle:
            # The records of another kind that the group had must come first.
            change = GroupChange(ConsumerGroup(group.group_id))
            change.others.append(record)
            group.writer.write(change, on_stored)
            return

        def on_appended(result: AppendResult) -> None:
            error = GROUP_ERRORS.get(result.error, result.error)
            if error is not Errors.NONE:
                logger.error("Cannot store group %s: %s", group.group_id, result.error.name)
            with group.lock:
                on_stored(error)

        self._appender.append_for_group(group, [record], on_appended)

    def group_record(self, group: GroupMetadata, assignment: Mapping[str, bytes]) -> tuple[bytes, bytes]:
        """Key and value of the generation with its assignment."""
        value = group_records.group_metadata_value(group, assignment, self.config.inter_broker_protocol_version)
        return group_records.group_metadata_key(group.group_id), value

    def writer_of(self, group: GroupMetadata) -> GroupWriter:
        """The writer of a group of KIP-848. Must be called with the group's lock held."""

        def append(records: Records, on_written: Callable[[AppendResult], None]) -> None:
            self._appender.append_for_group(group, records, group.lock.holding(on_written))

        group.writer = group.writer or GroupWriter(append)
        return group.writer

    def store_offsets(
        self,
        group: GroupMetadata,
        offsets: Offsets,
        respond: Callable[[Mapping[TopicPartition, Errors]], None],
        producer: ProducerIdAndEpoch | None = None,
        verification_guard: VerificationGuard | None = None,
    ) -> None:
        """Write offsets, and cache them once they are in the log. Must be called with the group's lock held.

        A producer's offsets are written as part of its transaction, and stay pending until its marker is in the log;
        ``verification_guard`` is that of the transaction's verification.
        An offset whose metadata is too long is refused by itself.
        """
        too_large = {tp for tp, offset in offsets.items() if len(offset.metadata) > self.config.max_metadata_size}
        accepted = {tp: offset for tp, offset in offsets.items() if tp not in too_large}

        def respond_with(error: Errors) -> None:
            respond({tp: Errors.OFFSET_METADATA_TOO_LARGE if tp in too_large else error for tp in offsets})

        if not accepted:
            respond_with(Errors.OFFSET_METADATA_TOO_LARGE)
            return
        records = self._offset_records(group.group_id, accepted)
        cache = group.offsets
        if producer is None:
            cache.prepare_commit(accepted)
        else:
            cache.prepare_txn_commit(producer.producer_id, accepted)
            self._add_open_groups([group])

        def on_appended(result: AppendResult) -> None:
            with group.lock:
                if result.error is Errors.NONE:
                    self.metrics.committed()
                if producer is None:
                    _end_commit(cache, accepted, result)
                else:
                    _end_txn_commit(cache, producer.producer_id, accepted, result)
            respond_with(COMMIT_ERRORS.get(result.error, result.error))

        self._appender.append_for_group(group, records, on_appended, producer, verification_guard)

    # ── transactions ──────────────────────────────────────────────────────────────────────────────────────────────

    def _add_open_groups(self, groups: Iterable[GroupMetadata]) -> None:
        with self._lock:
            for group in groups:
                for producer_id in group.offsets.producers_in_txn:
                    self._open_groups.setdefault(producer_id, set()).add(group.group_id)

    def handle_txn_completion(self, producer_id: int, partitions: Collection[int], *, commit: bool) -> None:
        """A producer's marker is in partitions of ``__consumer_offsets``: its offsets in their groups are decided."""
        with self._lock:
            if not self._loading.keys().isdisjoint(partitions):
                # The loader may have read its last batch before the marker was appended.
                task = lambda: self.handle_txn_completion(producer_id, partitions, commit=commit)  # noqa: E731
                self._scheduler.schedule(f"handleTxnCompletion-{producer_id}", task, COMMIT_POLL_MS)
                return
            open_groups = self._open_groups.get(producer_id, set())
            ended = {group_id for group_id in open_groups if self.partition_for(group_id) in partitions}
            open_groups -= ended
            if not open_groups:
                self._open_groups.pop(producer_id, None)
            groups = [group for group_id in ended if (group := self._groups.get(group_id)) is not None]
        for group in groups:
            with group.lock:
                group.offsets.complete_txn(producer_id, commit=commit)

    def _offset_records(self, group_id: str, offsets: Offsets) -> list[tuple[bytes, bytes | None]]:
        version = self.config.inter_broker_protocol_version
        return [
            (
                group_records.offset_commit_key(group_id, topic_partition),
                group_records.offset_commit_value(offset, version),
            )
            for topic_partition, offset in offsets.items()
        ]

    # ── forgetting ────────────────────────────────────────────────────────────────────────────────────────────────

    def cleanup_expired_offsets(self) -> None:
        """Delete expired offsets, and groups that have nothing left."""
        now_ms = self._time.milliseconds()
        removed = self.cleanup_group_metadata(
            self.current_groups, lambda group: group.remove_expired_offsets(now_ms, self.config.retention_ms)
        )
        self.metrics.expired(removed)
        if removed:
            logger.info("Removed %d expired offsets in %d ms", removed, self._time.milliseconds() - now_ms)

    def cleanup_group_metadata(self, groups: Iterable[GroupMetadata], select: OffsetsSelector) -> int:
        """Take offsets out of groups, and groups without any out of the cache; returns the number of offsets.

        Tombstones are appended to the log, and nothing waits for them: a broker that loses them expires the same
        offsets again.
        """
        removed = 0
        for group in groups:
            with group.lock:
                offsets = select(group)
                if group.is_unused:
                    logger.info("Group %s transitioned to Dead in generation %d", group.group_id, group.generation_id)
                    group.transition_to(GroupState.DEAD)
                tombstones = [group_records.offset_commit_key(group.group_id, tp) for tp in offsets]
                if group.is_in(GroupState.DEAD) and self._remove(group):
                    tombstones += group_records.group_keys(group)
                if tombstones:
                    self._appender.append_for_group(
                        group, [(key, None) for key in tombstones], _log_failure(group.group_id)
                    )
            removed += len(offsets)
        return removed

    def _remove(self, group: GroupMetadata) -> bool:
        """Take the group out of the cache; false if it is not there any more."""
        with self._lock:
            if self._groups.get(group.group_id) is not group:
                return False
            del self._groups[group.group_id]
            return True

    # ── partitions come and go ────────────────────────────────────────────────────────────────────────────────────

    def schedule_load(self, partition: int, coordinator_epoch: int, on_group_loaded: GroupCallback) -> None:
        """Load the groups of a partition that this broker now leads, in the background."""
        self._scheduler.schedule(
            f"{GROUP_METADATA_TOPIC_NAME}-{partition}",
            lambda: self.load_groups_and_offsets(partition, coordinator_epoch, on_group_loaded),
        )

    def load_groups_and_offsets(self, partition: int, coordinator_epoch: int, on_group_loaded: GroupCallback) -> None:
        """Load the partition and then serve its groups, unless the epoch is stale or it is loaded already.

        It waits until the log is committed (``uncommitted_end``).
        """
        with self._lock:
            if not self._is_current(partition, coordinator_epoch):
                return
            if partition in self._owned or partition in self._loading:
                return
            self._loading[partition] = coordinator_epoch
        self._load_when_committed(partition, coordinator_epoch, on_group_loaded)

    def _load_when_committed(
        self, partition: int, coordinator_epoch: int, on_group_loaded: GroupCallback, end: int | None = None
    ) -> None:
        with self._lock:
            if self._loading.get(partition) != coordinator_epoch:
                return  # it was unloaded in the meantime
        awaited = uncommitted_end(self._log, TopicPartition(GROUP_METADATA_TOPIC_NAME, partition), end)
        try:
            if awaited is None:
                self._load(partition, on_group_loaded)
                return
            delay_ms = COMMIT_POLL_MS
        except MemoryError:
            delay_ms = LOAD_RETRY_MS
            logger.warning("No memory to load %s-%d: trying again", GROUP_METADATA_TOPIC_NAME, partition)
        self._scheduler.schedule(
            f"{GROUP_METADATA_TOPIC_NAME}-{partition}",
            lambda: self._load_when_committed(partition, coordinator_epoch, on_group_loaded, awaited),
            delay_ms,
        )

    def _load(self, partition: int, on_group_loaded: GroupCallback) -> None:
        """Read the partition and serve it, even if it cannot be read.

        After a MemoryError, which is raised, the partition is still loading.
        """
        start_ms = self._time.hi_res_ms()
        try:
            for group in self._read(partition):
                self._add_loaded(group, on_group_loaded)
            took_ms = self._time.hi_res_ms() - start_ms
            self.metrics.loaded(took_ms)
            logger.info("Finished loading groups of %s-%d in %d ms", GROUP_METADATA_TOPIC_NAME, partition, took_ms)
        except MemoryError:
            raise
        except Exception:
            logger.exception("Error loading offsets from %s-%d", GROUP_METADATA_TOPIC_NAME, partition)
        with self._lock:
            if self._loading.pop(partition, None) is not None:  # otherwise it was unloaded in the meantime
                self._owned.add(partition)

    def _is_current(self, partition: int, epoch: int | None) -> bool:
        """Record the epoch of a leadership change; false if a newer one is known. A change without epoch is current."""
        known = self._epochs.get(partition, -1)
        if epoch is None:
            return True
        self._epochs[partition] = max(epoch, known)
        return epoch >= known

    def _read(self, partition: int) -> list[GroupMetadata]:
        try:
            _, _, log = self._log.get_leader_log(TopicPartition(GROUP_METADATA_TOPIC_NAME, partition))
        except ApiError as gone:  # it moved to another broker, or was deleted, before this task ran
            logger.warning("No groups are loaded from %s-%d: %s", GROUP_METADATA_TOPIC_NAME, partition, gone)
            return []
        loader = GroupLoader(self._time)
        for batch in batches_of(log, self.config.load_buffer_size):
            if self._shutting_down.is_set():
                return []
            loader.add_batch(batch)
        return loader.finish()

    def _add_loaded(self, group: GroupMetadata, on_group_loaded: GroupCallback) -> None:
        with self._lock:
            self._groups[group.group_id] = group
        self._add_open_groups([group])
        on_group_loaded(group)

    def schedule_unload(self, partition: int, coordinator_epoch: int | None, on_group_unloaded: GroupCallback) -> None:
        """Forget the groups of a partition that another broker now leads, in the background."""
        self._scheduler.schedule(
            f"{GROUP_METADATA_TOPIC_NAME}-{partition}",
            lambda: self.remove_groups_and_offsets(partition, coordinator_epoch, on_group_unloaded),
        )

    def remove_groups_and_offsets(
        self, partition: int, coordinator_epoch: int | None, on_group_unloaded: GroupCallback
    ) -> None:
        """Stop serving the partition's groups, and call back for each. Without an epoch, the request is always
        current."""
        with self._lock:
            if not self._is_current(partition, coordinator_epoch):
                return
            self._owned.discard(partition)
            self._loading.pop(partition, None)
            groups = [group for group in self._groups.values() if self.partition_for(group.group_id) == partition]
            for group in groups:
                del self._groups[group.group_id]
                self._forget_open_group(group)
        for group in groups:
            on_group_unloaded(group)
        logger.info("Unloaded %s-%d: %d groups", GROUP_METADATA_TOPIC_NAME, partition, len(groups))

    def _forget_open_group(self, group: GroupMetadata) -> None:
        for producer_id in group.offsets.producers_in_txn:
            groups = self._open_groups.get(producer_id, set())
            groups.discard(group.group_id)
            if not groups:
                self._open_groups.pop(producer_id, None)


def _end_commit(cache: OffsetCache, offsets: Offsets, result: AppendResult) -> None:
    if result.error is Errors.NONE:
        cache.on_commit_append(offsets, result.base_offset)
    else:
        cache.fail_commit(offsets)


def _end_txn_commit(cache: OffsetCache, producer_id: int, offsets: Offsets, result: AppendResult) -> None:
    if result.error is Errors.NONE:
        cache.on_txn_commit_append(producer_id, offsets, result.base_offset)
    else:
        cache.fail_txn_commit(producer_id, offsets)


def _log_failure(group_id: str) -> Callable[[AppendResult], None]:
    def on_appended(result: AppendResult) -> None:
        if result.error is not Errors.NONE:
            logger.error("Failed to append tombstones of group %s: %s", group_id, result.error.name)

    return on_appended
