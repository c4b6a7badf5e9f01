"""The state machine of a share partition: checks, records, and the state after each record."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.share import share_partition_state as states
from kafka_lite.coordinator.share.persister import (
    UNINITIALIZED_EPOCH,
    PartitionStateBatchData,
    PartitionStateData,
    SharePartitionKey,
)
from kafka_lite.coordinator.share.share_coordinator_records import ShareRecord, ShareSnapshot, ShareUpdate
from kafka_lite.coordinator.share.share_group_offset import ShareGroupOffset
from kafka_lite.coordinator.share.share_partition_state import Asked, Operation, SharePartitionState
from tests.support.share_coordinators import KEY, batch

OFFSET = ShareGroupOffset(
    snapshot_epoch=1, leader_epoch=3, start_offset=10, state_batches=(batch(10, 19),), state_epoch=5
)
KNOWN = SharePartitionState(OFFSET, leader_epoch=4, state_epoch=5, updates=None)
NOW_MS, LIMIT = 1_000, 2
I, R, W, D, S = Operation  # noqa: E741
ALL = tuple(Operation)
NEGATIVE = SharePartitionKey(KEY.group_id, KEY.topic_id, -1)


def write(start_offset: int = -1, leader_epoch: int = 4, state_epoch: int = 5) -> PartitionStateBatchData:
    return PartitionStateBatchData(state_epoch, leader_epoch, start_offset, [batch(10, 12, 2)])


def after(known: SharePartitionState | None, *records: ShareRecord) -> SharePartitionState | None:
    for record in records:
        known = states.replay(known, record, LIMIT)
    return known


# ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────────────

REFUSED: list[tuple[str, tuple[Operation, ...], Asked, Errors]] = [
    ("negative", ALL, Asked(NEGATIVE, None, True), Errors.INVALID_REQUEST),
    ("negative, though unknown", ALL, Asked(NEGATIVE, None, False), Errors.INVALID_REQUEST),
    ("uninitialized", (R, W), Asked(KEY, None, True), Errors.INVALID_REQUEST),
    ("old leader", (R, W), Asked(KEY, KNOWN, True, 3, 5), Errors.FENCED_LEADER_EPOCH),
    ("old leader of no topic", (R, W), Asked(KEY, KNOWN, False, 3, 5), Errors.FENCED_LEADER_EPOCH),
    ("no leader", (R,), Asked(KEY, KNOWN, True, UNINITIALIZED_EPOCH, 5), Errors.FENCED_LEADER_EPOCH),
    ("old state", (I, W), Asked(KEY, KNOWN, True, 4, 4), Errors.FENCED_STATE_EPOCH),
    ("no topic", ALL, Asked(KEY, KNOWN, False, 4, 5), Errors.UNKNOWN_TOPIC_OR_PARTITION),
]
ALLOWED: list[tuple[str, tuple[Operation, ...], Asked]] = [
    ("the same leader", ALL, Asked(KEY, KNOWN, True, 4, 5)),
    ("a new leader", ALL, Asked(KEY, KNOWN, True, 9, 5)),
    ("a new state", ALL, Asked(KEY, KNOWN, True, 4, 9)),
    ("no epochs", (I, W, D, S), Asked(KEY, KNOWN, True)),
    ("old leader", (I, D, S), Asked(KEY, KNOWN, True, 1, 5)),
    ("old state", (R, D, S), Asked(KEY, KNOWN, True, 4, 1)),
    ("uninitialized", (I, D, S), Asked(KEY, None, True)),
]


@pytest.mark.parametrize(("case", "operations", "asked", "error"), REFUSED, ids=[row[0] for row in REFUSED])
def test_operations_are_refused(case: str, operations: tuple[Operation, ...], asked: Asked, error: Errors) -> None:
    for operation in operations:
        found = states.error_of(operation, asked)
        assert found is not None
        assert found.error is error, f"{operation} {case}"
        assert found.message


@pytest.mark.parametrize(("case", "operations", "asked"), ALLOWED, ids=[row[0] for row in ALLOWED])
def test_operations_are_allowed(case: str, operations: tuple[Operation, ...], asked: Asked) -> None:
    for operation in operations:
        assert states.error_of(operation, asked) is None, f"{operation} {case}"


def test_messages_are_kafka_s() -> None:
    uninitialized = states.error_of(W, Asked(KEY, None, True))
    assert uninitialized is not None
    assert uninitialized.message == "Write operation on uninitialized share partition not allowed."
    negative = states.error_of(D, Asked(NEGATIVE, None, True))
    assert negative is not None
    assert negative.message == "The partition id cannot be a negative number."


# ── replay ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_snapshot_replaces_the_state_and_keeps_the_highest_epochs() -> None:
    again = ShareGroupOffset(2, 0, 50, (), 6)
    assert after(KNOWN, ShareSnapshot(KEY, again)) == SharePartitionState(again, 4, 6, None)


def test_a_tombstone_removes_the_state_with_its_epochs() -> None:
    assert after(KNOWN, ShareSnapshot(KEY, None)) is None


def test_an_update_is_merged() -> None:
    update = ShareUpdate(KEY, ShareGroupOffset(1, 6, 12, (batch(12, 14, 2),)))
    merged = ShareGroupOffset(1, 6, 12, (batch(12, 14, 2), batch(15, 19)), 5)
    assert after(KNOWN, update) == SharePartitionState(merged, 6, 5, 0)


def test_an_update_may_leave_out_epoch_and_offset() -> None:
    update = ShareUpdate(KEY, ShareGroupOffset(1, -1, -1, (batch(20, 21),)))
    merged = ShareGroupOffset(1, 3, 10, (batch(10, 21),), 5)
    assert after(KNOWN, update) == SharePartitionState(merged, 4, 5, 0)


def test_an_update_without_its_snapshot_is_all_that_is_known() -> None:
    update = ShareGroupOffset(1, 6, 12, (batch(12, 14, 2),))
    assert after(None, ShareUpdate(KEY, update)) == SharePartitionState(update, 6, 0, 0)


def test_updates_are_counted_until_there_were_enough() -> None:
    update = ShareUpdate(KEY, ShareGroupOffset(1, 4, -1))
    snapshot = ShareSnapshot(KEY, OFFSET)
    counts = [after(KNOWN, *[update] * number) for number in range(4)]
    assert [state.updates for state in counts if state is not None] == [None, 0, 1, 2]
    before_limit, at_limit = after(KNOWN, update, update, snapshot), after(KNOWN, update, update, update, snapshot)
    assert before_limit is not None
    assert before_limit.updates == 1
    assert at_limit is not None
    assert at_limit.updates == 0


# ── records ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_first_initialization_is_snapshot_0_and_the_next_one_more() -> None:
    data = PartitionStateData(7, 100)
    first, second = (states.initialization(KEY, known, data, NOW_MS) for known in (None, KNOWN))
    assert first == ShareSnapshot(KEY, ShareGroupOffset(0, 0, 100, (), 7, NOW_MS, NOW_MS))
    assert second == ShareSnapshot(KEY, ShareGroupOffset(2, 0, 100, (), 7, NOW_MS, NOW_MS))


def test_a_write_is_an_update_with_only_what_changes() -> None:
    expected = ShareUpdate(KEY, ShareGroupOffset(1, 4, -1, (batch(10, 12, 2),)))
    assert states.change(KEY, KNOWN, write(), LIMIT, NOW_MS) == expected


def test_an_update_has_no_batches_below_its_start_offset() -> None:
    record = states.change(KEY, KNOWN, write(start_offset=12), LIMIT, NOW_MS)
    assert record == ShareUpdate(KEY, ShareGroupOffset(1, 4, 12, (batch(12, 12, 2),)))


@pytest.mark.parametrize("updates", [LIMIT, LIMIT + 1])
def test_after_enough_updates_a_write_is_a_snapshot(updates: int) -> None:
    record = states.change(KEY, KNOWN._replace(updates=updates), write(state_epoch=-1), LIMIT, NOW_MS)
    batches = (batch(10, 12, 2), batch(13, 19))
    assert record == ShareSnapshot(KEY, ShareGroupOffset(2, 4, 10, batches, 5, NOW_MS, NOW_MS))


def test_a_write_with_a_new_state_epoch_is_a_snapshot() -> None:
    record = states.change(KEY, KNOWN, write(state_epoch=6), LIMIT, NOW_MS)
    assert isinstance(record, ShareSnapshot)
    assert record.offset is not None
    assert record.offset.state_epoch == 6


def test_without_updates_every_write_is_a_snapshot() -> None:
    assert isinstance(states.change(KEY, KNOWN, write(), 0, NOW_MS), ShareSnapshot)


@pytest.mark.parametrize("leader_epoch", [KNOWN.leader_epoch, UNINITIALIZED_EPOCH])
def test_a_known_leader_reads_without_a_record(leader_epoch: int) -> None:
    assert states.leader_change(KEY, KNOWN, leader_epoch, LIMIT, NOW_MS) is None


def test_a_new_leader_is_recorded() -> None:
    record = states.leader_change(KEY, KNOWN, 6, LIMIT, NOW_MS)
    assert record == ShareUpdate(KEY, ShareGroupOffset(1, 6, 10))
    changed = after(KNOWN, record)
    assert changed is not None
    assert (changed.leader_epoch, changed.offset.state_batches) == (6, OFFSET.state_batches)


def test_a_cold_partition_gets_another_snapshot_of_the_same_state() -> None:
    assert states.cold_snapshot(KEY, KNOWN, NOW_MS + 1, NOW_MS) is None
    record = states.cold_snapshot(KEY, KNOWN, NOW_MS, NOW_MS)
    assert record == ShareSnapshot(KEY, ShareGroupOffset(2, 3, 10, OFFSET.state_batches, 5, 0, NOW_MS))
    assert record is not None
    assert record.offset is not None
    assert record.offset.is_of_a_cold_partition
    assert not OFFSET.is_of_a_cold_partition
