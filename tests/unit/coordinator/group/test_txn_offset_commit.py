"""Offsets that are committed in transactions: pending until the marker, and across changes of the coordinator."""

from collections.abc import Mapping

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_offsets import Committer
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from tests.support.groups import GROUP, MINUTE_MS, Groups

T0 = TopicPartition("topic", 0)
PRODUCER = ProducerIdAndEpoch(1000, 0)
OTHER = ProducerIdAndEpoch(1001, 0)


def commit_in_txn(
    groups: Groups,
    offset: int,
    producer: ProducerIdAndEpoch = PRODUCER,
    committer: Committer | None = None,
    group_id: str = GROUP,
) -> Errors | None:
    answers: list[Mapping[TopicPartition, Errors]] = []
    offsets = {T0: OffsetAndMetadata(offset, "", groups.time.milliseconds())}
    groups.offsets.handle_txn_commit_offsets(group_id, producer, committer or Committer(), offsets, answers.append)
    return answers[0][T0] if answers else None


def end(groups: Groups, *, commit: bool, producer: ProducerIdAndEpoch = PRODUCER) -> None:
    """Write the marker, then tell the coordinator, as WriteTxnMarkers does."""
    kind = ControlRecordType.COMMIT if commit else ControlRecordType.ABORT
    partition = groups.manager.topic_partition_for(GROUP)
    marker = EndTransactionMarker(kind, 0).to_batch(producer.producer_id, producer.epoch, groups.time.milliseconds())
    groups.offsets_log.log(partition).append(bytearray(marker))
    groups.manager.handle_txn_completion(producer.producer_id, [partition.partition], commit=commit)


def stable_fetch(groups: Groups) -> tuple[int, Errors]:
    offset, error = groups.offsets.handle_fetch_offsets(GROUP, [T0], require_stable=True)[T0]
    return offset.offset, error


UNSTABLE = (-1, Errors.UNSTABLE_OFFSET_COMMIT)


@pytest.mark.parametrize(("commit", "offset"), [(True, 7), (False, 3)])
def test_an_offset_counts_once_its_transaction_is_committed(commit: bool, offset: int) -> None:
    groups = Groups()
    groups.commit(3)
    assert commit_in_txn(groups, 7) is Errors.NONE
    assert groups.committed() == 3
    assert stable_fetch(groups) == UNSTABLE
    end(groups, commit=commit)
    assert stable_fetch(groups) == (offset, Errors.NONE)
    assert Groups.restart(groups).committed() == offset


@pytest.mark.parametrize("commit", [True, False])
def test_another_coordinator_knows_the_offsets_of_open_transactions(commit: bool) -> None:
    groups = Groups()
    commit_in_txn(groups, 7)
    other = groups.restart()
    assert stable_fetch(other) == UNSTABLE
    end(other, commit=commit)
    assert stable_fetch(other) == ((7 if commit else -1), Errors.NONE)


def test_each_producers_offsets_are_pending_by_themselves() -> None:
    groups = Groups()
    commit_in_txn(groups, 7)
    commit_in_txn(groups, 9, OTHER)
    end(groups, commit=False)
    assert stable_fetch(groups) == UNSTABLE
    end(groups, commit=True, producer=OTHER)
    assert stable_fetch(groups) == (9, Errors.NONE)


def test_the_last_commit_of_a_transaction_counts() -> None:
    groups = Groups()
    commit_in_txn(groups, 7)
    commit_in_txn(groups, 5)
    end(groups, commit=True)
    assert groups.committed() == groups.restart().committed() == 5


def test_a_later_commit_outside_the_transaction_stays() -> None:
    groups = Groups()
    commit_in_txn(groups, 7)
    groups.commit(8)
    end(groups, commit=True)
    assert groups.committed() == groups.restart().committed() == 8


