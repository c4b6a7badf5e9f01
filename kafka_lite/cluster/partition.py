"""A partition as the broker of one of its replicas sees it: the leader, the ISR, what is committed.

Kafka 0.10.2: core/.../cluster/Partition.scala · book 6.2.2, 1.3.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from kafka_lite.cluster.isr_writes import (
    IsrChange,
    PendingIsr,
    SubmitIsrWrite,
    UpdateIsr,
    broker_ids,
    written_at_once,
)
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry
from kafka_lite.log.log import Log
from kafka_lite.log.log_append_info import LogAppendInfo
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.log.validation.prepared_records import PreparedRecords
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch

logger = logging.getLogger(__name__)

_NO_ERROR: Final = Errors.NONE  # looked up once: Python 3.11 takes as long as a call for that

NO_LEADER = -1
UNKNOWN_EPOCH: Final = -1


@dataclass(frozen=True)
class PartitionState:
    """The controller's state of a partition: the useful part of a LeaderAndIsr request."""

    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: Sequence[int]
    zk_version: int
    replicas: Sequence[int]


class Partition:
    """Leader, in-sync replicas (ISR) and high watermark of one partition.

    ``log_for`` makes or finds the log; it is the replica manager's, which this class need not know.
    ``checkpointed_high_watermark`` reads the checkpoint of the log's directory. ``update_isr`` writes the ISR, in the
    thread that ``submit_isr_write`` chooses.

    The leader alone changes the ISR, in two places::

        a follower fetches from at least the HW ─▶ maybe_expand_isr ─┐
                                                                     ├─▶ submit ─▶ update_isr ─▶ ZooKeeper
        replica.lag.time.max.ms behind the end ──▶ maybe_shrink_isr ─┘                               └─▶ controller

    ZooKeeper may be slow, so it is written without the lock; a leader has one write under way at a time. Meanwhile the
    high watermark waits for the members of both ISRs, the old one and the new one, because the controller may choose
    the next leader from either::

                          in_sync_replicas (the HW waits for them)   isr (min.insync.replicas of an append)
        before            1, 2                                       1, 2
        3 is to enter     1, 2, 3                                    1, 2
        3 has entered     1, 2, 3                                    1, 2, 3
        2 is to leave     1, 2, 3                                    1, 2, 3
        2 has left        1, 3                                       1, 3

    Kafka 3.1: core/.../cluster/Partition.scala (PendingExpandIsr, PendingShrinkIsr); 0.10 holds the lock
    """

    def __init__(
        self,
        topic_partition: TopicPartition,
        local_broker_id: int,
        log_for: Callable[[TopicPartition], Log],
        checkpointed_high_watermark: Callable[[TopicPartition], int],
        update_isr: UpdateIsr,
        time: Time,
        submit_isr_write: SubmitIsrWrite = written_at_once,
    ) -> None:
        self.topic_partition = topic_partition
        self.local_broker_id = local_broker_id
        self._log_for = log_for
        self._checkpointed_high_watermark = checkpointed_high_watermark
        self._update_isr = update_isr
        self._submit_isr_write = submit_isr_write
        self._time = time
        self._lock = threading.RLock()
        self._replicas: dict[int, Replica] = {}
        self.leader_id = NO_LEADER
        self.leader_epoch = UNKNOWN_EPOCH
        self.controller_epoch = UNKNOWN_EPOCH
        self.zk_version = 0
        self.in_sync_replicas: frozenset[Replica] = frozenset()
        """The replicas for which the high watermark waits, see above. Kafka calls them the maximal ISR."""
        self._pending_isr: PendingIsr | None = None
        self._epoch_start_offset = 0
        """Where the log ended when this broker began to lead in this epoch."""

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
    def isr(self) -> frozenset[Replica]:
        """The replicas in sync without one that is still to enter: those in ZooKeeper, as far as this broker knows."""
        pending = self._pending_isr
        return self.in_sync_replicas if pending is None else self.in_sync_replicas - pending.entering

    @property
    def is_under_replicated(self) -> bool:
        """Whether this broker leads and some replica is not in sync."""
        return self.leader_replica_if_local is not None and len(self.isr) < len(self._replicas)

    def make_leader(self, state: PartitionState) -> bool:
        """Lead from now on; false if this broker led before, under an older epoch.

        Makes the log if there is none. A new leader forgets the followers' LEOs: only what they fetch from it counts.
        """
        with self._lock:
            self._apply(state)
            is_new_leader = self.leader_id != self.local_broker_id
            self.leader_id = self.local_broker_id
            leader = self._replicas[self.local_broker_id]
            self._epoch_start_offset = leader.log_end_offset.message_offset
            if leader.log is not None:
                leader.log.maybe_assign_epoch_start_offset(self.leader_epoch, leader.log.log_end_offset)
            self._reset_followers(leader, is_new_leader)
            self._maybe_increment_leader_high_watermark(leader)
            return is_new_leader

    def _reset_followers(self, leader: Replica, is_new_leader: bool) -> None:
        """Replicas in the ISR must fetch from this leader within the time that a follower may lag."""
        now_ms = self._time.hi_res_ms()
        end = leader.log_end_offset.message_offset
        for replica in self._replicas.values():
            if not replica.is_local:
                replica.reset_last_caught_up_time(end, now_ms, now_ms if replica in self.in_sync_replicas else 0.0)
                if is_new_leader:
                    replica.update_log_end_offset(LogOffsetMetadata.UNKNOWN)

    def make_follower(self, state: PartitionState) -> bool:
        """Follow ``state.leader`` from now on; false if this broker followed it before."""
        with self._lock:
            self._apply(state)
            self.in_sync_replicas = frozenset()
            is_new_leader = self.leader_id != state.leader
            self.leader_id = state.leader
            return is_new_leader

    def resign(self) -> None:
        """Stop leading, and follow nobody yet: the controller has elected another leader, and names it later."""
        with self._lock:
            self._pending_isr = None
            self.in_sync_replicas = frozenset()
            self.leader_id = NO_LEADER

    def _apply(self, state: PartitionState) -> None:
        # First what takes time: meanwhile the old leadership ends in the old epoch.
        replicas = {broker_id: self._get_or_create_replica(broker_id) for broker_id in state.replicas}
        # At the end of a reassignment the ISR still has replicas that are not assigned any more.
        in_sync = [replicas.get(broker_id) or self._get_or_create_replica(broker_id) for broker_id in state.isr]
        self.controller_epoch = state.controller_epoch
        self.leader_epoch = state.leader_epoch
        self.zk_version = state.zk_version
        self._pending_isr = None  # if ZooKeeper has taken it, the controller has read it
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

    def maybe_replace_log(self, replace: Callable[[], Log | None]) -> bool:
        """Use the copy of the log in another directory from now on; false if ``replace`` returns None.

        Positions in the old log's files have no meaning any more; offsets do.
        """
        with self._lock:
            local = self.get_replica()
            log = replace() if local is not None else None
            if local is None or log is None:
                return False
            local.log = log
            local.high_watermark = LogOffsetMetadata(local.high_watermark.message_offset)
            for replica in self._replicas.values():
                if replica is not local and replica.log_end_offset is not LogOffsetMetadata.UNKNOWN:
                    replica.update_log_end_offset(LogOffsetMetadata(replica.log_end_offset.message_offset))
            if self.leader_replica_if_local is not None:
                log.maybe_assign_epoch_start_offset(self.leader_epoch, log.log_end_offset)
            return True

    def append_records_to_leader(
        self,
        records: Buffer | PreparedRecords,
        required_acks: int,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        verification_guard: VerificationGuard | None = None,
    ) -> tuple[LogAppendInfo, bool]:
        """Append as leader; also returns whether the high watermark moved.

        Raises NOT_LEADER_OR_FOLLOWER if another broker leads, NOT_ENOUGH_REPLICAS if ``acks=all`` needs more in-sync
        replicas than there are, and the errors of the log.
        """
        with self._lock:  # a leadership that ends meanwhile would leave a record in a follower's log
            leader = self.leader_replica_if_local
            if leader is None or leader.log is None:
                raise Errors.NOT_LEADER_OR_FOLLOWER.exception(
                    f"broker {self.local_broker_id} does not lead {self.topic_partition}"
                )
            min_isr = leader.log.config.min_insync_replicas
            in_sync = len(self.isr)
            if required_acks == -1 and in_sync < min_isr:
                raise Errors.NOT_ENOUGH_REPLICAS.exception(
                    f"{in_sync} replicas of {self.topic_partition} are in sync, min.insync.replicas requires {min_isr}"
                )
            info = leader.log.append_as_leader(records, self.leader_epoch, origin, verification_guard)
            # Without followers in the ISR the records are committed at once.
            return info, self._maybe_increment_leader_high_watermark(leader)

    def delete_records_on_leader(self, before_offset: int) -> int:
        """Move the log start offset up (-1: to the high watermark) and return it.

        Raises NOT_LEADER_OR_FOLLOWER, POLICY_VIOLATION if the topic has no delete policy, OFFSET_OUT_OF_RANGE beyond
        the high watermark.
        """
        leader = self.leader_replica_if_local
        log = leader.log if leader is not None else None
        if leader is None or log is None:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception(f"this broker does not lead {self.topic_partition}")
        if not log.config.delete:
            raise Errors.POLICY_VIOLATION.exception(
                f"the cleanup policy of {self.topic_partition.topic} does not include delete"
            )
        high_watermark = leader.high_watermark.message_offset
        target = high_watermark if before_offset == -1 else before_offset
        if not 0 <= target <= high_watermark:
            raise Errors.OFFSET_OUT_OF_RANGE.exception(
                f"cannot delete up to {target}: the high watermark of {self.topic_partition} is {high_watermark}"
            )
        log.maybe_increment_log_start_offset(target)
        return log.log_start_offset

    def update_follower_log_end_offset(
        self, broker_id: int, log_end_offset: LogOffsetMetadata, leader_log_end_offset: int | None = None
    ) -> bool:
        """A follower has fetched from ``log_end_offset``, so it has all records below; true if that moved the HW.

        ``leader_log_end_offset`` is where the log ended before that fetch was read (default: where it ends now).
        """
        with self._lock:
            replica = self._replicas.get(broker_id)
            leader = self.leader_replica_if_local
            # A client may use the id of this very broker; that is not a follower either.
            if replica is None or leader is None or replica is leader:
                raise ApiError(
                    Errors.NOT_LEADER_OR_FOLLOWER,
                    f"broker {broker_id} fetched {self.topic_partition}, which it does not follow",
                )
            end = leader.log_end_offset.message_offset if leader_log_end_offset is None else leader_log_end_offset
            replica.update_last_caught_up_time(log_end_offset.message_offset, end, self._time.hi_res_ms())
            replica.update_log_end_offset(log_end_offset)
            self._maybe_expand_isr(replica, leader)
            return self._maybe_increment_leader_high_watermark(leader)

    def _maybe_expand_isr(self, replica: Replica, leader: Replica) -> None:
        """A follower enters the ISR once it has everything that is committed.

        A new leader's high watermark may lag: what it had when it began to lead may be committed, too (KAFKA-7128).
        """
        committed = max(leader.high_watermark.message_offset, self._epoch_start_offset)
        if replica in self.in_sync_replicas or replica.log_end_offset.message_offset < committed:
            return
        self._write_isr({*self.in_sync_replicas, replica}, IsrChange.EXPAND)

    def maybe_shrink_isr(self, max_lag_ms: float) -> bool:
        """Drop followers that were not at the leader's end for ``max_lag_ms``; true if that moved the HW."""
        with self._lock:
            leader = self.leader_replica_if_local
            if leader is None or len(self.in_sync_replicas) == 1:
                return False
            lagging = self._lagging_replicas(leader, max_lag_ms)
            if not lagging or not self._write_isr(self.in_sync_replicas - lagging, IsrChange.SHRINK):
                return False
            return self._maybe_increment_leader_high_watermark(leader)

    def _lagging_replicas(self, leader: Replica, max_lag_ms: float) -> frozenset[Replica]:
        end, now_ms = leader.log_end_offset.message_offset, self._time.hi_res_ms()
        return frozenset(
            replica
            for replica in self.in_sync_replicas
            if replica is not leader
            and replica.log_end_offset.message_offset < end
            and now_ms - replica.last_caught_up_time_ms > max_lag_ms
        )

    def _write_isr(self, replicas: Collection[Replica], change: IsrChange) -> bool:
        """Have a new ISR written. Returns whether it holds already.

        It does not if another thread writes it or if another write is under way. Nor does it if ZooKeeper has a newer
        one, whose LeaderAndIsr request is on its way. The next fetch, or the next look at who lags, tries again.
        """
        if self._pending_isr is not None:
            return False
        isr, old = broker_ids(replicas), broker_ids(self.in_sync_replicas)
        logger.info("[%s] %s ISR from %s to %s", self.topic_partition, change.value, old, isr)
        leader_and_isr = LeaderAndIsr(self.local_broker_id, isr, self.leader_epoch, self.zk_version)
        state = LeaderIsrAndControllerEpoch(leader_and_isr, self.controller_epoch)
        new = frozenset(replicas)
        pending = self._pending_isr = PendingIsr(new, new - self.in_sync_replicas, state, change)
        self.in_sync_replicas |= pending.entering
        return self._submit_isr_write(self.topic_partition, lambda: self._write_pending_isr(pending))

    def _write_pending_isr(self, pending: PendingIsr) -> bool:
        """Write a new ISR and use it, unless the leadership has changed in the meantime; true if it holds now.

        If it raises an error, ZooKeeper may have the new ISR or the old one: it stays under way, and is to be called
        again.
        """
        if self._pending_isr is not pending:
            return False
        version = self._update_isr(self.topic_partition, pending.state, pending.change)
        with self._lock:
            is_current = self._pending_isr is pending
            if is_current:
                self._pending_isr = None
                if version is None:
                    self.in_sync_replicas -= pending.entering
                else:
                    self.in_sync_replicas, self.zk_version = pending.replicas, version
        if version is None:
            message = "[%s] Cached zkVersion %d not equal to that in zookeeper, skip updating ISR"
            logger.info(message, self.topic_partition, pending.state.leader_and_isr.zk_version)
        return is_current and version is not None

    def maybe_increment_high_watermark(self) -> bool:
        """Look whether more is committed by now, after a change of the ISR; true if that moved the HW."""
        with self._lock:
            leader = self.leader_replica_if_local
            return leader is not None and self._maybe_increment_leader_high_watermark(leader)

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

    def fetchable_end_offset(self, leader: Replica, for_follower: bool, committed_only: bool = False) -> int | None:
        """How far a reader may read: followers to the end (None), consumers to the high watermark or the LSO."""
        if for_follower:
            return None
        end = leader.last_stable_offset if committed_only else leader.high_watermark
        return end.message_offset

    def diverging_epoch(self, log: Log, last_fetched_epoch: int, fetch_offset: int) -> EpochEntry | None:
        """Where a reader's log and this one part, if they do: the newest epoch that both may have, and its end here.

        ``last_fetched_epoch`` is that of the reader's last record, before ``fetch_offset`` (-1: it does not ask)::

            reader     |── epoch 1 ──|── epoch 2 ─────|   fetches from here, and has read epoch 2
            this log   |── epoch 1 ─────|── epoch 3 ──|   does not have epoch 2, and epoch 1 ends here ─▶ |

        Raises OFFSET_OUT_OF_RANGE if the epoch is newer than all of this log, or the reader is before its start.

        Kafka 2.7: core/.../cluster/Partition.scala (readRecords), KIP-595; 0.10 truncates to the high watermark instead
        """
        if last_fetched_epoch < 0:
            return None
        end = log.end_offset_for_epoch(last_fetched_epoch)
        if UNKNOWN_EPOCH in (end.epoch, end.start_offset):
            unknown = f"the end of epoch {last_fetched_epoch} of {self.topic_partition} is not known"
            raise Errors.OFFSET_OUT_OF_RANGE.exception(unknown)
        if fetch_offset < log.log_start_offset:
            below = f"offset {fetch_offset} is below the log start offset {log.log_start_offset}"
            raise Errors.OFFSET_OUT_OF_RANGE.exception(f"{below} of {self.topic_partition}")
        return end if end.epoch < last_fetched_epoch or end.start_offset < fetch_offset else None

    def check_leader_epoch(self, requested_epoch: int) -> Errors:
        """Compare the leader epoch that a client knows with ours (-1: it knows none)."""
        if requested_epoch == UNKNOWN_EPOCH or requested_epoch == self.leader_epoch:
            return _NO_ERROR
        return Errors.FENCED_LEADER_EPOCH if requested_epoch < self.leader_epoch else Errors.UNKNOWN_LEADER_EPOCH
