"""Every response of the coordinator to members, by the state of their group."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_offsets import Committer
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.protocol.messages.api_13_leave_group import MemberIdentity
from tests.support.groups import (
    GROUP,
    MINUTE_MS,
    REBALANCE_TIMEOUT_MS,
    SESSION_TIMEOUT_MS,
    FakeMember,
    Groups,
    MemoryOffsetsLog,
    error_of,
    subscription,
)


@pytest.fixture
def groups() -> Groups:
    return Groups()


def preparing(groups: Groups) -> tuple[FakeMember, FakeMember]:
    """A group that waits for its leader to join; the other member's JoinGroup is parked."""
    (leader,) = groups.stable()
    other = groups.member().join()
    assert groups.state() is GroupState.PREPARING_REBALANCE
    return leader, other


def awaiting_sync(groups: Groups) -> tuple[FakeMember, FakeMember]:
    """A group whose leader has the members and does not sync yet."""
    leader, other = preparing(groups)
    leader.join()
    assert groups.state() is GroupState.AWAITING_SYNC
    return leader, other


# ── the first check: the coordinator ──────────────────────────────────────────────────────────────────────────────────


def all_errors(groups: Groups, group_id: str = GROUP) -> dict[str, Errors | None]:
    """The responses to one request of each kind from an unknown client."""
    member = groups.member(group_id=group_id)
    nobody = groups.member(group_id=group_id, member_id="nobody", generation=1)
    describe = groups.admin.handle_describe_group(group_id)
    return {
        "join": member.send_join().join_error,
        "sync": nobody.sync().sync_error,
        "heartbeat": nobody.heartbeat(),
        "leave": nobody.leave(),
        "commit": groups.commit(1, group_id=group_id),
        "describe": error_of(describe.error_code),
        "delete": groups.admin.handle_delete_groups([group_id])[group_id],
    }


def test_a_coordinator_that_is_not_running_refuses_every_request(groups: Groups) -> None:
    groups.coordinator.shutdown()
    assert set(all_errors(groups).values()) == {Errors.COORDINATOR_NOT_AVAILABLE}
    assert groups.admin.handle_list_groups([], []).error_code == Errors.COORDINATOR_NOT_AVAILABLE.code


def test_groups_of_another_coordinator_get_not_coordinator() -> None:
    assert set(all_errors(Groups(loaded=False)).values()) == {Errors.NOT_COORDINATOR}


def test_groups_of_a_loading_partition_get_load_in_progress() -> None:
    groups = Groups(loaded=False)
    groups.manager._loading.update(dict.fromkeys(range(2), 0))
    loading = Errors.COORDINATOR_LOAD_IN_PROGRESS
    assert all_errors(groups) == {
        "join": loading,
        "sync": Errors.REBALANCE_IN_PROGRESS,
        "heartbeat": Errors.NONE,
        "leave": loading,
        "commit": loading,
        "describe": loading,
        "delete": loading,
    }
    assert groups.admin.handle_list_groups([], []).error_code == loading.code


def test_the_group_with_the_empty_name_only_stores_offsets(groups: Groups) -> None:
    assert all_errors(groups, "") == {
        "join": Errors.INVALID_GROUP_ID,
        "sync": Errors.INVALID_GROUP_ID,
        "heartbeat": Errors.INVALID_GROUP_ID,
        "leave": Errors.INVALID_GROUP_ID,
        "commit": Errors.NONE,
        "describe": Errors.NONE,
        "delete": Errors.NONE,
    }


@pytest.mark.parametrize("session_timeout_ms", [5_999, 300_001, 0, -1])
def test_session_timeouts_have_limits(groups: Groups, session_timeout_ms: int) -> None:
    member = groups.member(session_timeout_ms=session_timeout_ms).join()
    assert member.join_error is Errors.INVALID_SESSION_TIMEOUT
    assert groups.state() is None


