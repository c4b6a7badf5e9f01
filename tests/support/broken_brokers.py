"""Brokers with known bugs, to show that the simulator finds them. A world runs them in place of the broker."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_loader import GroupLoader
from kafka_lite.coordinator.group.group_lock import GroupLock
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_metadata_manager import GroupMetadataManager
from kafka_lite.coordinator.group.group_offsets import GroupOffsets
from kafka_lite.coordinator.group.group_rebalancer import GroupRebalancer
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.cleaning.skimpy_offset_map import SkimpyOffsetMap
from kafka_lite.log.files.file_message_set import FileMessageSet
from kafka_lite.log.log import Log
from kafka_lite.log.log_file_utils import CLEAN_SHUTDOWN_FILE
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.managing.log_configs import LogConfigs
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.log.producers.producer_append_info import ProducerAppendInfo
from kafka_lite.log.producers.producer_state_entry import ProducerStateEntry
from kafka_lite.log.producers.producer_state_manager import PreparedUpdates, ProducerStateManager
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.server.fetch_sessions.cached_partition import CachedPartition
from kafka_lite.server.replica_state_changes import ReplicaStateChanges
from kafka_lite.server.replication import replica_fetcher_thread
from kafka_lite.server.replication.leader_end_point import UNDEFINED_EPOCH
from kafka_lite.server.replication.replica_fetcher_manager import ReplicaFetcherManager
from kafka_lite.server.replication.truncation import OffsetTruncationState
from kafka_lite.testing.simulation.programs import broker
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient


def without_sequence_check(properties: Mapping[str, str]) -> None:
    """Whatever an idempotent producer sends again is appended again."""
    ProducerAppendInfo._check_sequence = lambda *_: None  # type: ignore[method-assign, assignment]
    ProducerStateEntry.find_duplicate_batch = lambda *_: None  # type: ignore[method-assign, assignment]
    broker(properties)


def without_fsync(properties: Mapping[str, str]) -> None:
    """A log is never flushed, whatever log.flush.interval.messages says."""
    FileMessageSet.flush = lambda _: None  # type: ignore[method-assign, assignment]
    broker(properties)


def without_loaded_offsets(properties: Mapping[str, str]) -> None:
    """A coordinator begins with no groups, although their offsets are in the log."""
    GroupLoader.add_batch = lambda *_: None  # type: ignore[method-assign, assignment]
    broker(properties)


def without_recovery(properties: Mapping[str, str]) -> None:
    """After a power failure the logs are taken as they are."""
    open_log = LogManager._open_log

    def trusting(self: Any, log_dir: Any, recovery_point: int = 0, log_start_offset: int = 0, *_: Any) -> Any:
        return open_log(self, log_dir, recovery_point, log_start_offset, True)

    LogManager._open_log = trusting  # type: ignore[method-assign]
    broker(properties)


def undoing_alterations(properties: Mapping[str, str]) -> None:
    """A new log has the configuration that was read before it was made, although it is altered since: KAFKA-8813."""
    set_topic = LogConfigs.set_topic
    LogConfigs.set_topic = lambda self, topic, config, _=None: set_topic(self, topic, config)  # type: ignore[method-assign]
    broker(properties)


def cleaning_away_new_records(properties: Mapping[str, str]) -> None:
    """The cleaner takes the newest record of a key for an older one."""
    get = SkimpyOffsetMap.get

    def get_next(self: Any, key: Any) -> int:
        offset = get(self, key)
        return offset if offset < 0 else offset + 1

    SkimpyOffsetMap.get = get_next  # type: ignore[method-assign]
    broker(properties)


def trusting_an_old_clean_shutdown(properties: Mapping[str, str]) -> None:
    """The marker of a clean shutdown stays when the broker has started again."""
    load = LogManager._load_logs_in

    def load_and_keep(self: Any, directory: Any) -> None:
        marker = directory / CLEAN_SHUTDOWN_FILE
        was_clean = marker.exists()
        load(self, directory)
        if was_clean:
            marker.touch()

    LogManager._load_logs_in = load_and_keep  # type: ignore[method-assign]
    broker(properties)


def swallowing_write_errors(properties: Mapping[str, str]) -> None:
    """A record that a full or failing disk does not take is acknowledged."""
    append = FileMessageSet.append

    def append_somehow(self: Any, records: Any) -> int:
        try:
            return append(self, records)
        except OSError:
            return len(records)

    FileMessageSet.append = append_somehow  # type: ignore[method-assign]
    broker(properties)


def looking_up_the_next_entry(properties: Mapping[str, str]) -> None:
    """A lookup in the offset index is off by one."""
    lookup = OffsetIndex.lookup

    def lookup_next(self: Any, target_offset: int) -> Any:
        found = lookup(self, target_offset)
        entries = [self._parse_entry(slot) for slot in range(self._entries)]
        return next((entry for entry in entries if entry.offset > found.offset), found)

    OffsetIndex.lookup = lookup_next  # type: ignore[method-assign]
    broker(properties)


def obeying_dead_members(properties: Mapping[str, str]) -> None:
    """A consumer that slept through its session may still commit."""
    GroupOffsets._check_commit = lambda *_: Errors.NONE  # type: ignore[method-assign, assignment]
    broker(properties)


def without_new_generations(properties: Mapping[str, str]) -> None:
    """A rebalance does not begin a generation of its own."""
    begin = GroupMetadata.init_next_generation

    def begin_again(self: Any) -> None:
        self.generation_id -= self.generation_id > 0
        begin(self)

    GroupMetadata.init_next_generation = begin_again  # type: ignore[method-assign]
    broker(properties)


def forgetting_the_last_member(properties: Mapping[str, str]) -> None:
    """A lost wake-up: when the last member of a group has joined, the others are not told."""
    GroupRebalancer.check_join = lambda *_: None  # type: ignore[method-assign, assignment]
    broker(properties)


def leaving_records_out_of_sessions(properties: Mapping[str, str]) -> None:
    """A lost wake-up: an incremental fetch has a partition only if its high watermark has moved."""

    def only_if_moved(self: Any, result: Any) -> bool:
        has_moved: bool = result.high_watermark != self.high_watermark
        self.high_watermark = result.high_watermark
        return has_moved

    CachedPartition.maybe_update_response_data = only_if_moved  # type: ignore[method-assign]
    broker(properties)


class NoLock:
    """A lock that anybody may take at any time."""

    def __enter__(self) -> None:
        """Take nothing."""

    def __exit__(self, *_: object) -> None:
        """Release nothing."""

    acquire = release = lambda *_, **__: True


def appending_without_locks(properties: Mapping[str, str]) -> None:
    """The locks of partitions and of their logs are left out."""
    for owner in (Log, Partition):
        _without_lock(owner)
    broker(properties)


def changing_groups_without_locks(properties: Mapping[str, str]) -> None:
    """The lock of a group is left out."""
    _without_lock(GroupLock)
    broker(properties)


def _without_lock(owner: Any) -> None:
    owner._lock = property(lambda _: NoLock(), lambda *_: None)


def with_unclean_elections(properties: Mapping[str, str]) -> None:
    """A replica that is not in sync may lead: the default of Kafka 0.10."""
    broker({**properties, "unclean.leader.election.enable": "true"})


def truncating_to_high_watermarks(properties: Mapping[str, str]) -> None:
    """A follower of 0.10 trusts what is below its own high watermark, and nothing else, as before KIP-101."""
    broker(properties)


def without_truncation(properties: Mapping[str, str]) -> None:
    """A follower keeps what its new leader does not have."""
    replica_fetcher_thread.truncation_state = (  # type: ignore[attr-defined]
        lambda _leader, end, *_: OffsetTruncationState(end, completed=True)
    )
    broker(properties)


def serving_beyond_the_high_watermark(properties: Mapping[str, str]) -> None:
    """Consumers read what is not committed."""
    Partition.fetchable_end_offset = lambda *_: None  # type: ignore[method-assign, assignment]
    broker(properties)


def acknowledging_early(properties: Mapping[str, str]) -> None:
    """acks=all is acknowledged as soon as the leader has the record."""
    Partition.check_enough_replicas_reach_offset = lambda *_: (True, Errors.NONE)  # type: ignore[method-assign, assignment]
    broker(properties)


def expanding_isrs_by_high_watermarks(properties: Mapping[str, str]) -> None:
    """A follower enters the ISR with what is below a new leader's high watermark, which lags: KAFKA-7128."""
    expand = Partition._maybe_expand_isr

    def early(self: Any, *args: Any) -> None:
        self._epoch_start_offset = 0
        expand(self, *args)

    Partition._maybe_expand_isr = early  # type: ignore[method-assign]
    broker(properties)


