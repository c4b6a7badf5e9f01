"""A partition as the broker of one of its replicas sees it: the leader, the ISR, what is committed.

Kafka 0.10.2: core/.../cluster/Partition.scala · book 6.2.2
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log, LogAppendInfo
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata

_NO_ERROR: Final = Errors.NONE  # looked up once: Python 3.11 takes as long as a call for that

NO_LEADER = -1
UNKNOWN_EPOCH: Final = -1


@dataclass(frozen=True)
class PartitionState:
    """What the controller says about a partition: the useful part of a LeaderAndIsr request."""

    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: Sequence[int]
    zk_version: int
    replicas: Sequence[int]


class Partition:
    """Leader, in-sync replicas (ISR) and high watermark of one partition.

    ``log_for`` makes or finds the log; it is the replica manager's, which this class need not know.
    ``checkpointed_high_watermark`` reads the checkpoint of the log's directory.
    """

    def __init__(
        self,
        topic_partition: TopicPartition,
        local_broker_id: int,
        log_for: Callable[[TopicPartition], Log],
        checkpointed_high_watermark: Callable[[TopicPartition], int],
    ) -> None:
        self.topic_partition = topic_partition
        self.local_broker_id = local_broker_id
        self._log_for = log_for
        self._checkpointed_high_watermark = checkpointed_high_watermark
        self._lock = threading.RLock()
        self._replicas: dict[int, Replica] = {}
        self.leader_id = NO_LEADER
        self.leader_epoch = UNKNOWN_EPOCH
        self.controller_epoch = UNKNOWN_EPOCH
        self.zk_version = 0
        self.in_sync_replicas: frozenset[Replica] = frozenset()

    def get_replica(self, broker_id: int | None = None) -> Replica | None:
        """The replica on a broker (by default this one), if it is known."""
        return self._replicas.get(self.local_broker_id if broker_id is None else broker_id)

    @property
    def assigned_replicas(self) -> list[Replica]:
        """All replicas, in the order of the controller's assignment."""
        return list(self._replicas.values())

    @property
    def leader_replica_if_local(self) -> Replica | None:
        """The local replica, if this broker leads."""
        return self._replicas.get(self.local_broker_id) if self.leader_id == self.local_broker_id else None

    @property
    def log(self) -> Log | None:
        """The local log, if there is one."""
        replica = self.get_replica()
        return replica.log if replica is not None else None

    @property
    def is_under_replicated(self) -> bool:
        """Whether this broker leads and some replica is not in sync."""
        return self.leader_replica_if_local is not None and len(self.in_sync_replicas) < len(self._replicas)

    def make_leader(self, state: PartitionState) -> bool:
        """Lead from now on; false if this broker led before, under an older epoch.

        Makes the log if there is none. A new leader forgets the followers' LEOs: only what they fetch from it counts.
        """
        with self._lock:
            self._apply(state)
            is_new_leader = self.leader_id != self.local_broker_id
            self.leader_id = self.local_broker_id
            leader = self._replicas[self.local_broker_id]
            if leader.log is not None:
                leader.log.maybe_assign_epoch_start_offset(self.leader_epoch, leader.log.log_end_offset)
            if is_new_leader:
                for replica in self._replicas.values():
                    if not replica.is_local:
                        replica.update_log_end_offset(LogOffsetMetadata.UNKNOWN)
            self._maybe_increment_leader_high_watermark(leader)
            return is_new_leader

    def make_follower(self, state: PartitionState) -> bool:
        """Follow ``state.leader`` from now on; false if this broker followed it before."""
        with self._lock:
            self._apply(state)
            self.in_sync_replicas = frozenset()
            is_new_leader = self.leader_id != state.leader
            self.leader_id = state.leader
            return is_new_leader

    def _apply(self, state: PartitionState) -> None:
        self.controller_epoch = state.controller_epoch
        self.leader_epoch = state.leader_epoch
        self.zk_version = state.zk_version
        replicas = {broker_id: self._get_or_create_replica(broker_id) for broker_id in state.replicas}
        # At the end of a reassignment the ISR still has replicas that are not assigned any more.
        in_sync = [replicas.get(broker_id) or self._get_or_create_replica(broker_id) for broker_id in state.isr]
        self._replicas, self.in_sync_replicas = replicas, frozenset(in_sync)

    def _get_or_create_replica(self, broker_id: int) -> Replica:
        existing = self._replicas.get(broker_id)
        if existing is not None:
            return existing
        if broker_id != self.local_broker_id:
            return Replica(broker_id, self.topic_partition)
        log = self._log_for(self.topic_partition)
        checkpointed = self._checkpointed_high_watermark(self.topic_partition)
        # The checkpoint can lie beyond the log's end after a crash, or below its start after DeleteRecords.
        initial = max(log.log_start_offset, min(checkpointed, log.log_end_offset))
        return Replica(broker_id, self.topic_partition, log, initial)

    def append_records_to_leader(self, records: Buffer, required_acks: int) -> tuple[LogAppendInfo, bool]:
        """Append as leader; also returns whether the high watermark moved.

        Raises NOT_LEADER_OR_FOLLOWER if another broker leads, NOT_ENOUGH_REPLICAS if ``acks=all`` needs more in-sync
        replicas than there are, and the errors of the log.
        """
        leader = self.leader_replica_if_local
        if leader is None or leader.log is None:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception(
                f"broker {self.local_broker_id} does not lead {self.topic_partition}"
            )
        min_isr = leader.log.config.min_insync_replicas
        in_sync = len(self.in_sync_replicas)
        if required_acks == -1 and in_sync < min_isr:
            raise Errors.NOT_ENOUGH_REPLICAS.exception(
                f"{in_sync} replicas of {self.topic_partition} are in sync, min.insync.replicas asks for {min_isr}"
            )
        info = leader.log.append_as_leader(records, self.leader_epoch)
        # Without followers in the ISR the records are committed at once.
        with self._lock:
            return info, self._maybe_increment_leader_high_watermark(leader)

    def update_follower_log_end_offset(self, broker_id: int, log_end_offset: LogOffsetMetadata) -> bool:
        """A follower has fetched from ``log_end_offset``, so it has all records below; true if that moved the HW."""
        with self._lock:
            replica = self._replicas.get(broker_id)
            leader = self.leader_replica_if_local
            # A client may use the id of this very broker; that is not a follower either.
            if replica is None or leader is None or replica is leader:
                raise ApiError(
                    Errors.NOT_LEADER_OR_FOLLOWER,
                    f"broker {broker_id} fetched {self.topic_partition}, which it does not follow",
                )
            replica.update_log_end_offset(log_end_offset)
            return self._maybe_increment_leader_high_watermark(leader)

    def check_enough_replicas_reach_offset(self, required_offset: int) -> tuple[bool, Errors]:
        """Whether everything below ``required_offset`` is committed, and the error for the response."""
        leader = self.leader_replica_if_local
        if leader is None or leader.log is None:
            return False, Errors.NOT_LEADER_OR_FOLLOWER
        if leader.high_watermark.message_offset < required_offset:
            return False, _NO_ERROR
        if len(self.in_sync_replicas) < leader.log.config.min_insync_replicas:
            # Committed, but by fewer replicas than the topic requires: the client must know.
            return True, Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return True, _NO_ERROR

    def _maybe_increment_leader_high_watermark(self, leader: Replica) -> bool:
        """HW = the smallest LEO of the ISR; it never moves back while this broker leads."""
        candidate = None
        for replica in self.in_sync_replicas:
            end = replica.log_end_offset
            if candidate is None or end.message_offset < candidate.message_offset:
                candidate = end
        if candidate is None or candidate.message_offset <= leader.high_watermark.message_offset:
            return False
        leader.high_watermark = candidate
        return True

    def fetchable_end_offset(self, leader: Replica, for_follower: bool) -> int | None:
        """How far a reader may read: followers to the end (None), consumers to the high watermark."""
        return None if for_follower else leader.high_watermark.message_offset

    def check_leader_epoch(self, requested_epoch: int) -> Errors:
        """Compare the leader epoch that a client knows with ours (-1: it knows none)."""
        if requested_epoch == UNKNOWN_EPOCH or requested_epoch == self.leader_epoch:
            return _NO_ERROR
        return Errors.FENCED_LEADER_EPOCH if requested_epoch < self.leader_epoch else Errors.UNKNOWN_LEADER_EPOCH