# ── joining ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_single_member_becomes_leader_at_once(groups: Groups) -> None:
    member = groups.member(client_id="me", version=3).join()
    answer = member.joins[-1]
    assert (answer.error_code, answer.generation_id, answer.protocol_name) == (0, 1, "range")
    assert answer.leader == answer.member_id == member.member_id
    assert member.member_id.startswith("me-")
    assert [(m.member_id, m.metadata) for m in answer.members] == [(member.member_id, subscription("topic"))]
    assert groups.state() is GroupState.AWAITING_SYNC


def test_a_new_member_is_first_given_an_id(groups: Groups) -> None:
    member = groups.member(version=4).send_join()
    assert member.join_error is Errors.MEMBER_ID_REQUIRED
    assert groups.state() is GroupState.EMPTY
    assert member.send_join().join_error is Errors.NONE


def test_an_unused_member_id_expires(groups: Groups) -> None:
    (first,) = groups.stable()
    waiting = groups.member(version=4).send_join()
    first.join()
    assert first.generation == 1, "a pending member is waited for"
    groups.sleep(SESSION_TIMEOUT_MS)
    assert first.generation == 2
    assert waiting.send_join().join_error is Errors.UNKNOWN_MEMBER_ID


def test_the_first_member_does_not_wait(groups: Groups) -> None:
    groups.member(version=4).send_join()
    assert groups.member(version=3).join().join_error is Errors.NONE


def test_an_unknown_id_is_refused_with_and_without_a_group(groups: Groups) -> None:
    assert groups.member(member_id="nobody").join().join_error is Errors.UNKNOWN_MEMBER_ID
    assert groups.state() is None
    groups.stable()
    assert groups.member(member_id="nobody").join().join_error is Errors.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("protocol_type", "protocols"),
    [("connect", [("range", b"")]), ("consumer", [("other", b"")]), ("consumer", [])],
)
def test_members_must_have_a_protocol_in_common(
    groups: Groups, protocol_type: str, protocols: list[tuple[str, bytes]]
) -> None:
    groups.stable()
    stranger = groups.member(protocol_type=protocol_type, protocols=protocols).join()
    assert stranger.join_error is Errors.INCONSISTENT_GROUP_PROTOCOL
    assert groups.state() is GroupState.STABLE


@pytest.mark.parametrize(("protocol_type", "protocols"), [("", [("range", b"")]), ("consumer", [])])
def test_the_first_member_must_have_a_protocol(
    groups: Groups, protocol_type: str, protocols: list[tuple[str, bytes]]
) -> None:
    member = groups.member(protocol_type=protocol_type, protocols=protocols).join()
    assert member.join_error is Errors.INCONSISTENT_GROUP_PROTOCOL


def test_the_protocol_that_most_members_prefer_is_elected(groups: Groups) -> None:
    sticky, ranged = ("sticky", b"s"), ("range", b"r")
    members = [
        groups.member(protocols=protocols).join()
        for protocols in ([ranged, sticky], [sticky, ranged], [sticky, ranged, ("other", b"")])
    ]
    for member in members[:2]:
        member.join()
    assert {member.joins[-1].protocol_name for member in members} == {"sticky"}
    leader = next(member for member in members if member.joins[-1].members)
    assert {m.metadata for m in leader.joins[-1].members} == {b"s"}


def test_a_protocol_that_is_named_twice_counts_once(groups: Groups) -> None:
    (member,) = groups.stable(protocols=[("range", b"1"), ("range", b"2")])
    assert member.joins[-1].members[0].metadata == b"1"
    groups.member().join()
    member.join()
    assert groups.state() is GroupState.AWAITING_SYNC


def test_a_join_waits_for_all_existing_members(groups: Groups) -> None:
    leader, other = preparing(groups)
    assert other.joins[-1].error_code == Errors.MEMBER_ID_REQUIRED.code
    assert leader.heartbeat() is Errors.REBALANCE_IN_PROGRESS
    leader.join()
    assert (leader.generation, other.generation) == (2, 2)
    assert len(leader.joins[-1].members) == 2
    assert other.joins[-1].members == []
    assert other.joins[-1].leader == leader.member_id


