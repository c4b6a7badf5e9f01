"""A rebalance by itself, without a coordinator: members come, join, sync and fail, and each event has its effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.purgatory.timer import SystemTimer
from kafka_lite.common.time import MockTime
from kafka_lite.coordinator.group.group_config import GroupConfig
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_rebalancer import (
    NEW_MEMBER_JOIN_TIMEOUT_MS,
    GroupRebalancer,
    current_assignment,
    current_generation,
)
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import MemberMetadata
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse

INITIAL_DELAY_MS, REBALANCE_MS, SESSION_MS = 3_000, 60_000, 10_000


class StoredGroups:
    """Stands in for the GroupMetadataManager: what was stored, and how that ends."""

    def __init__(self) -> None:
        self.stored: list[tuple[int, dict[str, bytes]]] = []
        self.error = Errors.NONE

    def store_group(
        self, group: GroupMetadata, assignment: Mapping[str, bytes], on_stored: Callable[[Errors], None]
    ) -> None:
        self.stored.append((group.generation_id, dict(assignment)))
        on_stored(self.error)


class Rebalanced:
    """A group with its rebalancer, and a clock that the test moves."""

    def __init__(self, initial_delay_ms: int = INITIAL_DELAY_MS, max_size: int = 100) -> None:
        self.time = MockTime()
        self.manager = StoredGroups()
        self._purgatories: list[DelayedOperationPurgatory[Any]] = [
            DelayedOperationPurgatory(name, timer=SystemTimer(time=self.time), reaper_enabled=False)
            for name in ("Heartbeat", "Rebalance")
        ]
        config = GroupConfig(
            min_session_timeout_ms=0,
            max_session_timeout_ms=300_000,
            max_size=max_size,
            initial_rebalance_delay_ms=initial_delay_ms,
        )
        self.rebalancer = GroupRebalancer(config, cast(Any, self.manager), *self._purgatories)
        self.group = GroupMetadata("group", self.time)
        self.joined: dict[str, JoinGroupResponse] = {}
        self.synced: dict[str, SyncGroupResponse] = {}

    def passes(self, ms: int) -> None:
        """Time passes in steps, so that what expires can schedule more."""
        for _ in range(0, ms, 500):
            self.time.sleep(500)
            for purgatory in self._purgatories:
                purgatory.advance_clock(0)

    def member(self, name: str, instance_id: str | None = None) -> MemberMetadata:
        protocols = [("range", b"")]
        return MemberMetadata(name, instance_id, name, "/h", REBALANCE_MS, SESSION_MS, "consumer", protocols)

    def joins(self, member: MemberMetadata) -> MemberMetadata:
        """Its JoinGroup is parked: of a new member, or of one that joins again."""
        name = member.member_id
        self.joined.pop(name, None)
        with self.group.lock:
            if self.group.has(name):
                self.group._set_join_callback(member, lambda response: self.joined.update({name: response}))
                self.rebalancer.maybe_prepare_rebalance(self.group, "joins again")
            else:
                self.rebalancer.add_member_and_rebalance(
                    self.group, member, lambda response: self.joined.update({name: response}), "is new"
                )
            if self.group.is_in(GroupState.PREPARING_REBALANCE):
                self.rebalancer.check_join(self.group)
        return member

    def syncs(self, member: MemberMetadata) -> None:
        """Its SyncGroup is parked."""
        member.awaiting_sync_callback = lambda response: self.synced.update({member.member_id: response})
        with self.group.lock:
            self.rebalancer.remove_pending_sync_member(self.group, member.member_id)

    def generation_of(self, *names: str) -> list[MemberMetadata]:
        """These members join, and the first generation begins."""
        members = [self.joins(self.member(name)) for name in names]
        self.passes(INITIAL_DELAY_MS * 2)
        assert self.group.state is GroupState.AWAITING_SYNC
        return members

    def stable(self, *names: str) -> list[MemberMetadata]:
        members = self.generation_of(*names)
        for member in members:
            self.syncs(member)
        with self.group.lock:
            self.group.transition_to(GroupState.STABLE)
            self.rebalancer.set_and_propagate_assignment(self.group, {name: name.encode() for name in names})
        return members

    def error_of(self, name: str) -> Errors:
        return Errors.for_code(self.joined[name].error_code)


def test_members_that_join_during_the_initial_delay_are_one_generation() -> None:
    rebalanced = Rebalanced()
    rebalanced.joins(rebalanced.member("a"))
    rebalanced.passes(INITIAL_DELAY_MS - 500)
    assert rebalanced.joined == {}
    rebalanced.joins(rebalanced.member("b"))
    rebalanced.passes(1_000)
    assert rebalanced.joined == {}, "a member that comes during the delay prolongs it"
    rebalanced.passes(INITIAL_DELAY_MS)
    assert {name: each.generation_id for name, each in rebalanced.joined.items()} == {"a": 1, "b": 1}
    assert [member.member_id for member in rebalanced.joined["a"].members] == ["a", "b"], "the leader learns of all"
    assert rebalanced.joined["b"].members == []
    assert rebalanced.group.pending_sync_members == {"a", "b"}


def test_a_stable_group_rebalances_when_all_have_joined_again() -> None:
    rebalanced = Rebalanced()
    a, b = rebalanced.stable("a", "b")
    rebalanced.joins(rebalanced.member("c"))
    rebalanced.joins(a)
    assert rebalanced.group.state is GroupState.PREPARING_REBALANCE
    assert rebalanced.joined.keys() == {"b"}, "what b got for the first generation; nobody has an answer yet"
    rebalanced.joins(b)
    assert {name: each.generation_id for name, each in rebalanced.joined.items()} == {"a": 2, "b": 2, "c": 2}


def test_a_dynamic_member_that_does_not_join_again_is_dropped() -> None:
    rebalanced = Rebalanced()
    a, _ = rebalanced.stable("a", "b")
    with rebalanced.group.lock:
        rebalanced.rebalancer.prepare_rebalance(rebalanced.group, "a test")
    rebalanced.joins(a)
    rebalanced.passes(SESSION_MS + 500)
    assert list(rebalanced.group.members) == ["a"]
    assert rebalanced.joined["a"].generation_id == 2


def test_a_static_member_keeps_its_place_until_its_session_ends() -> None:
    rebalanced = Rebalanced()
    (a,) = rebalanced.stable("a")
    static = rebalanced.member("s", instance_id="instance")
    static.session_timeout_ms = 2 * REBALANCE_MS
    rebalanced.joins(static)
    rebalanced.joins(a)
    for member in (a, static):
        rebalanced.syncs(member)
    with rebalanced.group.lock:
        rebalanced.group.transition_to(GroupState.STABLE)
        rebalanced.rebalancer.set_and_propagate_assignment(rebalanced.group, {"a": b"", "s": b""})
        rebalanced.rebalancer.prepare_rebalance(rebalanced.group, "a test")
    rebalanced.joins(a)
    rebalanced.passes(REBALANCE_MS + 500)
    assert set(rebalanced.group.members) == {"a", "s"}
    assert rebalanced.joined["a"].generation_id == 3


def test_a_group_whose_last_member_is_dropped_is_stored_as_empty() -> None:
    rebalanced = Rebalanced()
    rebalanced.manager.error = Errors.NOT_COORDINATOR  # which only the log learns
    (a,) = rebalanced.stable("a")
    with rebalanced.group.lock:
        rebalanced.rebalancer.remove_member_and_update_group(rebalanced.group, a, "left")
    assert rebalanced.group.state is GroupState.EMPTY
    assert rebalanced.manager.stored == [(2, {})]


def test_a_member_that_leaves_while_it_waits_gets_an_error_and_completes_the_join() -> None:
    rebalanced = Rebalanced()
    a, b = rebalanced.stable("a", "b")
    rebalanced.joins(rebalanced.member("c"))
    rebalanced.joins(a)
    with rebalanced.group.lock:
        rebalanced.rebalancer.remove_member_and_update_group(rebalanced.group, b, "left")
    assert {name: rebalanced.joined[name].generation_id for name in "ac"} == {"a": 2, "c": 2}
    with rebalanced.group.lock:
        rebalanced.rebalancer.prepare_rebalance(rebalanced.group, "again")
    rebalanced.joins(a)
    with rebalanced.group.lock:
        rebalanced.rebalancer.remove_member_and_update_group(rebalanced.group, a, "left")
    assert rebalanced.error_of("a") is Errors.UNKNOWN_MEMBER_ID


def test_a_pending_member_no_longer_holds_up_the_rebalance_once_it_is_removed() -> None:
    rebalanced = Rebalanced()
    (a,) = rebalanced.stable("a")
    rebalanced.group.pending_members.add("p")
    with rebalanced.group.lock:
        rebalanced.rebalancer.add_pending_member_expiration(rebalanced.group, "p", SESSION_MS)
    rebalanced.joins(a)
    rebalanced.joins(rebalanced.member("b"))
    assert rebalanced.group.state is GroupState.PREPARING_REBALANCE
    rebalanced.passes(SESSION_MS + 500)
    assert rebalanced.group.pending_members == set()
    assert rebalanced.joined["a"].generation_id == 2


def test_the_members_that_do_not_sync_in_time_are_removed() -> None:
    rebalanced = Rebalanced()
    a, b = rebalanced.generation_of("a", "b")
    a.session_timeout_ms = b.session_timeout_ms = 3 * REBALANCE_MS
    with rebalanced.group.lock:
        for member in (a, b):
            rebalanced.rebalancer.schedule_next_heartbeat_expiration(rebalanced.group, member)
    rebalanced.syncs(a)
    rebalanced.passes(REBALANCE_MS + 500)
    assert list(rebalanced.group.members) == ["a"]
    assert rebalanced.group.state is GroupState.PREPARING_REBALANCE
    assert Errors.for_code(rebalanced.synced["a"].error_code) is Errors.REBALANCE_IN_PROGRESS


def test_a_member_is_removed_when_its_session_ends_without_a_heartbeat() -> None:
    rebalanced = Rebalanced()
    a, b = rebalanced.stable("a", "b")
    rebalanced.passes(SESSION_MS - 1_000)
    with rebalanced.group.lock:
        rebalanced.rebalancer.schedule_next_heartbeat_expiration(rebalanced.group, a)
    rebalanced.passes(1_500)
    assert list(rebalanced.group.members) == ["a"]
    assert rebalanced.group.state is GroupState.PREPARING_REBALANCE
    assert not b.is_new


def test_a_new_member_may_wait_five_minutes_for_its_first_generation() -> None:
    rebalanced = Rebalanced(initial_delay_ms=0)
    (a,) = rebalanced.stable("a")
    a.session_timeout_ms = a.rebalance_timeout_ms = 2 * NEW_MEMBER_JOIN_TIMEOUT_MS
    with rebalanced.group.lock:
        rebalanced.rebalancer.schedule_next_heartbeat_expiration(rebalanced.group, a)
    rebalanced.joins(rebalanced.member("new"))
    rebalanced.passes(NEW_MEMBER_JOIN_TIMEOUT_MS - 1_000)
    assert set(rebalanced.group.members) == {"a", "new"}
    rebalanced.passes(2_000)
    assert list(rebalanced.group.members) == ["a"]
    assert rebalanced.error_of("new") is Errors.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(("max_size", "state"), [(1, GroupState.PREPARING_REBALANCE), (2, GroupState.STABLE)])
def test_a_loaded_group_above_its_capacity_rebalances(max_size: int, state: GroupState) -> None:
    rebalanced = Rebalanced(max_size=max_size)
    rebalanced.stable("a", "b")
    rebalanced.rebalancer.on_group_loaded(rebalanced.group)
    assert rebalanced.group.state is state
    rebalanced.passes(SESSION_MS + 500)
    assert rebalanced.group.members == {}, "the sessions of loaded members count from the load on"


def test_an_unloaded_group_redirects_all_that_wait() -> None:
    rebalanced = Rebalanced()
    a, b = rebalanced.stable("a", "b")
    rebalanced.joins(rebalanced.member("c"))
    b.awaiting_sync_callback = lambda response: rebalanced.synced.update({"b": response})
    rebalanced.rebalancer.on_group_unloaded(rebalanced.group)
    assert rebalanced.group.state is GroupState.DEAD
    assert rebalanced.error_of("c") is Errors.NOT_COORDINATOR
    assert Errors.for_code(rebalanced.synced["b"].error_code) is Errors.NOT_COORDINATOR
    rebalanced.passes(2 * REBALANCE_MS)
    assert set(rebalanced.group.members) == {"a", "b", "c"}, "a dead group does not change any more"
    assert not a.has_satisfied_heartbeat


def test_responses_describe_the_generation_and_the_member_s_part() -> None:
    rebalanced = Rebalanced()
    a, b = rebalanced.stable("a", "b")
    leader, follower = (current_generation(rebalanced.group, name, skip_assignment=True) for name in "ab")
    assert (leader.leader, leader.protocol_name, leader.protocol_type) == ("a", "range", "consumer")
    assert [member.member_id for member in leader.members] == ["a", "b"]
    assert follower.members == []
    assert leader.skip_assignment
    assert [current_assignment(rebalanced.group, member).assignment for member in (a, b)] == [b"a", b"b"]
    assert {name: response.assignment for name, response in rebalanced.synced.items()} == {"a": b"a", "b": b"b"}
