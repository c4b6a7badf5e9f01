"""The share partitions whose state one partition of ``__share_group_state`` has.

Kafka 4.1: share-coordinator/.../coordinator/share/ShareCoordinatorShard.java · book 10.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import Time
from kafka_lite.coordinator.group.group_lock import GroupLock
from kafka_lite.coordinator.share import share_coordinator_records as records
from kafka_lite.coordinator.share import share_partition_state as states
from kafka_lite.coordinator.share.persister import (
    DEFAULT_LEADER_EPOCH,
    DEFAULT_STATE_EPOCH,
    UNINITIALIZED_EPOCH,
    UNINITIALIZED_START_OFFSET,
    PartitionAllData,
    PartitionErrorData,
    PartitionStateBatchData,
    PartitionStateData,
    PartitionStateSummaryData,
    SharePartitionKey,
)
from kafka_lite.coordinator.share.shard_writer import Records, ShardWriter, Write
from kafka_lite.coordinator.share.share_coordinator_config import ShareCoordinatorConfig
from kafka_lite.coordinator.share.share_coordinator_offsets_manager import ShareCoordinatorOffsetsManager
from kafka_lite.coordinator.share.share_coordinator_records import ShareRecord, ShareSnapshot
from kafka_lite.coordinator.share.share_partition_state import Asked, Operation, SharePartitionState

logger = logging.getLogger(__name__)

PartitionExists = Callable[[UUID, int], bool]
NewWriter = Callable[["ShareCoordinatorShard"], ShardWriter]
RespondError = Callable[[PartitionErrorData], None]


class ShareCoordinatorShard:
    """Decides with the state in memory, and responds once the record of the decision is in the log.

    Responses are sent without the shard's lock, since what they call may have locks of its own. A shard serves one
    leadership of its partition. When that ends, it is closed; the next leader, which may be this broker, reads the log
    into another one.
    """

    def __init__(
        self, config: ShareCoordinatorConfig, partition_exists: PartitionExists, time: Time, new_writer: NewWriter
    ) -> None:
        """``partition_exists`` tells whether the cluster has a partition of a topic with this id."""
        self.lock = GroupLock()
        self._config = config
        self._partition_exists = partition_exists
        self._time = time
        self._states: dict[SharePartitionKey, SharePartitionState] = {}
        self._offsets = ShareCoordinatorOffsetsManager()
        self._is_closed = False
        self._writer = new_writer(self)

    @property
    def _limit(self) -> int:
        return self._config.snapshot_update_records_per_snapshot

    # ── the state ─────────────────────────────────────────────────────────────────────────────────────────────────

    def replay(self, record: ShareRecord, offset: int) -> None:
        """Apply a record of the log, at this offset, before the shard is served."""
        self._apply(record)
        self._remember(record, offset)

    def _apply(self, record: ShareRecord) -> Callable[[], None]:
        """Change the state; returns what restores it."""
        key = record.key
        before = self._states.get(key)
        self._set(key, states.replay(before, record, self._limit))
        return lambda: self._set(key, before)

    def _set(self, key: SharePartitionKey, state: SharePartitionState | None) -> None:
        if state is None:
            self._states.pop(key, None)
        else:
            self._states[key] = state

    def _remember(self, record: ShareRecord, offset: int) -> None:
        if isinstance(record, ShareSnapshot):
            self._offsets.update(record.key, offset, is_tombstone=record.offset is None)

    def __contains__(self, key: SharePartitionKey) -> bool:
        return key in self._states

    def last_redundant_offset(self) -> int | None:
        """The offset before which the log's records are not needed."""
        with self.lock:
            return self._offsets.last_redundant_offset()

    def close(self) -> None:
        """Refuse what comes, and respond to all who wait: another broker may lead the partition now."""
        with self.lock:
            self._is_closed = True
            self._writer.close(Errors.NOT_COORDINATOR)

    # ── operations ────────────────────────────────────────────────────────────────────────────────────────────────

    def initialize_state(self, key: SharePartitionKey, data: PartitionStateData, respond: RespondError) -> None:
        """Begin a partition's state.

        A state that is there stays if no offset is asked for: the request has been sent before, and its response was
        lost, or another group coordinator has sent it; in the meantime members may have acknowledged records. (Kafka
        4.1 begins again, but does not send a request twice.)
        """
        with self.lock:
            known = self._states.get(key)
            error = self._error_of(Operation.INITIALIZE, key, state_epoch=data.state_epoch)
            is_begun = known is not None and data.start_offset == UNINITIALIZED_START_OFFSET
            begins = error is None and not is_begun
            record = states.initialization(key, known, data, self._time.milliseconds()) if begins else None
            self._respond_when_written(Operation.INITIALIZE, error, record, respond)

    def write_state(self, key: SharePartitionKey, data: PartitionStateBatchData, respond: RespondError) -> None:
        """Change a partition's state."""
        with self.lock:
            known = self._states.get(key)
            error = self._error_of(Operation.WRITE, key, leader_epoch=data.leader_epoch, state_epoch=data.state_epoch)
            record: ShareRecord | None = None
            if error is None and known is not None:
                record = states.change(key, known, data, self._limit, self._time.milliseconds())
            self._respond_when_written(Operation.WRITE, error, record, respond)

    def delete_state(self, key: SharePartitionKey, respond: RespondError) -> None:
        """Forget a partition's state."""
        with self.lock:
            error = self._error_of(Operation.DELETE, key)
            tombstone = ShareSnapshot(key, None) if error is None and key in self._states else None
            self._respond_when_written(Operation.DELETE, error, tombstone, respond)

    def read_state(
        self, key: SharePartitionKey, leader_epoch: int, respond: Callable[[PartitionAllData], None]
    ) -> None:
        """Read a partition's state for its leader, and fence the leaders before."""
        with self.lock:
            known = self._states.get(key)
            failure = self._error_of(Operation.READ, key, leader_epoch=leader_epoch)
            if failure is not None or known is None:
                failed = failed_read(failure or PartitionErrorData(Errors.UNKNOWN_SERVER_ERROR))
                self.lock.defer(lambda: respond(failed))
                return
            offset = known.offset
            found = PartitionAllData(offset.state_epoch, offset.start_offset, offset.state_batches)
            record = states.leader_change(key, known, leader_epoch, self._limit, self._time.milliseconds())
            if record is not None:
                logger.info("%s is read by a leader with the epoch %d", key.as_coordinator_key(), leader_epoch)

            def on_written(error: Errors) -> None:
                result = found if error is Errors.NONE else failed_read(unable_to(Operation.READ, error))
                self.lock.defer(lambda: respond(result))

            self._write([] if record is None else [record], on_written)

    def read_summary(self, key: SharePartitionKey, respond: Callable[[PartitionStateSummaryData], None]) -> None:
        """Read where a group is in a partition, once what is being written is in the log."""
        with self.lock:
            failure = self._error_of(Operation.READ_SUMMARY, key)
            if failure is not None:
                self.lock.defer(lambda: respond(failed_summary(failure)))
                return

            def on_written(error: Errors) -> None:
                is_known = error is Errors.NONE
                found = self._summary(key) if is_known else failed_summary(unable_to(Operation.READ_SUMMARY, error))
                self.lock.defer(lambda: respond(found))

            self._write([], on_written)

    def _summary(self, key: SharePartitionKey) -> PartitionStateSummaryData:
        known = self._states.get(key)
        if known is None:
            return PartitionStateSummaryData(DEFAULT_STATE_EPOCH, DEFAULT_LEADER_EPOCH, UNINITIALIZED_START_OFFSET)
        offset = known.offset
        return PartitionStateSummaryData(offset.state_epoch, offset.leader_epoch, offset.start_offset)

    # ── what the coordinator does by itself ───────────────────────────────────────────────────────────────────────

    def snapshot_cold_partitions(self) -> None:
        """Write another snapshot of what has not changed for long, unless that holds for all and has been done."""
        with self.lock:
            if all(state.offset.is_of_a_cold_partition for state in self._states.values()):
                return
            now_ms, interval_ms = self._time.milliseconds(), self._config.cold_partition_snapshot_interval_ms
            cold = [states.cold_snapshot(key, state, interval_ms, now_ms) for key, state in self._states.items()]
            self._write_unasked([record for record in cold if record is not None])

    def delete_topics(self, topic_ids: Collection[UUID]) -> None:
        """Forget the partitions of topics that have been deleted."""
        with self.lock:
            self._write_unasked([ShareSnapshot(key, None) for key in self._states if key.topic_id in topic_ids])

    def _write_unasked(self, written: list[ShareSnapshot]) -> None:
        def on_written(error: Errors) -> None:
            if error is not Errors.NONE:
                logger.warning("%d snapshots were not written: %s", len(written), error.name)

        if written:
            self._write(written, on_written)

    # ── the log ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _error_of(
        self,
        operation: Operation,
        key: SharePartitionKey,
        leader_epoch: int = UNINITIALIZED_EPOCH,
        state_epoch: int = UNINITIALIZED_EPOCH,
    ) -> PartitionErrorData | None:
        if self._is_closed:
            return unable_to(operation, Errors.NOT_COORDINATOR)
        exists = self._partition_exists(key.topic_id, key.partition)
        error = states.error_of(operation, Asked(key, self._states.get(key), exists, leader_epoch, state_epoch))
        if error is not None:
            logger.info("Cannot %s of %s: %s", operation.value, key.as_coordinator_key(), error.message)
        return error

    def _respond_when_written(
        self, operation: Operation, error: PartitionErrorData | None, record: ShareRecord | None, respond: RespondError
    ) -> None:
        if error is not None:
            self.lock.defer(lambda: respond(error))
            return

        def on_written(failure: Errors) -> None:
            result = PartitionErrorData() if failure is Errors.NONE else unable_to(operation, failure)
            self.lock.defer(lambda: respond(result))

        self._write([] if record is None else [record], on_written)

    def _write(self, written: list[ShareRecord] | list[ShareSnapshot], respond: Callable[[Errors], None]) -> None:
        undo = [self._apply(record) for record in written]

        def undo_all() -> None:
            for restore in reversed(undo):
                restore()

        def on_written(error: Errors, offset: int) -> None:
            if offset >= 0:
                for number, record in enumerate(written):
                    self._remember(record, offset + number)
            respond(error)

        encoded: Records = [records.encode(record) for record in written]
        self._writer.write(Write(encoded, undo_all, on_written))


def unable_to(operation: Operation, error: Errors) -> PartitionErrorData:
    """The outcome of an operation that the log did not take, or that another broker must be asked for."""
    return PartitionErrorData(error, f"Unable to {operation.value}: {error.message}")


def failed_read(failure: PartitionErrorData) -> PartitionAllData:
    """The response to a read that has failed."""
    return PartitionAllData(DEFAULT_STATE_EPOCH, 0, (), failure.error, failure.message)


def failed_summary(failure: PartitionErrorData) -> PartitionStateSummaryData:
    """The same for a summary."""
    return PartitionStateSummaryData(DEFAULT_STATE_EPOCH, DEFAULT_LEADER_EPOCH, 0, failure.error, failure.message)
