"""A shard decides, and responds once its log has the decision."""

from __future__ import annotations

import dataclasses

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.share.persister import (
    PartitionAllData,
    PartitionErrorData,
    PartitionStateSummaryData,
    SharePartitionKey,
)
from kafka_lite.coordinator.share.share_coordinator_records import ShareSnapshot, ShareUpdate
from tests.support.share_coordinators import AT_ONCE, GROUP, P0, P1, P2, TOPIC_ID, ShareCoordination, batch

OK = [PartitionErrorData()]


def kinds(share: ShareCoordination) -> str:
    """``S`` for a snapshot, ``u`` for an update, ``T`` for a tombstone."""
    names = {True: "S", False: "u"}
    return "".join("T" if each.offset is None else names[isinstance(each, ShareSnapshot)] for each in share.logged())


def test_what_is_written_is_read() -> None:
    share = ShareCoordination()
    assert share.initialize(start_offset=10, state_epoch=1) == OK
    assert share.write(batch(10, 19), state_epoch=1) == OK
    assert share.write(batch(10, 12, 2), start_offset=12, state_epoch=1) == OK
    assert share.read() == [PartitionAllData(1, 12, (batch(12, 12, 2), batch(13, 19)))]
    assert kinds(share) == "Suu"


def test_a_new_leader_fences_the_one_before() -> None:
    share = ShareCoordination()
    share.initialize()
    assert share.read(leader_epoch=5)[0].error is Errors.NONE
    assert share.read(leader_epoch=4)[0].error is Errors.FENCED_LEADER_EPOCH
    assert share.write(batch(0, 1), leader_epoch=4)[0].error is Errors.FENCED_LEADER_EPOCH
    assert share.write(batch(0, 1), leader_epoch=5) == OK
    assert kinds(share) == "Suu"
    assert share.read(leader_epoch=5)[0].error is Errors.NONE
    assert kinds(share) == "Suu"


def test_a_new_initialization_fences_the_leader_of_the_state_before() -> None:
    share = ShareCoordination()
    share.initialize(state_epoch=1)
    share.write(batch(0, 9), state_epoch=1)
    assert share.initialize(start_offset=50, state_epoch=2) == OK
    assert share.write(batch(0, 9), state_epoch=1)[0].error is Errors.FENCED_STATE_EPOCH
    assert share.initialize(state_epoch=1)[0].error is Errors.FENCED_STATE_EPOCH
    assert share.read() == [PartitionAllData(2, 50, ())]


@pytest.mark.parametrize("state_epoch", [1, 2])
def test_an_initialization_that_is_sent_again_keeps_what_members_have_acknowledged(state_epoch: int) -> None:
    share = ShareCoordination()
    share.initialize(start_offset=-1, state_epoch=1)
    share.write(batch(0, 9), state_epoch=1)
    before = share.read()
    assert share.initialize(start_offset=-1, state_epoch=state_epoch) == OK
    assert share.read() == before
    assert before[0].state_batches == (batch(0, 9),)


def test_after_some_updates_a_snapshot_is_written() -> None:
    share = ShareCoordination(config=dataclasses.replace(AT_ONCE, snapshot_update_records_per_snapshot=2))
    share.initialize()
    for number in range(9):
        share.write(batch(number, number))
    assert kinds(share) == "SuuuSuuSuu"
    assert share.read() == [PartitionAllData(0, 0, (batch(0, 8),))]


def test_a_deleted_state_is_not_initialized_any_more() -> None:
    share = ShareCoordination()
    share.initialize(state_epoch=7)
    assert share.delete() == OK
    assert share.delete() == OK
    assert kinds(share) == "ST"
    assert share.read()[0].error is Errors.INVALID_REQUEST
    assert share.initialize(state_epoch=1) == OK


