"""The state of a group's partitions in the share coordinator: made, made again, deleted."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.coordinator.share.persister import SharePartitionKey
from tests.support.groups import GROUP, FakeMember
from tests.support.modern_groups import topic_id
from tests.support.share_groups import ShareGroups, ShareMember, joined

T = topic_id("t")


def test_state_has_the_epoch_of_the_group_and_no_start_offset() -> None:
    groups = ShareGroups()
    joined(groups, "a")
    assert len(groups.persister.states) == 4
    state = groups.persister.states[SharePartitionKey(GROUP, T, 3)]
    assert (state.state_epoch, state.start_offset) == (1, -1)


def test_what_the_share_coordinator_refuses_is_asked_for_again() -> None:
    groups = ShareGroups()
    groups.persister.errors = [Errors.COORDINATOR_NOT_AVAILABLE]
    member = ShareMember(groups, "a")
    member.heartbeat()
    assert groups.group().partitions.initializing == {}
    member.heartbeat()
    assert groups.group().partitions.initialized == {T: frozenset(range(4))}


def test_it_is_not_asked_twice_while_it_may_respond() -> None:
    groups = ShareGroups()
    groups.persister.hold()
    member = ShareMember(groups, "a")
    for _ in range(3):
        member.heartbeat()
    assert len(groups.persister.calls) == 1
    groups.groups.sleep(10_001)
    member.heartbeat()
    assert len(groups.persister.calls) == 2
    groups.persister.release()
    assert groups.group().partitions.initialized == {T: frozenset(range(4))}


def test_a_new_coordinator_asks_for_what_was_begun() -> None:
    groups = ShareGroups()
    groups.persister.hold()
    member = ShareMember(groups, "a")
    member.heartbeat()
    member.groups = restarted = groups.restart()
    assert restarted.group().partitions.initializing == {T: frozenset(range(4))}
    groups.persister.release()
    member.heartbeat()
    assert restarted.group().partitions.initialized == {T: frozenset(range(4))}


def test_a_group_is_deleted_with_its_state() -> None:
    groups = ShareGroups()
    (member,) = joined(groups, "a")
    assert groups.delete(GROUP) == {GROUP: Errors.NON_EMPTY_GROUP}
    assert len(groups.persister.states) == 4
    member.leave()
    assert groups.delete(GROUP, "none") == {GROUP: Errors.NONE, "none": Errors.GROUP_ID_NOT_FOUND}
    assert groups.persister.states == {}
    assert groups.restart().groups.coordinator.group_manager.get_group(GROUP) is None


def test_a_group_stays_while_its_state_cannot_be_deleted() -> None:
    groups = ShareGroups()
    (member,) = joined(groups, "a")
    member.leave()
    groups.persister.errors = [Errors.COORDINATOR_NOT_AVAILABLE]
    assert groups.delete(GROUP) == {GROUP: Errors.COORDINATOR_NOT_AVAILABLE}
    assert groups.group().partitions.deleting == {T}
    assert groups.delete(GROUP) == {GROUP: Errors.NONE}
    assert groups.persister.states == {}


def test_a_deletion_waits_for_the_share_coordinator() -> None:
    groups = ShareGroups()
    (member,) = joined(groups, "a")
    member.leave()
    groups.persister.hold()
    assert groups.delete(GROUP) is None
    assert groups.groups.coordinator.group_manager.get_group(GROUP) is not None
    groups.persister.release()
    assert groups.groups.coordinator.group_manager.get_group(GROUP) is None


def test_groups_of_other_kinds_have_no_state() -> None:
    groups = ShareGroups()
    FakeMember(groups.groups).join()
    assert groups.delete(GROUP) == {GROUP: Errors.NON_EMPTY_GROUP}
    assert groups.coordinator.state_keeper.delete_states_of([], lambda refused: None) is None
    assert groups.coordinator.state_keeper.initialized_partitions(GROUP) == {}
    assert groups.coordinator.state_keeper.initialized_partitions("other") == {}
    with pytest.raises(ApiError, match="is not a share group"):
        groups.coordinator.state_keeper.share_group(GROUP)
    with pytest.raises(ApiError, match="not found"):
        groups.coordinator.state_keeper.share_group("other")


def test_others_learn_which_partitions_have_state() -> None:
    groups = ShareGroups()
    joined(groups, "a")
    keeper = groups.coordinator.state_keeper
    assert keeper.initialized_partitions(GROUP) == {T: frozenset(range(4))}
    assert keeper.share_group(GROUP).share is groups.group()
