"""Groups with members that become groups of KIP-848, and classic groups again."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.modern.consumer_group_config import MigrationPolicy
from tests.support.groups import GROUP, Groups
from tests.support.mixed_groups import CLASSIC_SESSION_MS, MixedGroups, without_downgrades


@pytest.fixture
def groups() -> MixedGroups:
    return MixedGroups()


def test_the_first_heartbeat_upgrades_a_classic_group_with_its_members(groups: MixedGroups) -> None:
    a, b = groups.classic("a"), groups.classic("b")
    groups.run(a, b)
    assert (len(a.numbers()), len(b.numbers())) == (3, 3)
    modern = groups.member("m")
    assert modern.heartbeat() is Errors.NONE
    assert groups.is_modern
    assert modern.numbers() == [], "the others have everything"
    assert a.heartbeat() is b.heartbeat() is Errors.REBALANCE_IN_PROGRESS
    groups.run(a, b, modern)
    assert sorted(a.numbers() + b.numbers() + modern.numbers()) == [0, 1, 2, 3, 4, 5]
    assert len(modern.numbers()) == 2
    assert groups.group().state.value == "Stable"
    described = groups.coordinator.handle_describe(GROUP)
    assert sorted(member.member_type for member in described.members) == [0, 0, 1]


def test_an_upgraded_group_is_the_same_after_a_fail_over(groups: MixedGroups) -> None:
    a = groups.classic("a")
    groups.run(a)
    modern = groups.member("m")
    groups.run(a, modern)
    restarted = groups.restart()
    assert restarted.group().members == groups.group().members
    assert restarted.groups.state() is GroupState.EMPTY
    a.reconnect(restarted)
    assert a.heartbeat() is Errors.NONE
    restarted.groups.sleep(CLASSIC_SESSION_MS + 1000)
    assert list(restarted.group().members) == ["m"], "the classic member has its own session timeout"


def test_requests_that_wait_for_a_generation_are_told_to_join_again(groups: MixedGroups) -> None:
    a, b = groups.classic("a"), groups.classic("b")
    groups.run(a)
    b.join()
    b.join()
    assert b.doing == "wait"
    groups.member("m").heartbeat()
    assert b.errors == [Errors.REBALANCE_IN_PROGRESS]
    assert (groups.groups.state(), groups.groups.group().members) == (GroupState.EMPTY, {})


def test_the_last_member_that_heartbeats_leaves_a_classic_group_behind(groups: MixedGroups) -> None:
    a, modern = groups.classic("a"), groups.member("m")
    groups.run(a)
    groups.run(modern, a)
    assert len(a.numbers()) == 3
    epoch = groups.group().group_epoch
    assert modern.leave() is Errors.NONE
    assert not groups.is_modern
    assert groups.groups.group().generation_id == epoch
    assert a.heartbeat() is Errors.REBALANCE_IN_PROGRESS
    groups.run(a)
    assert a.numbers() == [0, 1, 2, 3, 4, 5]
    assert groups.groups.group().generation_id == epoch + 1
    assert [group.group_type for group in groups.groups.admin.handle_list_groups([], []).groups] == ["classic"]
    restarted = groups.restart()
    assert not restarted.is_modern
    a.reconnect(restarted)
    assert a.heartbeat() is Errors.NONE


def test_a_downgrade_that_nobody_has_heard_of_survives_a_fail_over(groups: MixedGroups) -> None:
    a, modern = groups.classic("a"), groups.member("m")
    groups.run(a)
    groups.run(modern, a)
    modern.leave()
    restarted = groups.restart()
    a.reconnect(restarted)
    restarted.run(a)
    assert a.numbers() == [0, 1, 2, 3, 4, 5]


def test_a_member_whose_session_ends_leaves_a_classic_group_behind(groups: MixedGroups) -> None:
    a, modern = groups.classic("a"), groups.member("m")
    groups.run(a)
    groups.run(modern, a)
    for _ in range(10):
        groups.groups.sleep(5_000)
        groups.run(a, rounds=2)
    assert not groups.is_modern
    assert a.numbers() == [0, 1, 2, 3, 4, 5]


def test_a_static_member_is_upgraded_and_downgraded_in_its_place(groups: MixedGroups) -> None:
    a, other = groups.classic("a", instance_id="i"), groups.classic("b")
    groups.run(a, other)
    before = a.numbers()
    modern = groups.member("m", instance_id="i")
    groups.run(modern, other)
    assert modern.numbers() == before
    assert a.heartbeat() is Errors.FENCED_INSTANCE_ID
    again = groups.classic("c", instance_id="i")
    again.tick()
    assert not groups.is_modern, "no member heartbeats any more"
    assert again.numbers() == before
    assert modern.heartbeat() is Errors.GROUP_ID_NOT_FOUND
    groups.run(again, other)
    assert sorted(again.numbers() + other.numbers()) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("policy", [MigrationPolicy.DISABLED, MigrationPolicy.DOWNGRADE])
def test_without_upgrades_a_classic_group_stays_one(policy: MigrationPolicy) -> None:
    groups = MixedGroups(migration_policy=policy)
    a = groups.classic("a")
    groups.run(a)
    assert groups.member("m").heartbeat() is Errors.GROUP_ID_NOT_FOUND
    assert (a.heartbeat(), groups.is_modern) == (Errors.NONE, False)


def test_without_downgrades_classic_members_stay_among_themselves() -> None:
    groups = without_downgrades()
    a, modern = groups.classic("a"), groups.member("m")
    groups.run(a)
    groups.run(modern, a)
    modern.leave()
    groups.run(a)
    assert groups.is_modern
    assert a.numbers() == [0, 1, 2, 3, 4, 5]


def test_groups_of_another_kind_and_large_groups_are_not_upgraded() -> None:
    groups = MixedGroups(Groups())
    groups.groups.stable(protocol_type="connect")
    assert groups.member("m").heartbeat() is Errors.GROUP_ID_NOT_FOUND
    small = MixedGroups(max_size=1)
    a, b = small.classic("a"), small.classic("b")
    small.run(a, b)
    assert small.member("m").heartbeat() is Errors.GROUP_ID_NOT_FOUND
    assert a.heartbeat() is Errors.NONE


def test_an_upgrade_that_fails_leaves_the_classic_group_as_it_was(groups: MixedGroups) -> None:
    a = groups.classic("a")
    groups.run(a)
    modern = groups.member("m", topics=[], regex="(")
    assert modern.heartbeat() is Errors.INVALID_REGULAR_EXPRESSION
    assert (a.heartbeat(), groups.is_modern) == (Errors.NONE, False)


def test_an_upgrade_that_the_log_refuses_is_taken_back(groups: MixedGroups) -> None:
    a, modern = groups.classic("a"), groups.member("m")
    groups.run(a)
    groups.groups.offsets_log.error = Errors.NOT_ENOUGH_REPLICAS
    assert modern.heartbeat() is Errors.COORDINATOR_NOT_AVAILABLE
    groups.groups.offsets_log.error = Errors.NONE
    assert not groups.is_modern
    groups.run(a)
    assert a.numbers() == [0, 1, 2, 3, 4, 5]


def test_a_downgrade_that_the_log_refuses_is_taken_back(groups: MixedGroups) -> None:
    a, modern = groups.classic("a"), groups.member("m")
    groups.run(a)
    groups.run(modern, a)
    groups.groups.offsets_log.error = Errors.NOT_ENOUGH_REPLICAS
    assert modern.leave() is Errors.COORDINATOR_NOT_AVAILABLE
    groups.groups.offsets_log.error = Errors.NONE
    assert groups.is_modern
    assert a.heartbeat() is Errors.NONE
    for _ in range(10):
        groups.groups.sleep(5_000)
        groups.run(a, rounds=2)
    assert not groups.is_modern, "the session of the other has ended"
    assert a.numbers() == [0, 1, 2, 3, 4, 5]


def test_the_records_of_a_downgrade_come_before_those_of_the_next_generation(groups: MixedGroups) -> None:
    a, modern = groups.classic("a"), groups.member("m")
    groups.run(a)
    groups.run(modern, a)
    log = groups.groups.offsets_log
    log.held = []
    groups.send(member_id="m", member_epoch=-1)
    groups.run(a, rounds=3)
    log.release()
    groups.run(a)
    assert a.numbers() == [0, 1, 2, 3, 4, 5]
    restarted = groups.restart()
    assert not restarted.is_modern
    assert restarted.groups.group().generation_id == groups.groups.group().generation_id == a.generation