@pytest.mark.parametrize(
    ("append_error", "error"),
    [
        (Errors.INVALID_PRODUCER_EPOCH, Errors.INVALID_PRODUCER_EPOCH),
        (Errors.NOT_ENOUGH_REPLICAS, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_LEADER_OR_FOLLOWER, Errors.NOT_COORDINATOR),
    ],
)
def test_an_offset_whose_append_fails_is_not_pending(append_error: Errors, error: Errors) -> None:
    groups = Groups()
    groups.offsets_log.error = append_error
    assert commit_in_txn(groups, 7) is error
    assert stable_fetch(groups) == (-1, Errors.NONE)


def test_an_offset_is_pending_while_it_is_appended() -> None:
    groups = Groups()
    groups.offsets_log.held = []
    assert commit_in_txn(groups, 7) is None
    assert stable_fetch(groups) == UNSTABLE
    groups.offsets_log.release()
    assert stable_fetch(groups) == UNSTABLE
    end(groups, commit=True)
    assert groups.committed() == 7


def test_a_marker_that_is_written_while_the_partition_loads_is_not_lost() -> None:
    groups = Groups()
    commit_in_txn(groups, 7)
    other = Groups(offsets_log=groups.offsets_log, time=groups.time, loaded=False)
    add_loaded = other.manager._add_loaded

    def add_after_marker(group, on_group_loaded):  # type: ignore[no-untyped-def]
        end(other, commit=True)  # the loader has read the log already
        add_loaded(group, on_group_loaded)

    other.manager._add_loaded = add_after_marker  # type: ignore[method-assign]
    for partition in range(2):
        other.coordinator.on_election(partition, 1)
    other.sleep(100)
    assert stable_fetch(other) == (7, Errors.NONE)


def test_pending_offsets_do_not_expire() -> None:
    groups = Groups()
    groups.commit(3)
    commit_in_txn(groups, 7)
    groups.sleep(120 * MINUTE_MS)
    assert stable_fetch(groups) == UNSTABLE
    end(groups, commit=True)
    assert groups.committed() == 7


def test_a_deleted_partition_does_not_come_back_with_a_transaction() -> None:
    groups = Groups()
    commit_in_txn(groups, 7)
    groups.offsets.handle_deleted_partitions([T0])
    end(groups, commit=True)
    assert stable_fetch(groups) == (-1, Errors.NONE)


# ── generations and members (KIP-447) ─────────────────────────────────────────────────────────────────────────────────


def test_a_producer_that_does_not_know_its_consumer_may_commit_into_any_group() -> None:
    groups = Groups()
    groups.stable()
    assert commit_in_txn(groups, 7) is Errors.NONE


def test_the_member_and_generation_of_a_consumer_must_be_current() -> None:
    groups = Groups()
    (member,) = groups.stable()
    assert commit_in_txn(groups, 7, committer=Committer(member.member_id, member.generation)) is Errors.NONE
    stale = Committer(member.member_id, member.generation - 1)
    assert commit_in_txn(groups, 8, committer=stale) is Errors.ILLEGAL_GENERATION
    stranger = Committer("stranger", member.generation)
    assert commit_in_txn(groups, 8, committer=stranger) is Errors.UNKNOWN_MEMBER_ID
    end(groups, commit=True)
    assert groups.committed() == 7


def test_a_static_member_that_was_replaced_is_fenced() -> None:
    groups = Groups()
    (member,) = groups.stable(instance_id="i")
    committer = Committer("replaced", member.generation, "i")
    assert commit_in_txn(groups, 7, committer=committer) is Errors.FENCED_INSTANCE_ID


def test_a_group_without_members_knows_no_generation() -> None:
    assert commit_in_txn(Groups(), 7, committer=Committer("m", 1)) is Errors.UNKNOWN_MEMBER_ID


def test_a_nameless_group_has_no_offsets_in_transactions() -> None:
    assert commit_in_txn(Groups(), 7, group_id="") is Errors.INVALID_GROUP_ID


def test_another_broker_coordinates_the_group() -> None:
    assert commit_in_txn(Groups(loaded=False), 7) is Errors.NOT_COORDINATOR