def test_a_member_that_does_not_join_in_time_is_removed(groups: Groups) -> None:
    leader, other = preparing(groups)
    for _ in range(12):
        groups.sleep(REBALANCE_TIMEOUT_MS // 12)
        leader.heartbeat()
    assert other.joins[-1].leader == other.member_id
    assert leader.heartbeat() is Errors.UNKNOWN_MEMBER_ID


def test_a_join_waits_for_the_longest_rebalance_timeout(groups: Groups) -> None:
    (leader,) = groups.stable(rebalance_timeout_ms=30_000)
    other = groups.member(rebalance_timeout_ms=90_000).join()
    for _ in range(9):
        groups.sleep(9_500)
        assert leader.heartbeat() is Errors.REBALANCE_IN_PROGRESS
    groups.sleep(9_500)
    assert other.join_error is Errors.NONE


def test_an_unchanged_follower_joins_without_a_rebalance(groups: Groups) -> None:
    leader, follower = groups.stable(2)
    follower.join()
    assert (follower.join_error, follower.generation) == (Errors.NONE, leader.generation)
    assert follower.joins[-1].members == []
    assert groups.state() is GroupState.STABLE


def test_a_changed_follower_or_the_leader_joining_again_starts_a_rebalance(groups: Groups) -> None:
    leader, follower = groups.stable(2)
    follower.protocols = [("range", subscription("other"))]
    follower.join()
    assert groups.state() is GroupState.PREPARING_REBALANCE
    leader.join()
    groups.sync_all([leader, follower])
    assert groups.state() is GroupState.STABLE
    leader.join()
    assert groups.state() is GroupState.PREPARING_REBALANCE


def test_a_lost_join_response_is_sent_again(groups: Groups) -> None:
    leader, other = awaiting_sync(groups)
    leader.send_join()
    assert (leader.join_error, len(leader.joins[-1].members)) == (Errors.NONE, 2)
    other.send_join()
    assert (other.join_error, len(other.joins[-1].members)) == (Errors.NONE, 0)
    assert groups.state() is GroupState.AWAITING_SYNC
    other.protocols = [("range", subscription("other"))]
    other.send_join()
    assert groups.state() is GroupState.PREPARING_REBALANCE


def test_a_second_join_ends_the_first_with_an_error(groups: Groups) -> None:
    _, other = preparing(groups)
    other.send_join()
    assert other.join_error is Errors.REBALANCE_IN_PROGRESS, "the first join must not wait for ever"


def test_group_max_size_is_enforced() -> None:
    groups = Groups(max_size=2)
    members = groups.stable(2)
    third = groups.member().join()
    assert (third.join_error, third.joins[-1].member_id) == (Errors.GROUP_MAX_SIZE_REACHED, "")
    assert groups.state() is GroupState.STABLE
    members[0].join()
    assert groups.member(version=3).join().join_error is None, "only the first two that join again are accepted"
    members[1].join()
    assert members[1].join_error is Errors.GROUP_MAX_SIZE_REACHED


def test_new_members_expire_after_five_minutes_even_while_their_join_is_parked() -> None:
    groups = Groups()
    (leader,) = groups.stable(rebalance_timeout_ms=30 * MINUTE_MS, session_timeout_ms=300_000)
    gone = groups.member(rebalance_timeout_ms=30 * MINUTE_MS, client_id="gone").join()
    for _ in range(6):
        groups.sleep(MINUTE_MS)
        leader.heartbeat()
    assert gone.join_error is Errors.UNKNOWN_MEMBER_ID
    leader.join()
    assert len(leader.joins[-1].members) == 1


def test_the_first_rebalance_of_a_group_may_wait_for_more_members() -> None:
    groups = Groups(initial_rebalance_delay_ms=3000)
    first = groups.member(rebalance_timeout_ms=7000).join()
    groups.sleep(2000)
    second = groups.member(rebalance_timeout_ms=7000).join()
    groups.sleep(1500)
    assert (first.generation, second.generation) == (-1, -1), "a member joined, so it waits once more"
    groups.sleep(2600)
    assert (first.generation, second.generation) == (1, 1)
    groups.sync_all([first, second])
    groups.member().join()
    first.join()
    second.join()
    assert first.generation == 2, "only the first one waits"


def test_the_first_rebalance_does_not_wait_beyond_the_rebalance_timeout() -> None:
    groups = Groups(initial_rebalance_delay_ms=3000)
    first = groups.member(rebalance_timeout_ms=7000).join()
    for _ in range(7):
        assert first.generation == -1
        groups.sleep(1000)
        groups.member(rebalance_timeout_ms=7000).join()
    groups.sleep(100)
    assert first.generation == 1


# ── syncing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_followers_wait_for_the_leader_and_get_their_assignments(groups: Groups) -> None:
    leader, other = awaiting_sync(groups)
    other.sync()
    assert other.syncs == []
    leader.sync({leader.member_id: b"mine", other.member_id: b"yours"})
    assert (leader.syncs[-1].assignment, other.syncs[-1].assignment) == (b"mine", b"yours")
    assert groups.state() is GroupState.STABLE
    other.sync()
    assert (other.sync_error, other.syncs[-1].assignment) == (Errors.NONE, b"yours")


def test_a_member_missing_from_the_assignment_gets_an_empty_one(groups: Groups) -> None:
    leader, other = awaiting_sync(groups)
    other.sync()
    leader.sync({leader.member_id: b"mine"})
    assert (other.sync_error, other.syncs[-1].assignment) == (Errors.NONE, b"")


def test_parked_syncs_get_rebalance_in_progress_when_a_rebalance_starts(groups: Groups) -> None:
    _, other = awaiting_sync(groups)
    other.sync()
    groups.member().join()
    assert other.sync_error is Errors.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"member_id": "nobody"}, Errors.UNKNOWN_MEMBER_ID),
        ({"generation_id": 7}, Errors.ILLEGAL_GENERATION),
        ({"protocol_type": "connect"}, Errors.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": "sticky"}, Errors.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": "consumer", "protocol_name": "range"}, None),
    ],
)
def test_sync_checks_member_generation_and_protocol(
    groups: Groups, changes: dict[str, object], error: Errors | None
) -> None:
    _, other = awaiting_sync(groups)
    assert other.sync(**changes).sync_error is error  # type: ignore[arg-type]