def obeying_old_epochs(properties: Mapping[str, str]) -> None:
    """LeaderAndIsr requests of old controllers and old leader epochs are executed."""
    apply, become = ReplicaStateChanges._apply_partition_state, ReplicaStateChanges.become_leader_or_follower

    def apply_any(self: Any, topic_partition: Any, state: Any) -> Any:
        partition = self._replicas.get_partition(topic_partition)
        if partition is not None:
            partition.leader_epoch = -1
        return apply(self, topic_partition, state)

    def become_anything(self: Any, *args: Any) -> Any:
        self.controller_epoch = 0
        return become(self, *args)

    ReplicaStateChanges._apply_partition_state = apply_any  # type: ignore[method-assign]
    ReplicaStateChanges.become_leader_or_follower = become_anything  # type: ignore[method-assign]
    broker(properties)


def forgetting_producers_on_followers(properties: Mapping[str, str]) -> None:
    """A follower does not know the sequence numbers in its log, so it cannot find duplicates once it leads."""
    prepare = ProducerStateManager.prepare_updates

    def of_clients(self: Any, appended: Any, origin: AppendOrigin) -> PreparedUpdates:
        return PreparedUpdates() if origin is AppendOrigin.REPLICATION else prepare(self, appended, origin)

    ProducerStateManager.prepare_updates = of_clients  # type: ignore[method-assign]
    broker(properties)


