"""A partition as one share group consumes it, on the partition's leader.

Kafka 4.1: core/.../server/share/SharePartition.java · book 5.4.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.coordinator.group.modern.share_group_config import (
    ShareGroupAutoOffsetResetStrategy,
    ShareGroupConfig,
)
from kafka_lite.coordinator.share.persister import (
    UNINITIALIZED_START_OFFSET,
    PartitionAllData,
    PartitionStateBatchData,
    Persister,
    PersisterStateBatch,
    SharePartitionKey,
)
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.server.share import acknowledgement
from kafka_lite.server.share.aborted_batches import without_aborted
from kafka_lite.server.share.acknowledgement import ShareAcknowledgementBatch, StateChange
from kafka_lite.server.share.acquisition import Acquired, Acquisition, LogBatch
from kafka_lite.server.share.acquisition_lock_timer import AcquisitionLockTimer, AcquisitionLockTimerTask
from kafka_lite.server.share.in_flight_records import InFlightRecords, StateBatch
from kafka_lite.server.share.record_state import (
    VALID_PREVIOUS_PARTITION_STATES,
    RecordState,
    SharePartitionState,
)
from kafka_lite.server.share.share_partition_metrics import SharePartitionMetrics
from kafka_lite.server.share.state_writes import Done, StateWrites, persister_error

logger = logging.getLogger(__name__)

StartOffset = Callable[[ShareGroupAutoOffsetResetStrategy], int]
"""Finds where a group without a state begins. Raises ApiError."""


class ReadBatches(NamedTuple):
    """The batches of one read of the log."""

    fetch_offset: int
    """Where it began."""
    batches: Sequence[LogBatch]
    """The batches, at least one."""
    aborted: Sequence[LogBatch] = ()
    """The batches of aborted transactions, which are not delivered."""


class SharePartition:
    """The records in flight, under one lock, with what they need of the outside::

        ShareFetch ──▶ acquire ─────┐                       ┌──▶ timer: locks expire ──▶ available again
        acknowledgements ───────────┼──▶ InFlightRecords ───┤
        session closed ──▶ release ─┘     (decides)         └──▶ StateWrites ──▶ persister

    A change counts once the persister has it; if it fails, it is rolled back. Acquiring is not written: a new leader
    delivers the record again, and its delivery count is lower by one.

    Its states are in ``record_state``. An object that is FENCED stays so; the leader makes a new one.
    """

    def __init__(
        self,
        key: SharePartitionKey,
        leader_epoch: int,
        config_of_group: Callable[[], ShareGroupConfig],
        start_offset: StartOffset,
        persister: Persister,
        timer: AcquisitionLockTimer,
        on_available: Callable[[], None],
        metrics: SharePartitionMetrics,
    ) -> None:
        """``on_available`` is called without a lock when there may be more to acquire than before."""
        self.key = key
        self.leader_epoch = leader_epoch
        self._config = config_of_group
        self._start_offset = start_offset
        self._persister = persister
        self._partition = TopicIdPartition(key.topic_id, key.partition)
        self._writes = StateWrites(persister, key.group_id, self._partition)
        self._timer = timer
        self._on_available = on_available
        self.metrics = metrics
        self._lock = threading.Lock()
        self._records = InFlightRecords(0)
        self._state_epoch = 0
        self._fetched_by: object = None
        self._position: LogOffsetMetadata | None = None
        self.state = SharePartitionState.EMPTY
        metrics.watch(lambda: self.in_flight_count, lambda: self.in_flight_batch_count)

    def __str__(self) -> str:
        return f"{self.key.group_id}:{self._partition.topic_id}-{self._partition.partition}"

    # ── initialization ────────────────────────────────────────────────────────────────────────────────────────────

    def maybe_initialize(self, done: Done) -> None:
        """Read the state at the first call. ``done`` is called at once, later, or, while another call reads, never.

        It gets the persister's error; LEADER_NOT_AVAILABLE if the object was fenced.
        """
        with self._lock:
            state = self.state
            if state is SharePartitionState.EMPTY:
                self._enter(SharePartitionState.INITIALIZING)
        if state is SharePartitionState.EMPTY:
            epochs = {self._partition: self.leader_epoch}
            self._persister.read_state(self.key.group_id, epochs, lambda results: self._load(results, done))
        elif state is SharePartitionState.ACTIVE:
            done(None)
        elif state is SharePartitionState.FENCED:
            done(Errors.LEADER_NOT_AVAILABLE.exception(f"Share partition is fenced {self}"))
        elif state is SharePartitionState.FAILED:
            done(Errors.UNKNOWN_SERVER_ERROR.exception(f"Share partition failed to load {self}"))

    def _load(self, results: Mapping[TopicIdPartition, PartitionAllData], done: Done) -> None:
        failure: ApiError | None = None
        try:
            records, epoch = self._records_of(results.get(self._partition)), results[self._partition].state_epoch
        except ApiError as error:
            failure = error
        except Exception:
            logger.exception("Failed to initialize the share partition: %s", self)
            failure = Errors.UNKNOWN_SERVER_ERROR.exception(f"Failed to initialize the share partition {self}")
        with self._lock:
            if self.state is SharePartitionState.INITIALIZING:  # not fenced meanwhile
                if failure is None:
                    self._records, self._state_epoch = records, epoch
                self._enter(SharePartitionState.ACTIVE if failure is None else SharePartitionState.FAILED)
        done(failure)

    def _records_of(self, read: PartitionAllData | None) -> InFlightRecords:
        """Raises ApiError for an error, and ValueError for a state that makes no sense."""
        if read is None:
            raise Errors.UNKNOWN_SERVER_ERROR.exception(f"Failed to initialize the share partition {self}")
        if read.error is not Errors.NONE:
            raise persister_error(read.error, read.message)
        start = read.start_offset
        if start == UNINITIALIZED_START_OFFSET:
            start = self._start_offset(self._config().auto_offset_reset)
        batches = [
            StateBatch(first, last, RecordState(state), count) for first, last, state, count in read.state_batches
        ]
        for first, last, _, _ in batches:
            self.metrics.batch_in_flight(last - first + 1)
        return InFlightRecords(start, batches)

    def _enter(self, state: SharePartitionState) -> None:
        assert self.state in VALID_PREVIOUS_PARTITION_STATES[state], f"{self.state.name} cannot become {state.name}"
        self.state = state

    def mark_fenced(self) -> None:
        """Another broker leads the partition, or the group's state is another one: deliver nothing more."""
        with self._lock:
            if self.state is not SharePartitionState.FENCED:
                self._enter(SharePartitionState.FENCED)

    @property
    def is_active(self) -> bool:
        """Whether records may be delivered."""
        return self.state is SharePartitionState.ACTIVE

    @property
    def is_fenced(self) -> bool:
        """Whether it was let go."""
        return self.state is SharePartitionState.FENCED

    # ── fetching: one fetch at a time ─────────────────────────────────────────────────────────────────────────────

    def maybe_acquire_fetch_lock(self, fetch: object) -> bool:
        """Reserve reading for ``fetch``: false while another fetch reads, or the partition is not active."""
        with self._lock:
            if not self.is_active or self._fetched_by is not None:
                return False
            self._fetched_by = fetch
            self.metrics.fetch_lock_acquired()
            return True

    def release_fetch_lock(self, fetch: object) -> None:
        """``fetch`` has read."""
        with self._lock:
            if self._fetched_by is fetch:
                self._fetched_by = None
                self.metrics.fetch_lock_released()

    def can_acquire_records(self) -> bool:
        """Whether not too many records are in flight, or one of them may be delivered again."""
        with self._lock:
            return self._records.can_acquire(self._config().partition_max_record_locks)

    def next_fetch_offset(self) -> int:
        """Where to read."""
        with self._lock:
            return self._records.next_fetch_offset()

    def position_of(self, fetch_offset: int) -> LogOffsetMetadata | None:
        """Where the offset is in the log, if the last read began there."""
        position = self._position
        return position if position is not None and position.message_offset == fetch_offset else None

    def remember_position(self, position: LogOffsetMetadata | None) -> None:
        """Where the last read began: a fetch that waits need not read in order to see how much there is by now."""
        self._position = position

    def acquire(self, member_id: str, read: ReadBatches, max_records: int, batch_size: int) -> list[Acquired]:
        """Acquire records for a member, until it acknowledges them, closes its session, or the lock expires."""
        with self._lock:
            if not self.is_active or max_records <= 0 or not read.batches:
                return []
            duration_ms = self._config().record_lock_duration_ms
            lock = AcquisitionLockTimerTask(member_id, duration_ms, self._on_lock_timeout)
            acquisition = Acquisition(self._records, member_id, lock)
            acquired = acquisition.acquire(read.batches, read.fetch_offset, max_records, batch_size)
            if acquired and read.aborted:
                everything = acquired
                acquired = without_aborted(self._records, everything, read.aborted, lock)
                if acquired != everything:
                    self._records.move_start_offset()
            if lock.is_held:
                lock.first_offset = min(each.first_offset for each in acquired)
                lock.last_offset = max(each.last_offset for each in acquired)
                self._timer.add(lock)
                for each in acquired:
                    self.metrics.batch_in_flight(each.size)
            return acquired

    def update_log_start_offset(self, log_start_offset: int) -> None:
        """The log begins later than what was to be read: give up what it no longer has."""
        with self._lock:
            self._records.log_start_offset_moved(log_start_offset)

    # ── what changes records in flight ────────────────────────────────────────────────────────────────────────────

    def acknowledge(self, member_id: str, batches: Sequence[ShareAcknowledgementBatch], done: Done) -> None:
        """A member has processed records. ``done`` is called once that is written, or with what is wrong with it.

        INVALID_RECORD_STATE, INVALID_REQUEST, NOT_LEADER_OR_FOLLOWER (fenced), and errors of the persister.
        """
        try:
            with self._lock:
                self._require_active()
                limit = self._config().delivery_count_limit
                change = acknowledgement.acknowledge(self._records, member_id, batches, limit)
                self._write(change, done)
        except ApiError as failure:
            done(failure)
            return
        self._complete(change, done)

    def release_acquired_records(self, member_id: str, done: Done) -> None:
        """A member has closed its session: what it has acquired is delivered to others."""
        try:
            with self._lock:
                self._require_active()
                change = acknowledgement.release(self._records, member_id, self._config().delivery_count_limit)
                self._write(change, done)
        except ApiError as failure:
            done(failure)
            return
        self._complete(change, done)

    def _require_active(self) -> None:
        if not self.is_active:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception(f"Share partition is {self.state.value}: {self}")

    def _write(self, change: StateChange, done: Done) -> None:
        if change.batches:
            self._writes.add(self._data_of(change), lambda failure: self._written(change, failure, done))

    def _complete(self, change: StateChange, done: Done) -> None:
        if change.batches:
            self._writes.send()
        else:
            done(None)

    def _data_of(self, change: StateChange) -> PartitionStateBatchData:
        batches = [PersisterStateBatch(first, last, state.value, count) for first, last, state, count in change.batches]
        return PartitionStateBatchData(self._state_epoch, self.leader_epoch, self._records.start_offset, batches)

    def _written(self, change: StateChange, failure: ApiError | None, done: Done) -> None:
        late: list[AcquisitionLockTimerTask] = []
        with self._lock:
            if failure is None:
                change.commit()
                self._records.has_available = True
                self._records.move_start_offset()
            else:
                logger.warning("Failed to write the state of share partition %s: %s", self, failure)
                for state in change.roll_back():
                    if isinstance(state.lock, AcquisitionLockTimerTask) and state.lock not in late:
                        late.append(state.lock)
        for lock in late:
            self._on_lock_timeout(lock)
        done(failure)
        if failure is None:
            self._on_available()

    def _on_lock_timeout(self, lock: AcquisitionLockTimerTask) -> None:
        """Deliver what is still acquired under the lock to others. That counts even if it cannot be written."""
        with self._lock:
            lock.is_expired = True
            if not self.is_active:
                return
            limit = self._config().delivery_count_limit
            change = acknowledgement.time_out(self._records, lock, lock.first_offset, lock.last_offset, limit)
            if not change.batches:
                return
            self.metrics.locks_expired(sum(last - first + 1 for first, last, _, _ in change.batches))
            data = self._data_of(change)
            self._records.move_start_offset()
            self._writes.add(data, self._timeout_written)
        self._writes.send()
        self._on_available()

    def _timeout_written(self, failure: ApiError | None) -> None:
        if failure is not None:
            logger.warning("Failed to write that locks of share partition %s have expired: %s", self, failure)

    # ── for metrics, tools and tests ──────────────────────────────────────────────────────────────────────────────

    @property
    def in_flight_count(self) -> int:
        """How many records are in flight."""
        with self._lock:
            return self._records.count

    @property
    def in_flight_batch_count(self) -> int:
        """How many batches are in flight."""
        return len(self._records.batches)

    @property
    def offsets(self) -> tuple[int, int]:
        """Start offset (SPSO) and end offset (SPEO)."""
        with self._lock:
            return self._records.start_offset, self._records.end_offset
