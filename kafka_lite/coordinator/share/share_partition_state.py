"""The state of a share partition in its coordinator: the checks of each operation, and the records they lead to.

Kafka 4.1: share-coordinator/.../coordinator/share/ShareCoordinatorShard.java (maybeGet...Error, generate...Record,
handleShareSnapshot, handleShareUpdate) · book 10.3
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from enum import Enum
from typing import NamedTuple

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.share.persister import (
    UNINITIALIZED_EPOCH,
    PartitionErrorData,
    PartitionStateBatchData,
    PartitionStateData,
    SharePartitionKey,
)
from kafka_lite.coordinator.share.share_coordinator_records import ShareRecord, ShareSnapshot, ShareUpdate
from kafka_lite.coordinator.share.share_group_offset import ShareGroupOffset


class SharePartitionState(NamedTuple):
    """The state after the records so far. It is replaced and never changed."""

    offset: ShareGroupOffset
    leader_epoch: int
    """The highest leader epoch ever seen; that in ``offset`` begins again at 0 when the partition is initialized."""

    state_epoch: int
    """The highest state epoch ever seen."""

    updates: int | None = None
    """Updates since the last snapshot, beginning with 0; None before the first one."""


def replay(known: SharePartitionState | None, record: ShareRecord, limit: int) -> SharePartitionState | None:
    """The state after one more record; None: the partition is forgotten. ``limit``: updates between snapshots."""
    match record:
        case ShareSnapshot(_, None):
            return None
        case ShareSnapshot(_, offset) if offset is not None:
            updates = None if known is None else known.updates
            if updates is not None and updates >= limit:
                updates = 0
            leader_epoch = offset.leader_epoch if known is None else max(known.leader_epoch, offset.leader_epoch)
            state_epoch = offset.state_epoch if known is None else max(known.state_epoch, offset.state_epoch)
            return SharePartitionState(offset, leader_epoch, state_epoch, updates)
        case ShareUpdate(_, update) if known is None:
            # Its snapshot is missing. An update has no state epoch.
            return SharePartitionState(update, update.leader_epoch, update.state_epoch, 0)
        case ShareUpdate(_, update) if known is not None:
            updates = 0 if known.updates is None else known.updates + 1
            leader_epoch = max(known.leader_epoch, update.leader_epoch)
            return SharePartitionState(known.offset.merge(update), leader_epoch, known.state_epoch, updates)
    raise AssertionError(record)


# ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Operation(Enum):
    """Operations on a share partition. The value is from Kafka's error messages."""

    INITIALIZE = "initialize share group state"
    READ = "read share group state"
    WRITE = "write share group state"
    DELETE = "delete share group state"
    READ_SUMMARY = "read share group state summary"


class Asked(NamedTuple):
    """One question, and what is known about its partition."""

    key: SharePartitionKey
    known: SharePartitionState | None
    exists: bool
    """Whether the cluster has the partition."""

    leader_epoch: int = UNINITIALIZED_EPOCH
    state_epoch: int = UNINITIALIZED_EPOCH


Check = Callable[[Asked], PartitionErrorData | None]
"""Returns the error, or None."""


def _partition_is_valid(asked: Asked) -> PartitionErrorData | None:
    if asked.key.partition >= 0:
        return None
    return PartitionErrorData(Errors.INVALID_REQUEST, "The partition id cannot be a negative number.")


def _is_initialized(operation: str) -> Check:
    def check(asked: Asked) -> PartitionErrorData | None:
        if asked.known is not None:
            return None
        text = f"{operation} operation on uninitialized share partition not allowed."
        return PartitionErrorData(Errors.INVALID_REQUEST, text)

    return check


def _reader_is_current(asked: Asked) -> PartitionErrorData | None:
    if asked.known is None or asked.leader_epoch >= asked.known.leader_epoch:
        return None
    return _error(Errors.FENCED_LEADER_EPOCH)


def _writer_is_current(asked: Asked) -> PartitionErrorData | None:
    """As for a reader, but a writer may leave its epoch out."""
    return None if asked.leader_epoch == UNINITIALIZED_EPOCH else _reader_is_current(asked)


def _state_is_current(asked: Asked) -> PartitionErrorData | None:
    if asked.state_epoch == UNINITIALIZED_EPOCH or asked.known is None:
        return None
    return None if asked.state_epoch >= asked.known.state_epoch else _error(Errors.FENCED_STATE_EPOCH)


def _partition_exists(asked: Asked) -> PartitionErrorData | None:
    return None if asked.exists else _error(Errors.UNKNOWN_TOPIC_OR_PARTITION)


def _error(error: Errors) -> PartitionErrorData:
    return PartitionErrorData(error, error.message)


CHECKS: Mapping[Operation, tuple[Check, ...]] = {
    Operation.INITIALIZE: (_partition_is_valid, _state_is_current, _partition_exists),
    Operation.READ: (_partition_is_valid, _is_initialized("Read"), _reader_is_current, _partition_exists),
    Operation.WRITE: (
        _partition_is_valid,
        _is_initialized("Write"),
        _writer_is_current,
        _state_is_current,
        _partition_exists,
    ),
    Operation.DELETE: (_partition_is_valid, _partition_exists),
    Operation.READ_SUMMARY: (_partition_is_valid, _partition_exists),
}
"""Conditions of each operation, in the order in which Kafka looks."""


def error_of(operation: Operation, asked: Asked) -> PartitionErrorData | None:
    """The first check that fails; None if none does."""
    return next((error for check in CHECKS[operation] if (error := check(asked)) is not None), None)


# ── records ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def initialization(
    key: SharePartitionKey, known: SharePartitionState | None, data: PartitionStateData, now_ms: int
) -> ShareSnapshot:
    """The record that initializes a partition."""
    snapshot_epoch = 0 if known is None else known.offset.snapshot_epoch + 1
    return ShareSnapshot(key, ShareGroupOffset.initial(data, snapshot_epoch, now_ms))


def change(
    key: SharePartitionKey, known: SharePartitionState, data: PartitionStateBatchData, limit: int, now_ms: int
) -> ShareRecord:
    """The record of a write: a snapshot after ``limit`` updates, or if the state epoch rises, which updates lack."""
    if (known.updates or 0) >= limit or data.state_epoch > known.offset.state_epoch:
        return ShareSnapshot(key, known.offset.next_snapshot(data, now_ms))
    return ShareUpdate(key, known.offset.update(data))


def leader_change(
    key: SharePartitionKey, known: SharePartitionState, leader_epoch: int, limit: int, now_ms: int
) -> ShareRecord | None:
    """The record of a read by a new leader, so that the one before is fenced; None if the leader is known."""
    if leader_epoch in (UNINITIALIZED_EPOCH, known.leader_epoch):
        return None
    data = PartitionStateBatchData(known.offset.state_epoch, leader_epoch, known.offset.start_offset, ())
    return change(key, known, data, limit, now_ms)


def cold_snapshot(
    key: SharePartitionKey, known: SharePartitionState, interval_ms: int, now_ms: int
) -> ShareSnapshot | None:
    """Another snapshot of a state whose last one is old; None if it is not."""
    if now_ms - known.offset.write_timestamp < interval_ms:
        return None
    later = dataclasses.replace(known.offset, snapshot_epoch=known.offset.snapshot_epoch + 1, write_timestamp=now_ms)
    return ShareSnapshot(key, later)
