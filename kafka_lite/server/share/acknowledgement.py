"""Decides what acknowledgements, closed sessions and expired locks change.

Kafka 4.1: core/.../server/share/SharePartition.java (acknowledge, acknowledgeBatchRecords, releaseAcquiredRecords,
releaseAcquisitionLockOnTimeout) · book 5.4.1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.server.share.in_flight_batch import InFlightBatch
from kafka_lite.server.share.in_flight_records import InFlightRecords, StateBatch
from kafka_lite.server.share.in_flight_state import AcquisitionLock, InFlightState
from kafka_lite.server.share.record_state import STATE_OF_ACKNOWLEDGE_TYPE, RecordState


class ShareAcknowledgementBatch(NamedTuple):
    """A member's word on records: one type for all offsets, or one for each."""

    first_offset: int
    last_offset: int
    acknowledge_types: Sequence[int]

    def type_at(self, offset: int) -> int:
        """Its word on one offset."""
        types = self.acknowledge_types
        return types[0] if len(types) == 1 else types[offset - self.first_offset]


class StateChange:
    """States that have begun to change, all or none of which shall: a request, until its outcome is written."""

    def __init__(self) -> None:
        self._states: list[InFlightState] = []
        self.batches: list[StateBatch] = []
        """The records of the change, for the persister."""

    def begin(
        self, first: int, last: int, state: InFlightState, to: RecordState, limit: int, *, undelivered: bool = False
    ) -> None:
        """Change one state."""
        state.begin(to, limit, undelivered=undelivered)
        self._states.append(state)
        self.add(first, last, state)

    def add(self, first: int, last: int, state: InFlightState) -> None:
        """A state that has changed; single records of the same fate become a range."""
        batch = StateBatch(first, last, state.state, state.delivery_count)
        if self.batches and self.batches[-1].last_offset == first - 1 and self.batches[-1][2:] == batch[2:]:
            batch = batch._replace(first_offset=self.batches.pop().first_offset)
        self.batches.append(batch)

    def commit(self) -> None:
        """It is written."""
        for state in self._states:
            state.commit()

    def roll_back(self) -> list[InFlightState]:
        """It is not written: the records are what they were. Returns those whose locks have expired meanwhile."""
        for state in self._states:
            state.roll_back()
        return [state for state in self._states if state.lock is not None and state.lock.is_expired]


def acknowledge(
    records: InFlightRecords, member_id: str, batches: Sequence[ShareAcknowledgementBatch], limit: int
) -> StateChange:
    """Begin to change what a member acknowledges. ``limit``: how often a record is delivered at most.

    Records below the start offset are skipped. Raises INVALID_RECORD_STATE for records that the member has not
    acquired, or no longer, and INVALID_REQUEST for offsets beyond all that are in flight. Nothing is changed then.
    """
    change = StateChange()
    try:
        for batch in batches:
            if batch.last_offset >= records.start_offset:
                _acknowledge_batch(records, member_id, batch, limit, change)
    except ApiError:
        change.roll_back()
        raise
    return change


def _acknowledge_batch(
    records: InFlightRecords, member_id: str, said: ShareAcknowledgementBatch, limit: int, change: StateChange
) -> None:
    first, last = max(said.first_offset, records.start_offset), said.last_offset
    found = records.batches.overlapping(first, last)
    if not found and (not len(records.batches) or records.batches.first.first_offset > last):
        message = "Batch record not found. The request batch offsets are not found in the cache."
        raise Errors.INVALID_RECORD_STATE.exception(message)
    if not found:
        message = "Batch record not found. The first offset in request is past acquired records."
        raise Errors.INVALID_REQUEST.exception(message)
    if found[-1].last_offset < last:
        message = "Batch record not found. The last offset in request is past acquired records."
        raise Errors.INVALID_REQUEST.exception(message)
    for batch in found:
        _require_acquired(batch.whole, member_id)
        is_complete = batch.is_within(first, last) and len(said.acknowledge_types) == 1
        if not is_complete:
            batch.divide()
        for begin, end, state in batch.parts_within(first, last):
            _require_acquired(state, member_id)
            change.begin(begin, end, state, STATE_OF_ACKNOWLEDGE_TYPE[said.type_at(begin)], limit)


def _require_acquired(state: InFlightState | None, member_id: str) -> None:
    """``state`` is None for a batch that is divided."""
    if state is None:
        return
    if state.state is not RecordState.ACQUIRED:
        message = "The batch cannot be acknowledged. The batch is not in the acquired state."
        raise Errors.INVALID_RECORD_STATE.exception(message)
    if state.member_id != member_id:
        raise Errors.INVALID_RECORD_STATE.exception("Member is not the owner of batch record")


def release(records: InFlightRecords, member_id: str, limit: int) -> StateChange:
    """Begin to make available all that a member has acquired, as if it was not delivered: it has closed its session."""
    change = StateChange()
    for batch in records.batches:
        if batch.whole is not None and _is_owned(batch.whole, member_id):
            _divide_at_start(records, batch)
        for first, last, state in batch.parts():
            if _is_owned(state, member_id):
                to = RecordState.ARCHIVED if last < records.start_offset else RecordState.AVAILABLE
                change.begin(first, last, state, to, limit, undelivered=True)
    return change


def _is_owned(state: InFlightState, member_id: str) -> bool:
    return state.state is RecordState.ACQUIRED and state.member_id == member_id


def time_out(
    records: InFlightRecords, lock: AcquisitionLock, first_offset: int, last_offset: int, limit: int
) -> StateChange:
    """Make available what is still acquired under a lock that has expired. That cannot be rolled back.

    ``first_offset`` and ``last_offset``: all records of the lock are between them. Records whose change is being
    written stay as they are; if the write fails, their lock is looked at once more.
    """
    change = StateChange()
    for batch in records.batches.overlapping(first_offset, last_offset):
        if batch.whole is not None and _is_held(batch.whole, lock):
            _divide_at_start(records, batch)
        for first, last, state in batch.parts():
            if _is_held(state, lock):
                state.time_out(limit, is_archived=last < records.start_offset)
                change.add(first, last, state)
    if change.batches:
        records.has_available = True
    return change


def _is_held(state: InFlightState, lock: AcquisitionLock) -> bool:
    return state.lock is lock and state.state is RecordState.ACQUIRED


def _divide_at_start(records: InFlightRecords, batch: InFlightBatch) -> None:
    """The log may begin within a batch: the records before that are not delivered again."""
    if batch.first_offset < records.start_offset <= batch.last_offset:
        batch.divide()