def test_sync_without_a_group_or_during_a_rebalance_is_refused(groups: Groups) -> None:
    assert groups.member(member_id="nobody").sync().sync_error is Errors.UNKNOWN_MEMBER_ID
    leader, _ = preparing(groups)
    assert leader.sync().sync_error is Errors.REBALANCE_IN_PROGRESS


def test_a_member_that_never_syncs_is_removed(groups: Groups) -> None:
    leader, other = awaiting_sync(groups)
    leader.sync({leader.member_id: b"mine", other.member_id: b"never asked for"})
    for _ in range(12):
        groups.sleep(REBALANCE_TIMEOUT_MS // 12)
        leader.heartbeat()
        other.heartbeat()
    assert other.heartbeat() is Errors.UNKNOWN_MEMBER_ID
    assert groups.state() is GroupState.PREPARING_REBALANCE


@pytest.mark.parametrize(
    ("refusal", "answer"),
    [
        (Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_ENOUGH_REPLICAS, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_LEADER_OR_FOLLOWER, Errors.NOT_COORDINATOR),
        (Errors.KAFKA_STORAGE_ERROR, Errors.NOT_COORDINATOR),
        (Errors.REQUEST_TIMED_OUT, Errors.REBALANCE_IN_PROGRESS),
        (Errors.MESSAGE_TOO_LARGE, Errors.UNKNOWN_SERVER_ERROR),
        (Errors.RECORD_LIST_TOO_LARGE, Errors.UNKNOWN_SERVER_ERROR),
        (Errors.CORRUPT_MESSAGE, Errors.CORRUPT_MESSAGE),
    ],
)
def test_an_assignment_that_cannot_be_stored_fails_the_syncs(groups: Groups, refusal: Errors, answer: Errors) -> None:
    leader, other = awaiting_sync(groups)
    other.sync()
    groups.offsets_log.error = refusal
    leader.sync({leader.member_id: b"mine", other.member_id: b"yours"})
    assert (leader.sync_error, other.sync_error) == (answer, answer)
    assert groups.state() is GroupState.PREPARING_REBALANCE


def test_an_assignment_is_refused_if_this_broker_does_not_lead_the_log(groups: Groups) -> None:
    member = groups.member().join()
    groups.offsets_log.leads = False
    member.sync({member.member_id: b"mine"})
    assert member.sync_error is Errors.NOT_COORDINATOR


def test_an_assignment_stored_after_its_generation_ended_is_ignored(groups: Groups) -> None:
    leader, other = awaiting_sync(groups)
    groups.offsets_log.held = []
    leader.sync({leader.member_id: b"mine", other.member_id: b"yours"})
    assert leader.syncs == [leader.syncs[0]], "not answered yet"
    groups.member().join()
    assert leader.sync_error is Errors.REBALANCE_IN_PROGRESS
    groups.offsets_log.release()
    assert groups.state() is GroupState.PREPARING_REBALANCE
    assert len(leader.syncs) == 2, "the response of its first generation, and the error"


# ── heartbeats and sessions ───────────────────────────────────────────────────────────────────────────────────────────


def test_heartbeats_in_every_state(groups: Groups) -> None:
    assert groups.member(member_id="nobody").heartbeat() is Errors.UNKNOWN_MEMBER_ID
    leader, other = awaiting_sync(groups)
    assert other.heartbeat() is Errors.NONE
    groups.sync_all([leader, other])
    assert leader.heartbeat() is Errors.NONE
    assert groups.member(member_id="nobody", generation=2).heartbeat() is Errors.UNKNOWN_MEMBER_ID
    other.generation -= 1
    assert other.heartbeat() is Errors.ILLEGAL_GENERATION
    other.generation += 1
    groups.member().join()
    assert other.heartbeat() is Errors.REBALANCE_IN_PROGRESS
    leader.leave(), other.leave()
    assert leader.heartbeat() is Errors.UNKNOWN_MEMBER_ID


def test_a_member_without_heartbeats_is_removed(groups: Groups) -> None:
    leader, follower = groups.stable(2)
    groups.sleep(SESSION_TIMEOUT_MS // 2)
    assert follower.heartbeat() is Errors.NONE
    groups.sleep(SESSION_TIMEOUT_MS // 2 + 100)
    assert groups.state() is GroupState.PREPARING_REBALANCE
    follower.join()
    assert follower.joins[-1].leader == follower.member_id
    assert leader.heartbeat() is Errors.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("sign", ["heartbeat", "commit", "sync"])
def test_every_request_of_a_member_restarts_its_session(groups: Groups, sign: str) -> None:
    (member,) = groups.stable()
    for _ in range(10):
        groups.sleep(SESSION_TIMEOUT_MS - 200)
        {"heartbeat": member.heartbeat, "commit": lambda: member.commit(1), "sync": member.sync}[sign]()
    assert groups.state() is GroupState.STABLE


def test_a_group_becomes_empty_when_all_members_fail(groups: Groups) -> None:
    groups.stable(3)
    groups.sleep(SESSION_TIMEOUT_MS + 200)
    groups.sleep(REBALANCE_TIMEOUT_MS)
    assert groups.state() is GroupState.EMPTY
    assert groups.group().generation_id == groups.restart().group().generation_id


def test_a_session_expiring_just_as_a_heartbeat_arrives_removes_nobody(groups: Groups) -> None:
    (member,) = groups.stable()
    expired = groups.group().members[member.member_id].delayed_heartbeat
    assert expired is not None
    assert expired.force_complete(), "the timer has taken it"
    assert member.heartbeat() is Errors.NONE, "the heartbeat took the lock first"
    expired.on_expiration()
    assert groups.state() is GroupState.STABLE
    assert member.heartbeat() is Errors.NONE


# ── leaving ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_rebalance_does_not_wait_for_a_member_that_left(groups: Groups) -> None:
    leader, follower = groups.stable(2)
    assert leader.leave() is Errors.NONE
    assert groups.state() is GroupState.PREPARING_REBALANCE
    follower.join()
    assert follower.joins[-1].leader == follower.member_id
    follower.sync({follower.member_id: b"all"})
    assert follower.leave() is Errors.NONE
    assert (groups.state(), groups.group().generation_id) == (GroupState.EMPTY, 4)


def test_a_join_completes_when_the_last_missing_member_leaves(groups: Groups) -> None:
    leader, other = preparing(groups)
    leader.leave()
    assert other.joins[-1].leader == other.member_id


def test_a_member_with_a_parked_sync_may_leave(groups: Groups) -> None:
    _, other = awaiting_sync(groups)
    other.sync()
    assert other.leave() is Errors.NONE
    assert other.sync_error is Errors.UNKNOWN_MEMBER_ID


def test_a_pending_member_may_leave(groups: Groups) -> None:
    waiting = groups.member(version=4).send_join()
    assert waiting.leave() is Errors.NONE
    assert waiting.send_join().join_error is Errors.UNKNOWN_MEMBER_ID


def test_leaving_with_an_unknown_id_is_refused(groups: Groups) -> None:
    assert groups.member(member_id="nobody").leave() is Errors.UNKNOWN_MEMBER_ID
    groups.stable()
    assert groups.member(member_id="nobody").leave() is Errors.UNKNOWN_MEMBER_ID
    assert groups.member().leave() is Errors.UNKNOWN_MEMBER_ID


def test_several_members_leave_in_one_request(groups: Groups) -> None:
    first, second = groups.stable(2)
    identities = [MemberIdentity(member_id=id_) for id_ in (first.member_id, "nobody", second.member_id)]
    answer = groups.coordinator.handle_leave_group(GROUP, identities)
    codes = [error_of(member.error_code) for member in answer.members]
    assert codes == [Errors.NONE, Errors.UNKNOWN_MEMBER_ID, Errors.NONE]
    assert groups.state() is GroupState.EMPTY


# ── static members ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_returning_static_member_keeps_its_assignment(groups: Groups) -> None:
    leader, follower = groups.stable(2, instance_id=None)
    leader.leave(), follower.leave()
    one, two = static_pair(groups)
    again = groups.member(instance_id=two.instance_id).join()
    assert again.member_id != two.member_id
    assert (again.join_error, again.generation) == (Errors.NONE, one.generation)
    again.sync()
    assert again.syncs[-1].assignment == two.syncs[-1].assignment
    assert groups.state() is GroupState.STABLE
    assert one.heartbeat() is Errors.NONE
    assert two.heartbeat() is Errors.FENCED_INSTANCE_ID
    assert groups.restart().group().static_member_id(two.instance_id or "") == again.member_id


def static_pair(groups: Groups, **fields: object) -> tuple[FakeMember, FakeMember]:
    """A stable group of two static members, the leader first."""
    members = [groups.member(instance_id=name, **fields).join() for name in ("one", "two")]
    members[0].join()
    leader, follower = groups.sync_all(members)
    return leader, follower


@pytest.mark.parametrize("version", [8, 9])
def test_a_returning_static_leader_does_not_assign(groups: Groups, version: int) -> None:
    leader, _ = static_pair(groups)
    again = groups.member(instance_id=leader.instance_id, version=version).join()
    answer = again.joins[-1]
    if version >= 9:
        assert (answer.skip_assignment, answer.leader, len(answer.members)) == (True, again.member_id, 2)
    else:
        assert (answer.skip_assignment, answer.leader, answer.members) == (False, leader.member_id, [])
    assert groups.group().leader_id == again.member_id


def test_a_returning_static_member_with_another_protocol_starts_a_rebalance(groups: Groups) -> None:
    both = [("range", b"r"), ("sticky", b"s")]
    _, follower = static_pair(groups, protocols=both)
    again = groups.member(instance_id=follower.instance_id, protocols=[("sticky", b"s")]).join()
    assert again.joins == []
    assert groups.state() is GroupState.PREPARING_REBALANCE


def test_a_static_member_that_returns_before_the_assignment_is_there_starts_a_rebalance(groups: Groups) -> None:
    """The leader may assign to the old id."""
    leader, follower = static_pair(groups)
    leader.join(), follower.join()
    assert groups.state() is GroupState.AWAITING_SYNC
    again = groups.member(instance_id=follower.instance_id).join()
    assert again.joins == []
    assert groups.state() is GroupState.PREPARING_REBALANCE


def test_the_session_of_a_new_member_begins_with_its_first_generation(groups: Groups) -> None:
    _, other = awaiting_sync(groups)
    groups.sleep(SESSION_TIMEOUT_MS + 600)
    assert not groups.group().has(other.member_id)


def test_an_assignment_of_the_last_generation_that_is_stored_late_is_dropped(groups: Groups) -> None:
    leader, other = awaiting_sync(groups)
    groups.offsets_log.held = []
    leader.sync({leader.member_id: b"1", other.member_id: b"2"})
    groups.member().join()
    leader.join(), other.join()
    assert groups.state() is GroupState.AWAITING_SYNC
    groups.offsets_log.release()
    assert groups.state() is GroupState.AWAITING_SYNC


def test_a_static_member_gets_an_error_if_its_new_id_cannot_be_stored(groups: Groups) -> None:
    _, follower = static_pair(groups)
    groups.offsets_log.error = Errors.NOT_LEADER_OR_FOLLOWER
    again = groups.member(instance_id=follower.instance_id).join()
    assert again.join_error is Errors.NOT_COORDINATOR


def test_a_second_return_of_a_static_member_fences_the_first_while_it_waits(groups: Groups) -> None:
    leader, follower = static_pair(groups)
    leader.join()
    waiting = groups.member(instance_id=follower.instance_id).join()
    assert waiting.join_error is Errors.NONE or waiting.joins == []
    again = groups.member(instance_id=follower.instance_id)
    groups.group().update_member(
        groups.group().members[groups.group().static_member_id(follower.instance_id or "") or ""],
        follower.protocols,
        REBALANCE_TIMEOUT_MS,
        SESSION_TIMEOUT_MS,
        waiting.joins.append,
    )
    again.join()
    assert waiting.join_error is Errors.FENCED_INSTANCE_ID


def test_a_static_member_keeps_its_place_until_its_session_ends(groups: Groups) -> None:
    leader, follower = static_pair(groups, session_timeout_ms=120_000)
    leader.join()
    groups.sleep(REBALANCE_TIMEOUT_MS + 600)
    assert leader.generation == 3, "the rebalance goes on without the follower"
    assert groups.group().has(follower.member_id)
    leader.sync({leader.member_id: b"1", follower.member_id: b"2"})
    groups.sleep(60_000)
    leader.heartbeat()
    groups.sleep(61_000)
    assert not groups.group().has(follower.member_id)


def test_a_rebalance_with_only_absent_static_members_waits_again(groups: Groups) -> None:
    leader, follower = static_pair(groups, session_timeout_ms=300_000)
    newcomer = groups.member().join()
    newcomer.leave()
    groups.sleep(REBALANCE_TIMEOUT_MS + 600)
    assert groups.state() is GroupState.PREPARING_REBALANCE
    follower.join()
    leader.join()
    assert groups.state() is GroupState.AWAITING_SYNC


def test_an_administrator_removes_a_static_member_by_its_instance_id(groups: Groups) -> None:
    static_pair(groups)
    identities = [MemberIdentity(group_instance_id=name) for name in ("one", "nobody")]
    answer = groups.coordinator.handle_leave_group(GROUP, identities)
    assert [error_of(m.error_code) for m in answer.members] == [Errors.NONE, Errors.UNKNOWN_MEMBER_ID]
    assert groups.group().static_member_id("one") is None


def test_every_request_checks_the_instance_id(groups: Groups) -> None:
    _, follower = static_pair(groups)
    impostor = groups.member(instance_id=follower.instance_id, member_id="old", generation=follower.generation)
    assert impostor.send_join().join_error is Errors.FENCED_INSTANCE_ID
    assert impostor.sync().sync_error is Errors.FENCED_INSTANCE_ID
    assert impostor.heartbeat() is Errors.FENCED_INSTANCE_ID
    assert impostor.commit(1) is Errors.FENCED_INSTANCE_ID
    assert impostor.leave() is Errors.FENCED_INSTANCE_ID
    impostor.instance_id = "unheard of"
    assert impostor.heartbeat() is Errors.UNKNOWN_MEMBER_ID
    pending = groups.member(version=4).send_join()
    pending.instance_id = "suddenly static"
    assert pending.send_join().join_error is Errors.INVALID_REQUEST


# ── the partition moves ───────────────────────────────────────────────────────────────────────────────────────────────


def test_parked_requests_get_not_coordinator_when_the_group_moves(groups: Groups) -> None:
    _, joining = preparing(groups)
    leader, syncing = (groups.member(group_id="other").join() for _ in range(2))
    leader.join()
    syncing.sync()
    dead = groups.group()
    for partition in range(2):
        groups.coordinator.on_resignation(partition, 1)
    groups.sleep(0)
    assert joining.join_error is Errors.NOT_COORDINATOR
    assert syncing.sync_error is Errors.NOT_COORDINATOR
    assert dead.state is GroupState.DEAD
    assert groups.manager.current_groups == []
    groups.sleep(10 * MINUTE_MS)
    assert dead.state is GroupState.DEAD, "no parked operation may revive it"


def test_a_dead_group_refuses_every_request(groups: Groups) -> None:
    (member,) = groups.stable()
    groups.group().transition_to(GroupState.DEAD)
    gone = Errors.COORDINATOR_NOT_AVAILABLE
    assert groups.member().join().join_error is gone
    assert member.send_join().join_error is gone
    assert member.sync().sync_error is gone
    assert member.heartbeat() is gone
    assert member.leave() is gone
    assert member.commit(1) is gone
    assert groups.commit(1) is gone
    assert groups.committed() == -1
    assert groups.admin.handle_delete_groups([GROUP]) == {GROUP: Errors.GROUP_ID_NOT_FOUND}


def test_a_stable_group_survives_a_change_of_coordinator(groups: Groups) -> None:
    leader, follower = groups.stable(2)
    leader.commit(42)
    after = groups.restart()
    assert (after.state(), after.group().generation_id) == (GroupState.STABLE, leader.generation)
    assert after.committed() == 42
    leader.groups = follower.groups = after
    assert leader.heartbeat() is Errors.NONE
    follower.sync()
    assert follower.syncs[-1].assignment == follower.member_id.encode()
    after.sleep(SESSION_TIMEOUT_MS + 200)
    assert after.state() is GroupState.EMPTY, "loaded members have session timeouts"


def test_a_loaded_group_that_is_too_large_rebalances() -> None:
    groups = Groups()
    groups.stable(3)
    offsets_log = MemoryOffsetsLog()
    offsets_log.logs = groups.offsets_log.logs
    smaller = Groups(max_size=2, offsets_log=offsets_log, time=groups.time)
    assert smaller.state() is GroupState.PREPARING_REBALANCE


def test_commits_to_a_group_without_members(groups: Groups) -> None:
    assert groups.commit(1, committer=Committer("nobody", 3)) is Errors.ILLEGAL_GENERATION
    assert groups.state() is None
    assert groups.commit(1) is Errors.NONE
    assert groups.commit(2, committer=Committer("nobody", 0)) is Errors.UNKNOWN_MEMBER_ID
    assert groups.commit(2, committer=Committer("nobody", -1)) is Errors.NONE, "as in Kafka: nobody is there to fence"
    assert groups.committed() == 2


def test_commits_in_every_state(groups: Groups) -> None:
    leader, other = preparing(groups)
    assert leader.commit(1) is Errors.NONE, "commits of the ending generation are accepted"
    leader.generation += 1
    assert leader.commit(2) is Errors.ILLEGAL_GENERATION
    leader.generation -= 1
    leader.join()
    assert leader.commit(2) is Errors.REBALANCE_IN_PROGRESS
    groups.sync_all([leader, other])
    assert other.commit(3) is Errors.NONE
    assert groups.commit(4) is Errors.UNKNOWN_MEMBER_ID
    other.generation -= 1
    assert other.commit(5) is Errors.ILLEGAL_GENERATION
    assert groups.committed() == 3
