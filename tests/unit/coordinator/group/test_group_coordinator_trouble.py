"""Misbehaving clients: neither the broker nor the other members of their group may suffer."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_state import GroupState
from tests.support.groups import REBALANCE_TIMEOUT_MS, FakeMember, Groups


@pytest.fixture
def groups() -> Groups:
    return Groups()


@pytest.mark.parametrize(
    "names",
    [
        {"client_id": "x" * 2**15},
        {"client_id": "x" * (2**15 - 1)},
        {"instance_id": "x" * 2**15},
        {"protocol_type": "x" * 2**15},
        {"protocols": [("x" * 2**15, b"")]},
    ],
    ids=["client", "member id", "instance", "type", "protocol"],
)
def test_names_too_long_for_a_record_are_refused_and_others_can_join(groups: Groups, names: dict[str, object]) -> None:
    for version in (1, 9):
        assert groups.member(version=version, **names).join().join_error is Errors.INVALID_REQUEST
    assert groups.state() is None
    (member,) = groups.stable()
    assert member.sync_error is Errors.NONE


def late_static_follower(groups: Groups) -> tuple[FakeMember, FakeMember]:
    """A stable group whose static follower has not sent SyncGroup."""
    leader = groups.member().join()
    static = groups.member(instance_id="static", session_timeout_ms=2 * REBALANCE_TIMEOUT_MS).join()
    leader.join()
    leader.sync({leader.member_id: b"leader", static.member_id: b"static"})
    assert groups.state() is GroupState.STABLE
    return leader, static


def test_sync_under_a_new_static_member_id_ends_the_wait_for_the_old_one(groups: Groups) -> None:
    leader, _ = late_static_follower(groups)
    again = groups.member(instance_id="static", version=9).join()
    again.sync()
    for _ in range(2 * REBALANCE_TIMEOUT_MS // 5000):
        groups.sleep(5000)
        assert (leader.heartbeat(), again.heartbeat()) == (Errors.NONE, Errors.NONE)
    assert groups.state() is GroupState.STABLE


def test_a_returned_static_member_that_never_syncs_is_removed_and_gets_a_response(groups: Groups) -> None:
    leader, _ = late_static_follower(groups)
    for _ in range(REBALANCE_TIMEOUT_MS // 5000 - 1):
        groups.sleep(5000)
        leader.heartbeat()
    groups.offsets_log.held = []
    again = groups.member(instance_id="static", version=9, session_timeout_ms=60_000).join()
    assert again.join_error is None, "its new id is being stored"
    groups.sleep(5000)
    assert again.join_error is Errors.UNKNOWN_MEMBER_ID
    groups.offsets_log.release()
    assert len(again.joins) == 1
    assert groups.state() is GroupState.PREPARING_REBALANCE


def test_absent_static_members_with_a_zero_rebalance_timeout_do_not_busy_the_timer(
    groups: Groups, caplog: pytest.LogCaptureFixture
) -> None:
    leader = groups.member(rebalance_timeout_ms=0).join()
    static = groups.member(rebalance_timeout_ms=0, instance_id="static").join()
    leader.join()
    groups.sync_all([leader, static])
    leader.leave()
    for _ in range(10):
        groups.sleep(0)  # the clock stands still
    assert caplog.text.count("no members rejoined") == 1
    groups.sleep(2000)
    assert caplog.text.count("no members rejoined") > 1
    static.join()
    assert static.join_error is Errors.NONE
