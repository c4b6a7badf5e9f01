"""A share partition: what it reads from the persister, writes to it, and does when that fails."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.share.persister import PartitionStateData
from kafka_lite.server.share.acknowledgement import ShareAcknowledgementBatch
from kafka_lite.server.share.acquisition import Acquired
from kafka_lite.server.share.record_state import ACCEPT, GAP, REJECT, RELEASE, SharePartitionState
from kafka_lite.server.share.share_partition import ReadBatches
from tests.support.share_partitions import KEY, LOCK_MS, PARTITION, Batch, SharedLog

AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4


def test_records_are_acquired_acknowledged_and_forgotten() -> None:
    log = SharedLog((0, 4), (5, 9))
    assert log.fetch("a") == [Acquired(0, 9, 1)]
    assert log.partition.offsets == (0, 9)
    assert log.fetch("b") == []
    assert log.acknowledge("a", 0, 4) == []
    assert log.persisted == [(0, 4, ACKNOWLEDGED, 1)]
    assert log.partition.offsets == (5, 9)
    assert log.acknowledge("a", 5, 9) == []
    assert log.partition.offsets == (10, 10)
    assert (log.partition.in_flight_count, log.partition.in_flight_batch_count) == (0, 0)
    assert log.partition.next_fetch_offset() == 10


def test_members_get_different_records() -> None:
    log = SharedLog((0, 4), (5, 9), (10, 14))
    assert log.fetch("a", max_batches=1) == [Acquired(0, 4, 1)]
    assert log.fetch("b", max_records=1) == [Acquired(5, 9, 1)], "whole batches of the log"
    assert log.acknowledge("a", 5, 9) == [Errors.INVALID_RECORD_STATE]
    assert log.acknowledge("b", 5, 9) == []
    assert log.partition.offsets == (0, 9), "record 0 is not done with"
    assert log.fetch("a") == [Acquired(10, 14, 1)]


def test_each_record_may_have_its_own_fate() -> None:
    log = SharedLog((0, 4))
    log.fetch("a")
    assert log.acknowledge("a", 0, 4, [ACCEPT, RELEASE, REJECT, GAP, RELEASE]) == []
    assert log.persisted == [(0, 0, ACKNOWLEDGED, 1), (1, 1, AVAILABLE, 1), (2, 3, ARCHIVED, 1), (4, 4, AVAILABLE, 1)]
    assert log.partition.next_fetch_offset() == 1
    assert log.fetch("b") == [Acquired(1, 1, 2), Acquired(4, 4, 2)]
    assert log.acknowledge("b", 1, 1) == []
    assert log.partition.offsets == (4, 4)


def test_a_record_is_given_up_after_its_last_delivery() -> None:
    log = SharedLog((0, 0), delivery_count_limit=2)
    log.fetch("a")
    log.acknowledge("a", 0, 0, RELEASE)
    assert log.fetch("a") == [Acquired(0, 0, 2)]
    log.acknowledge("a", 0, 0, RELEASE)
    assert log.persisted == [(0, 0, ARCHIVED, 2)]
    assert log.partition.offsets == (1, 1)


def test_a_lock_expires() -> None:
    log = SharedLog((0, 9))
    log.fetch("a")
    log.acknowledge("a", 0, 3)
    log.sleep(LOCK_MS - 1)
    assert log.fetch("b") == []
    woken = log.woken
    log.sleep(2)
    assert log.woken == woken + 1
    assert log.persisted == [(4, 9, AVAILABLE, 1)]
    assert log.acknowledge("a", 4, 9) == [Errors.INVALID_RECORD_STATE]
    assert log.fetch("b") == [Acquired(4, 9, 2)]


def test_a_lock_that_nobody_needs_is_cancelled() -> None:
    log = SharedLog((0, 9))
    log.fetch("a")
    assert log.timer.size == 1
    log.acknowledge("a", 0, 3)
    assert log.timer.size == 1
    log.acknowledge("a", 4, 9, RELEASE)
    assert log.timer.size == 0


def test_a_closed_session_does_not_count_as_a_delivery() -> None:
    log = SharedLog((0, 4), (5, 9))
    log.fetch("a", max_batches=1)
    log.fetch("b")
    log.close_session("a")
    assert log.persisted == [(0, 4, AVAILABLE, 0)]
    assert log.fetch("b") == [Acquired(0, 4, 1)]


def test_a_change_that_is_not_written_is_rolled_back() -> None:
    log = SharedLog((0, 4))
    log.fetch("a")
    log.persister.errors.append(Errors.COORDINATOR_NOT_AVAILABLE)
    assert log.acknowledge("a", 0, 4) == [Errors.COORDINATOR_NOT_AVAILABLE]
    assert log.partition.offsets == (0, 4)
    assert log.fetch("b") == []
    assert log.acknowledge("a", 0, 4) == []


def test_a_lock_that_expires_during_a_write_that_fails_frees_its_records() -> None:
    log = SharedLog((0, 4))
    log.fetch("a")
    log.persister.hold()
    log.persister.errors.append(Errors.UNKNOWN_SERVER_ERROR)
    log.acknowledge("a", 0, 4)
    log.sleep(LOCK_MS + 1)
    assert log.fetch("b") == [], "the record may be acknowledged"
    log.persister.release()
    assert log.failures == [Errors.UNKNOWN_SERVER_ERROR]
    assert log.fetch("b") == [Acquired(0, 4, 2)]


def test_a_record_whose_change_is_being_written_is_not_delivered() -> None:
    log = SharedLog((0, 4), (5, 9))
    log.fetch("a", max_batches=1)
    log.persister.hold()
    log.acknowledge("a", 0, 4, RELEASE)
    assert log.partition.next_fetch_offset() == 5
    assert log.acknowledge("a", 0, 4) == [Errors.INVALID_RECORD_STATE]
    log.persister.release()
    assert log.partition.next_fetch_offset() == 0


def test_writes_reach_the_persister_in_their_order() -> None:
    log = SharedLog((0, 4), (5, 9))
    log.fetch("a")
    log.persister.hold()
    log.acknowledge("a", 0, 4)
    log.acknowledge("a", 5, 9)
    writes = [argument[PARTITION] for name, _, argument in log.persister.calls if name == "write_state"]  # type: ignore[index]
    assert [write.state_batches[0][:2] for write in writes] == [(0, 4), (5, 9)]
    log.persister.release()
    assert log.partition.offsets == (10, 10)


def test_a_new_leader_goes_on_where_the_old_one_was() -> None:
    log = SharedLog((0, 4), (5, 9), (10, 14))
    log.fetch("a", max_batches=2)
    log.acknowledge("a", 5, 9)
    log.new_leader()
    assert log.partition.offsets == (0, 9)
    assert log.fetch("b") == [Acquired(0, 4, 1), Acquired(10, 14, 1)], "that 0-4 were acquired was not persisted"


def test_an_old_leader_is_fenced_by_its_first_write() -> None:
    log = SharedLog((0, 4))
    old = log.partition
    log.fetch("a")
    log.new_leader()
    failures: list[object] = []
    batch = ShareAcknowledgementBatch(0, 4, [ACCEPT])
    old.acknowledge("a", [batch], lambda failure: failures.append(failure and failure.error))
    assert failures == [Errors.NOT_LEADER_OR_FOLLOWER]


def test_a_fenced_partition_delivers_nothing() -> None:
    log = SharedLog((0, 4))
    log.fetch("a")
    log.partition.mark_fenced()
    log.partition.mark_fenced()
    assert log.partition.acquire("a", ReadBatches(0, [Batch(0, 4)]), 10, 10) == []
    assert not log.partition.maybe_acquire_fetch_lock("fetch")
    assert log.acknowledge("a", 0, 4) == [Errors.NOT_LEADER_OR_FOLLOWER]
    log.sleep(LOCK_MS + 1)
    assert log.persisted == []
    failures: list[object] = []
    log.partition.maybe_initialize(lambda failure: failures.append(failure and failure.error))
    assert failures == [Errors.LEADER_NOT_AVAILABLE]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.GROUP_ID_NOT_FOUND, Errors.GROUP_ID_NOT_FOUND),
        (Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.UNKNOWN_TOPIC_OR_PARTITION),
        (Errors.FENCED_LEADER_EPOCH, Errors.NOT_LEADER_OR_FOLLOWER),
        (Errors.FENCED_STATE_EPOCH, Errors.NOT_LEADER_OR_FOLLOWER),
        (Errors.INVALID_REQUEST, Errors.UNKNOWN_SERVER_ERROR),
    ],
)
def test_an_error_of_the_first_read_is_told(error: Errors, told: Errors) -> None:
    log = SharedLog((0, 4))
    log.persister.errors.append(error)
    log.new_leader()
    assert (log.partition.state, log.failures) == (SharePartitionState.FAILED, [told])
    log.partition.maybe_initialize(log._note)
    assert log.failures[1:] == [Errors.UNKNOWN_SERVER_ERROR]


def test_a_partition_that_is_fenced_while_it_loads_stays_fenced() -> None:
    log = SharedLog((0, 4))
    log.persister.hold()
    partition = log.new_leader()
    partition.maybe_initialize(log._note)
    assert partition.state is SharePartitionState.INITIALIZING
    partition.mark_fenced()
    log.persister.release()
    assert partition.state is SharePartitionState.FENCED


def test_a_group_without_a_start_offset_begins_where_its_configuration_says() -> None:
    log = SharedLog((7, 9))
    log.persister.initialize_state("g", {PARTITION: PartitionStateData(2, -1)}, lambda _results: None)
    log.new_leader()
    assert log.partition.next_fetch_offset() == 7


def test_a_state_that_makes_no_sense_is_no_state() -> None:
    log = SharedLog((0, 9))
    log.fetch("a")
    log.acknowledge("a", 5, 9)
    log.persister.states[KEY].start_offset = 7
    log.new_leader()
    assert (log.partition.state, log.failures) == (SharePartitionState.FAILED, [Errors.UNKNOWN_SERVER_ERROR])


def test_aborted_records_are_not_delivered() -> None:
    log = SharedLog()
    batches = [Batch(0, 4), Batch(5, 9), Batch(10, 14)]
    read = ReadBatches(0, batches, [batches[1]])
    assert log.partition.acquire("a", read, 100, 100) == [Acquired(0, 4, 1), Acquired(10, 14, 1)]
    assert log.acknowledge("a", 0, 4) == []
    assert log.partition.offsets == (10, 14)


def test_nothing_but_aborted_records_needs_no_lock() -> None:
    log = SharedLog()
    read = ReadBatches(0, [Batch(0, 4)], [Batch(0, 4)])
    assert log.partition.acquire("a", read, 100, 100) == []
    assert log.timer.size == 0
    assert log.partition.offsets == (5, 5)


def test_one_fetch_reads_at_a_time() -> None:
    log = SharedLog((0, 4))
    assert log.partition.maybe_acquire_fetch_lock("one")
    assert not log.partition.maybe_acquire_fetch_lock("two")
    log.partition.release_fetch_lock("two")
    assert not log.partition.maybe_acquire_fetch_lock("two")
    log.partition.release_fetch_lock("one")
    assert log.partition.maybe_acquire_fetch_lock("two")


def test_no_further_records_are_acquired_while_too_many_are_in_flight() -> None:
    log = SharedLog((0, 4), (5, 9), partition_max_record_locks=5)
    assert log.partition.can_acquire_records()
    log.fetch("a", max_batches=1)
    assert not log.partition.can_acquire_records()
    log.acknowledge("a", 2, 2, RELEASE)
    assert log.partition.can_acquire_records(), "one may be delivered again"
    log.fetch("a", max_batches=1)
    assert not log.partition.can_acquire_records()
    log.acknowledge("a", 0, 4)
    assert log.partition.can_acquire_records()


def test_records_that_the_log_has_lost_are_given_up() -> None:
    log = SharedLog((0, 4), (5, 9), (10, 14))
    log.fetch("a", max_batches=1)
    log.fetch("b", max_batches=1)
    log.acknowledge("b", 5, 9, RELEASE)
    log.partition.update_log_start_offset(7)
    assert log.partition.offsets == (7, 9)
    assert log.acknowledge("a", 0, 4) == [], "below the start offset anything goes"
    assert log.fetch("c") == [Acquired(7, 9, 2), Acquired(10, 14, 1)]
    log.sleep(LOCK_MS + 1)
    assert log.persisted == [(7, 9, AVAILABLE, 2), (10, 14, AVAILABLE, 1)]