def appending_after_a_leadership(properties: Mapping[str, str]) -> None:
    """An append checks who leads, and then appends, whoever leads by then."""

    def append(
        self: Any, records: Any, required_acks: int, origin: AppendOrigin = AppendOrigin.CLIENT, guard: Any = None
    ) -> Any:
        leader = self.leader_replica_if_local
        if leader is None or leader.log is None:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception("another broker leads")
        if required_acks == -1 and len(self.in_sync_replicas) < leader.log.config.min_insync_replicas:
            raise Errors.NOT_ENOUGH_REPLICAS.exception("too few replicas are in sync")
        info = leader.log.append_as_leader(records, self.leader_epoch, origin, guard)
        with self._lock:
            return info, self._maybe_increment_leader_high_watermark(leader)

    Partition.append_records_to_leader = append  # type: ignore[method-assign]
    broker(properties)


def ignoring_min_insync_replicas(properties: Mapping[str, str]) -> None:
    """A leader alone acknowledges acks=all."""
    broker({**properties, "min.insync.replicas": "1"})


def overwriting_isrs(properties: Mapping[str, str]) -> None:
    """A leader that was deposed writes its ISR over that of the next leader: the version in ZooKeeper is ignored."""
    KafkaZkClient._conditional_set = (  # type: ignore[method-assign]
        lambda self, path, data, _: self.zookeeper.set(path, data, -1)  # type: ignore[assignment]
    )
    broker(properties)


def committing_with_the_fastest_follower(properties: Mapping[str, str]) -> None:
    """The high watermark is the second greatest end of the ISR's logs, and not the smallest."""

    def raise_high_watermark(self: Any, leader: Any) -> bool:
        ends = sorted((each.log_end_offset for each in self.in_sync_replicas), key=lambda end: end.message_offset)
        candidate = ends[max(0, len(ends) - 2)]
        if candidate.message_offset <= leader.high_watermark.message_offset:
            return False
        leader.high_watermark = candidate
        return True

    Partition._maybe_increment_leader_high_watermark = raise_high_watermark  # type: ignore[method-assign]
    broker(properties)


def committing_beyond_the_end(properties: Mapping[str, str]) -> None:
    """The high watermark is one record beyond the end of the leader's log."""
    raise_high_watermark = Partition._maybe_increment_leader_high_watermark

    def raise_too_far(self: Any, leader: Any) -> bool:
        is_raised = raise_high_watermark(self, leader)
        if is_raised:
            leader.high_watermark = LogOffsetMetadata(leader.log_end_offset.message_offset + 1)
        return is_raised

    Partition._maybe_increment_leader_high_watermark = raise_too_far  # type: ignore[method-assign]
    broker(properties)


def keeping_groups_that_moved(properties: Mapping[str, str]) -> None:
    """A coordinator keeps the groups of a partition that another broker leads, and finds them there again."""
    GroupMetadataManager.remove_groups_and_offsets = lambda *_: None  # type: ignore[method-assign, assignment]
    broker(properties)


def without_checksums(properties: Mapping[str, str]) -> None:
    """A follower appends whatever it gets, and so does a recovery: no checksum is compared."""
    DefaultRecordBatch.ensure_valid = lambda _: None  # type: ignore[method-assign]
    broker(properties)


def truncating_once(properties: Mapping[str, str]) -> None:
    """A follower takes a leader's word for an epoch that it does not have itself, as before KIP-279 (KAFKA-6361)."""
    state = replica_fetcher_thread.truncation_state

    def by_offset(leader: Any, *args: Any) -> OffsetTruncationState:
        return state(dataclasses.replace(leader, leader_epoch=UNDEFINED_EPOCH), *args)

    replica_fetcher_thread.truncation_state = by_offset  # type: ignore[attr-defined]
    broker(properties)


def truncating_under_the_same_leader(properties: Mapping[str, str]) -> None:
    """A follower of 0.10 drops what is not committed whenever it is told who leads, even if nothing has changed."""
    follow = ReplicaFetcherManager.follow
    ReplicaFetcherManager.follow = (  # type: ignore[method-assign]
        lambda self, partitions, leaders, _: follow(self, partitions, leaders, {})
    )
    broker(properties)
