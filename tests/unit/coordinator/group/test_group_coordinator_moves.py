"""A coordinator that begins, stops, or hands its groups over: what it knows by then, and who gets an answer."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_offsets import Committer
from kafka_lite.coordinator.group.group_state import GroupState
from tests.support.groups import GROUP, Groups, leftovers


@pytest.fixture
def groups() -> Groups:
    return Groups()


def resign(groups: Groups) -> None:
    for partition in range(2):
        groups.coordinator.on_resignation(partition, 1)
    groups.sleep(0)


@pytest.mark.parametrize("generation", [0, 1, 7])
def test_a_member_of_a_forgotten_group_learns_that_its_generation_is_over(groups: Groups, generation: int) -> None:
    assert groups.commit(1, committer=Committer("member", generation, None)) is Errors.ILLEGAL_GENERATION
    assert groups.state() is None


def test_a_client_outside_of_any_generation_makes_a_group_for_its_offsets(groups: Groups) -> None:
    assert groups.commit(1, committer=Committer("", -1, None)) is Errors.NONE
    assert (groups.state(), groups.committed()) == (GroupState.EMPTY, 1)


def test_a_coordinator_before_its_start_and_after_its_end_is_not_available(groups: Groups) -> None:
    (member,) = groups.stable()
    groups.coordinator.shutdown()
    assert member.heartbeat() is Errors.COORDINATOR_NOT_AVAILABLE
    assert member.commit(1) is Errors.COORDINATOR_NOT_AVAILABLE
    assert groups.member().join().join_error is Errors.COORDINATOR_NOT_AVAILABLE


def test_the_leader_is_still_the_leader_for_another_coordinator(groups: Groups) -> None:
    leader, follower = groups.stable(2)
    after = groups.restart()
    assert after.group().leader_id == leader.member_id
    for member in (leader, follower):
        member.groups = after
        assert member.heartbeat() is Errors.NONE
    # A follower that joins again unchanged gets its generation; the leader may have another assignment in mind.
    generation = follower.generation
    assert follower.send_join().generation == generation
    assert after.state() is GroupState.STABLE
    leader.send_join()
    assert after.state() is GroupState.PREPARING_REBALANCE


def test_a_leader_that_replaced_an_absent_one_is_the_leader_for_another_coordinator(groups: Groups) -> None:
    absent = groups.member(instance_id="a").join()
    leader = groups.member(protocols=[("range", b"1")]).join()
    absent.join()
    groups.sync_all([absent, leader])
    leader.protocols = [("range", b"2")]
    leader.send_join()
    while groups.state() is GroupState.PREPARING_REBALANCE:  # for the absent one, whose heartbeats go on
        groups.sleep(absent.session_timeout_ms // 2)
        absent.heartbeat()
    groups.sync_all([leader])
    assert list(groups.group().members) == [absent.member_id, leader.member_id]
    assert groups.restart().group().leader_id == leader.member_id


def test_everybody_that_waits_is_told_when_the_group_moves(groups: Groups) -> None:
    first = groups.member().join()
    second = groups.member().join()
    assert second.join_error is Errors.MEMBER_ID_REQUIRED  # it waits for the first one to join again
    resign(groups)
    assert second.join_error is Errors.NOT_COORDINATOR
    assert first.heartbeat() is Errors.NOT_COORDINATOR
    assert leftovers(groups.coordinator) == []


def test_a_follower_that_waits_for_its_assignment_is_told_when_the_group_moves(groups: Groups) -> None:
    first = groups.member().join()
    second = groups.member().join()
    first.join()
    follower = next(each for each in (first, second) if each.member_id != groups.group().leader_id)
    assert follower.sync().sync_error is None
    resign(groups)
    assert follower.sync_error is Errors.NOT_COORDINATOR
    assert leftovers(groups.coordinator) == []


def test_a_restarted_static_member_ends_the_requests_of_its_former_self(groups: Groups) -> None:
    leader = groups.member(instance_id="a").join()
    follower = groups.member(instance_id="b").join()
    leader.join()
    assert leader.member_id == groups.group().leader_id
    assert follower.sync().sync_error is None
    restarted = groups.member(instance_id="b").join()
    assert follower.sync_error is Errors.FENCED_INSTANCE_ID
    assert follower.heartbeat() is Errors.FENCED_INSTANCE_ID
    assert restarted.member_id != follower.member_id


def test_members_that_never_sync_are_removed_but_those_of_the_next_generation_are_not(groups: Groups) -> None:
    first = groups.member().join()
    second = groups.member().join()
    first.join()
    assert groups.state() is GroupState.AWAITING_SYNC
    third = groups.member().join()  # another rebalance, before anybody has synced
    for member in (first, second):
        member.join()
    assert groups.group().generation_id == 3
    groups.sync_all([first, second, third])
    groups.sleep(first.session_timeout_ms // 2)
    for member in (first, second, third):
        assert member.heartbeat() is Errors.NONE
    assert groups.state() is GroupState.STABLE
    assert len(groups.group(GROUP).members) == 3
