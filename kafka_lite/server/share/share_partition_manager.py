"""Serves the share groups that consume partitions which this broker leads.

Kafka 4.1: core/.../server/share/SharePartitionManager.java · book 5.4.1
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.ids.uuids import encode_uuid
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.modern.share_group_config import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    ShareGroupAutoOffsetResetStrategy,
    ShareGroupConfig,
)
from kafka_lite.coordinator.share.persister import Persister, SharePartitionKey
from kafka_lite.server.fetch_params import FetchParams
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.share.acknowledgement import ShareAcknowledgementBatch
from kafka_lite.server.share.acquisition_lock_timer import AcquisitionLockTimer
from kafka_lite.server.share.delayed_share_fetch import (
    DelayedShareFetch,
    FetchedPartition,
    ShareFetch,
    SharePartitionData,
)
from kafka_lite.server.share.share_group_metrics import ShareGroupMetrics
from kafka_lite.server.share.share_partition import SharePartition
from kafka_lite.server.share.share_partition_cache import SharePartitionCache
from kafka_lite.server.share.share_session import ShareSessionCache, ShareSessionKey

logger = logging.getLogger(__name__)

LETS_GO: Final = frozenset(
    {
        Errors.NOT_LEADER_OR_FOLLOWER,
        Errors.FENCED_STATE_EPOCH,
        Errors.FENCED_LEADER_EPOCH,
        Errors.GROUP_ID_NOT_FOUND,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
"""Errors after which the broker forgets a share partition, so that the next fetch reads its state again."""

Outcomes = dict[TopicIdPartition, ApiError | None]
"""Partition → its error, if there is one."""


class FetchRequest(NamedTuple):
    """The wishes of a member."""

    group_id: str
    member_id: str
    session_epoch: int
    params: FetchParams
    max_records: int
    batch_size: int


class SharePartitionManager:
    """Finds or makes share partitions, and passes on what members and the controller ask of them.

    A fetch that waits is tried once more when the partition's high watermark moves, when records of its group become
    available, and when another fetch has read.
    """

    def __init__(
        self,
        replicas: ReplicaManager,
        sessions: ShareSessionCache,
        config_of: Callable[[str], ShareGroupConfig],
        persister: Persister,
        timer: AcquisitionLockTimer,
        purgatory: DelayedOperationPurgatory[DelayedShareFetch],
        metrics: ShareGroupMetrics,
        time: Time,
    ) -> None:
        self.sessions = sessions
        self.partitions = SharePartitionCache()
        self._replicas = replicas
        self._config_of = config_of
        self._persister = persister
        self._timer = timer
        self._purgatory = purgatory
        self._metrics = metrics
        self._time = time
        self._to_try: deque[SharePartitionKey] = deque()
        self._trying = threading.Lock()
        replicas.partition_listeners.append(self.on_partition_changed)

    # ── fetch ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def fetch_messages(
        self,
        request: FetchRequest,
        partitions: Mapping[TopicIdPartition, TopicPartition],
        respond: Callable[[dict[TopicIdPartition, SharePartitionData]], None],
    ) -> None:
        """Acquire records. ``respond`` is called once: now, or when there is enough, or the time is up."""
        failed: dict[TopicIdPartition, ApiError] = {}
        found: dict[TopicIdPartition, FetchedPartition] = {}
        for at in _rotated(list(partitions), request.session_epoch):
            try:
                share_partition = self._get_or_create(SharePartitionKey(request.group_id, *at), partitions[at])
            except ApiError as failure:
                failed[at] = failure
                continue
            found[at] = FetchedPartition(share_partition, partitions[at])
            share_partition.maybe_initialize(self._initialized(at, share_partition, failed))
        if not any(at not in failed for at in found):
            respond({at: SharePartitionData(each.error, str(each)) for at, each in failed.items()})
            return
        fetch = ShareFetch(
            request.member_id, request.params, request.max_records, request.batch_size, found, failed, respond
        )
        keys = [key for share_partition, log in found.values() for key in (share_partition.key, log)]
        self._purgatory.try_complete_else_watch(
            DelayedShareFetch(
                fetch,
                self._replicas,
                self._log_start_offset,
                self._failed,
                self._try_again,
                self._metrics.fetch_begins(request.group_id),
            ),
            keys,
        )

    def _get_or_create(self, key: SharePartitionKey, log: TopicPartition) -> SharePartition:
        def create() -> SharePartition:
            partition = self._replicas.get_leader_partition(log)
            return SharePartition(
                key,
                partition.leader_epoch,
                lambda: self._config_of(key.group_id),
                lambda strategy: self._start_offset(log, strategy),
                self._persister,
                self._timer,
                lambda: self._try(key),
                self._metrics.of_partition(key.group_id, log),
            )

        return self.partitions.get_or_create(key, log, create)

    def _initialized(
        self, at: TopicIdPartition, share_partition: SharePartition, failed: dict[TopicIdPartition, ApiError]
    ) -> Callable[[ApiError | None], None]:
        is_loaded, started_ms = share_partition.is_active, self._metrics.now_ms()

        def done(failure: ApiError | None) -> None:
            if not is_loaded:
                self._metrics.partition_loaded(started_ms)
            if failure is not None and failure.error is not Errors.LEADER_NOT_AVAILABLE:
                failed[at] = failure
                self._remove(share_partition.key, share_partition)
            self._try(share_partition.key)

        return done

    def _failed(self, share_partition: SharePartition, failure: ApiError) -> None:
        if failure.error in LETS_GO and self._remove(share_partition.key, share_partition):
            logger.info("The share partition %s is let go: %s", share_partition, failure)

    def _remove(self, key: SharePartitionKey, only: SharePartition | None = None) -> bool:
        """Let a share partition go, and the beans of a group with its last one. Whether it was there."""
        is_removed = self.partitions.remove(key, only) is not None
        if is_removed and not self.partitions.keys_of_group(key.group_id):
            self._metrics.group_has_left(key.group_id)
        return is_removed

    def _try_again(self, share_partitions: Iterable[SharePartition]) -> None:
        for share_partition in share_partitions:
            self._try(share_partition.key)

    def _try(self, key: SharePartitionKey) -> None:
        """Let fetches that wait for a share partition look at it, but not within one that completes: one by one."""
        self._to_try.append(key)
        while self._to_try and self._trying.acquire(blocking=False):
            try:
                while self._to_try:
                    self._purgatory.check_and_complete(self._to_try.popleft())
            except IndexError:  # another thread has taken it
                pass
            finally:
                self._trying.release()

    def _log_start_offset(self, log: TopicPartition) -> int:
        _, _, found = self._replicas.get_leader_log(log)
        return found.log_start_offset

    def _start_offset(self, log: TopicPartition, strategy: ShareGroupAutoOffsetResetStrategy) -> int:
        """Where a new group begins. Raises ApiError."""
        _, leader, found = self._replicas.get_leader_log(log)
        timestamp = strategy.timestamp_at(self._time.milliseconds())
        end = leader.high_watermark.message_offset
        if timestamp == EARLIEST_TIMESTAMP:
            return found.log_start_offset
        if timestamp == LATEST_TIMESTAMP:
            return end
        match = found.fetch_offset_by_timestamp(timestamp)
        return end if match is None else min(match.offset, end)

    # ── acknowledge ───────────────────────────────────────────────────────────────────────────────────────────────

    def acknowledge(
        self,
        group_id: str,
        member_id: str,
        batches: Mapping[TopicIdPartition, Sequence[ShareAcknowledgementBatch]],
        respond: Callable[[Outcomes], None],
    ) -> None:
        """Acknowledge records of several partitions. ``respond`` is called once, when all outcomes are there."""

        def acknowledge(at: TopicIdPartition, share_partition: SharePartition, done: Done) -> None:
            def counted(failure: ApiError | None) -> None:
                if failure is None:
                    self._metrics.acknowledged(batches[at])
                done(failure)

            share_partition.acknowledge(member_id, batches[at], counted)

        self._for_each(group_id, batches, acknowledge, respond)

    def release_session(
        self, key: ShareSessionKey, respond: Callable[[Outcomes], None] = lambda _outcomes: None
    ) -> None:
        """End a session: what its member has acquired is delivered to others. Without a session nothing happens."""
        partitions = self.sessions.remove(key)
        if partitions is None:
            respond({})
        else:
            self.release_acquired_records(key, partitions, respond)

    def release_acquired_records(
        self,
        key: ShareSessionKey,
        partitions: Sequence[TopicIdPartition],
        respond: Callable[[Outcomes], None] = lambda _outcomes: None,
    ) -> None:
        """Deliver to others what a member has acquired of these partitions."""
        member_id = encode_uuid(key.member_id)

        def release(_at: TopicIdPartition, share_partition: SharePartition, done: Done) -> None:
            share_partition.release_acquired_records(member_id, done)

        self._for_each(key.group_id, partitions, release, respond)

    def _for_each(
        self,
        group_id: str,
        partitions: Iterable[TopicIdPartition],
        do: DoWithPartition,
        respond: Callable[[Outcomes], None],
    ) -> None:
        outcomes = PendingOutcomes(list(partitions), respond)
        for at in list(partitions):
            share_partition = self.partitions.get(SharePartitionKey(group_id, *at))
            if share_partition is None:
                outcomes.add(at, Errors.UNKNOWN_TOPIC_OR_PARTITION.exception())
                continue
            do(at, share_partition, self._noting(at, share_partition, outcomes))
            self._try(share_partition.key)

    def _noting(self, at: TopicIdPartition, share_partition: SharePartition, outcomes: PendingOutcomes) -> Done:
        def done(failure: ApiError | None) -> None:
            if failure is not None:
                self._failed(share_partition, failure)
            outcomes.add(at, failure)

        return done

    # ── what happens around ───────────────────────────────────────────────────────────────────────────────────────

    def on_partition_changed(self, log: TopicPartition) -> None:
        """The high watermark of a partition has moved, or its leader is another one, or it is gone."""
        for key in self.partitions.keys_of_log(log):
            partition = self._replicas.get_partition(log)
            topic_id = partition.log.topic_id if partition is not None and partition.log is not None else None
            is_led = partition is not None and partition.leader_replica_if_local is not None
            if not is_led or topic_id not in (None, key.topic_id):
                self._remove(key)
            self._try(key)

    def on_connection_ended(self, connection_id: str) -> None:
        """The connection of a member has ended."""

        def release(key: ShareSessionKey) -> None:
            self.release_session(key)
            if not self.sessions.has_members_of(key.group_id):
                for each in self.partitions.keys_of_group(key.group_id):
                    self._forget_if_idle(each)

        self.sessions.connection_ended(connection_id, release)

    def _forget_if_idle(self, key: SharePartitionKey) -> None:
        """Keep what is in flight until its change is written; a state that is all written can be read again."""
        share_partition = self.partitions.get(key)
        if share_partition is not None and share_partition.in_flight_count == 0:
            self._remove(key)

    def shutdown(self) -> None:
        """Deliver nothing more."""
        for key in self.partitions.all_keys():
            self._remove(key)
        self._timer.shutdown()
        self._purgatory.shutdown()


Done = Callable[[ApiError | None], None]
DoWithPartition = Callable[[TopicIdPartition, SharePartition, Done], None]


class PendingOutcomes:
    """Waits for the outcomes of all partitions of a request. Any thread may add one."""

    def __init__(self, partitions: Sequence[TopicIdPartition], respond: Callable[[Outcomes], None]) -> None:
        self._lock = threading.Lock()
        self._missing = len(partitions)
        self._outcomes: Outcomes = {}
        self._respond = respond
        if not partitions:
            respond({})

    def add(self, partition: TopicIdPartition, failure: ApiError | None) -> None:
        """The outcome of one partition; responds if it is the last one."""
        with self._lock:
            self._outcomes[partition] = failure
            self._missing -= 1
            is_last = self._missing == 0
        if is_last:
            self._respond(self._outcomes)


def _rotated(partitions: list[TopicIdPartition], session_epoch: int) -> list[TopicIdPartition]:
    """Begin with another partition in each request, so that each is read first at times."""
    if session_epoch < 1 or not partitions:
        return partitions
    begin = session_epoch % len(partitions)
    return partitions[begin:] + partitions[:begin]
