"""When members are removed that say nothing, or do not do what they were asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.modern import consumer_group_records as group_records
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_config import ConsumerGroupConfig, GroupConfigManager
from kafka_lite.coordinator.group.modern.consumer_group_member import ClassicMember, ConsumerGroupMember
from kafka_lite.coordinator.group.modern.member_deadlines import MemberDeadlines
from kafka_lite.coordinator.group.modern.member_state import MemberState

MODERN = ConsumerGroupMember("m", rebalance_timeout_ms=20_000, member_epoch=3)
CLASSIC = replace(MODERN, member_id="c", classic=ClassicMember(9_000, (("range", b""),)))
REVOKING = replace(MODERN, state=MemberState.UNREVOKED_PARTITIONS)


class Deadlines:
    """Deadlines with a mock clock: what was fenced, as member id and epoch."""

    def __init__(self, *members: ConsumerGroupMember) -> None:
        self.time = MockTime()
        self.fenced: list[tuple[str, str, int | None]] = []
        scheduler = MockScheduler(self.time)
        self.deadlines = MemberDeadlines(
            GroupConfigManager(ConsumerGroupConfig(session_timeout_ms=45_000)),
            scheduler,
            self.time,
            lambda _group, member_id, reason, epoch: self.fenced.append((member_id, reason.split()[1], epoch)),
        )
        self.group = GroupMetadata("g", self.time)
        self.group.modern = ConsumerGroup("g")
        for member in members:
            self.group.modern.replay(group_records.member_subscription("g", member))
            self.group.modern.replay(group_records.current_assignment("g", member))

    def sleep(self, ms: int) -> list[tuple[str, str, int | None]]:
        self.time.sleep(ms)
        return self.fenced


@pytest.mark.parametrize(("member", "timeout_ms"), [(MODERN, 45_000), (CLASSIC, 9_000)])
def test_a_member_has_the_session_timeout_of_its_kind(member: ConsumerGroupMember, timeout_ms: int) -> None:
    deadlines = Deadlines(member)
    deadlines.deadlines.begin(deadlines.group)
    assert deadlines.sleep(timeout_ms - 1) == []
    deadlines.deadlines.schedule_session(deadlines.group, member)
    assert deadlines.sleep(timeout_ms - 1) == []
    assert deadlines.sleep(1) == [(member.member_id, "session", None)]


def test_a_member_that_is_gone_has_no_deadlines() -> None:
    deadlines = Deadlines(CLASSIC)
    deadlines.deadlines.begin(deadlines.group)
    deadlines.deadlines.must_join(deadlines.group, CLASSIC)
    deadlines.deadlines.on_joined(deadlines.group, CLASSIC)
    deadlines.deadlines.cancel(deadlines.group, "c")
    assert deadlines.sleep(100_000) == []


def test_heartbeats_do_not_prolong_the_time_to_give_up_partitions() -> None:
    deadlines = Deadlines(REVOKING)
    for _ in range(3):
        deadlines.deadlines.on_heartbeat(deadlines.group, REVOKING)
        assert deadlines.sleep(6_000) == []
    assert deadlines.sleep(2_000) == [("m", "did", 3)]


def test_partitions_that_are_given_up_end_it() -> None:
    deadlines = Deadlines(REVOKING)
    deadlines.deadlines.on_heartbeat(deadlines.group, REVOKING)
    deadlines.deadlines.on_heartbeat(deadlines.group, MODERN)
    assert deadlines.sleep(44_000) == []


def test_a_new_coordinator_gives_all_of_the_time_again() -> None:
    deadlines = Deadlines(REVOKING)
    deadlines.deadlines.begin(deadlines.group)
    assert deadlines.sleep(20_000) == [("m", "did", 3)]


def test_a_classic_member_must_join_in_time_however_often_it_is_told() -> None:
    deadlines = Deadlines(CLASSIC)
    for _ in range(4):
        deadlines.deadlines.must_join(deadlines.group, CLASSIC)
        deadlines.deadlines.schedule_session(deadlines.group, CLASSIC)
        assert deadlines.sleep(4_999) == []
    assert deadlines.sleep(4) == [("c", "did", None)]


def test_a_classic_member_must_sync_in_time() -> None:
    deadlines = Deadlines(CLASSIC)
    deadlines.deadlines.must_join(deadlines.group, CLASSIC)
    deadlines.deadlines.on_joined(deadlines.group, CLASSIC)
    for _ in range(4):
        deadlines.deadlines.schedule_session(deadlines.group, CLASSIC)
        assert deadlines.sleep(4_999) == []
    assert deadlines.sleep(4) == [("c", "did", None)]
    deadlines.fenced.clear()
    deadlines.deadlines.on_joined(deadlines.group, CLASSIC)
    deadlines.deadlines.on_synced(deadlines.group, CLASSIC)
    assert deadlines.sleep(8_999) == []


def test_a_classic_member_that_is_upgraded_need_not_join_any_more() -> None:
    deadlines = Deadlines(CLASSIC)
    deadlines.deadlines.must_join(deadlines.group, CLASSIC)
    deadlines.deadlines.on_heartbeat(deadlines.group, replace(CLASSIC, classic=None))
    assert deadlines.sleep(44_000) == []