def test_a_summary_is_of_the_last_offset_and_unknown_partitions_have_none() -> None:
    share = ShareCoordination()
    share.initialize(start_offset=10, state_epoch=2)
    share.write(start_offset=15, leader_epoch=3, state_epoch=2)
    assert share.summary() == [PartitionStateSummaryData(2, 3, 15)]
    assert share.summary(P1) == [PartitionStateSummaryData(0, 0, -1)]
    assert share.summary(P0._replace(partition=3))[0].error is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_responses_wait_until_the_log_has_the_record() -> None:
    share = ShareCoordination()
    share.initialize()
    share.log.held = []
    written, read, summary = share.write(batch(0, 9)), share.read(), share.summary()
    assert (written, read, summary) == ([], [], [])
    share.log.release()
    assert written == OK
    assert read == [PartitionAllData(0, 0, (batch(0, 9),))]
    assert summary == [PartitionStateSummaryData(0, 0, 0)]


def test_a_refused_write_is_undone() -> None:
    share = ShareCoordination()
    share.initialize()
    share.log.error = Errors.NOT_ENOUGH_REPLICAS
    failed = share.write(batch(0, 9), start_offset=5, leader_epoch=8)
    text = f"Unable to write share group state: {Errors.COORDINATOR_NOT_AVAILABLE.message}"
    assert failed == [PartitionErrorData(Errors.COORDINATOR_NOT_AVAILABLE, text)]
    share.log.error = Errors.NONE
    assert share.read() == [PartitionAllData(0, 0, ())]


def test_a_refused_initialization_leaves_nothing() -> None:
    share = ShareCoordination()
    share.log.error = Errors.NOT_ENOUGH_REPLICAS
    assert share.initialize()[0].error is Errors.COORDINATOR_NOT_AVAILABLE
    share.log.error = Errors.NONE
    assert share.write(batch(0, 1))[0].error is Errors.INVALID_REQUEST


def test_a_read_of_what_could_not_be_written_fails() -> None:
    share = ShareCoordination()
    share.initialize()
    share.log.error = Errors.KAFKA_STORAGE_ERROR
    assert share.read(leader_epoch=3)[0].error is Errors.NOT_COORDINATOR


def test_topics_that_are_deleted_are_forgotten() -> None:
    share = ShareCoordination()
    for partition in (P0, P1, P2):
        share.initialize(partition=partition)
    share.coordinator.on_topics_deleted({TOPIC_ID})
    assert sorted(kinds(share)) == list("SSSTTT")
    assert share.summary() == [PartitionStateSummaryData(0, 0, -1)]


def test_a_partition_without_changes_gets_a_snapshot_once() -> None:
    share = ShareCoordination()
    share.initialize(start_offset=3)
    share.write(batch(3, 5))
    interval_ms = AT_ONCE.cold_partition_snapshot_interval_ms
    share.time.sleep(interval_ms)
    assert kinds(share) == "SuS"
    cold = share.logged()[-1]
    assert cold.offset is not None
    assert cold.offset.is_of_a_cold_partition
    assert (cold.offset.start_offset, cold.offset.state_batches) == (3, (batch(3, 5),))
    share.time.sleep(interval_ms)
    assert kinds(share) == "SuS"


def test_a_partition_that_is_written_to_is_not_cold() -> None:
    share = ShareCoordination(config=dataclasses.replace(AT_ONCE, snapshot_update_records_per_snapshot=0))
    share.initialize()
    share.time.sleep(AT_ONCE.cold_partition_snapshot_interval_ms - 1)
    share.write(batch(0, 1))
    share.time.sleep(1)
    assert kinds(share) == "SS"


def test_updates_name_the_snapshot_that_they_belong_to() -> None:
    share = ShareCoordination()
    share.initialize()
    share.initialize()
    share.write(batch(0, 1))
    last = share.logged()[-1]
    assert isinstance(last, ShareUpdate)
    assert last.key == SharePartitionKey(GROUP, *P0)
    assert last.offset.snapshot_epoch == 1
