"""Share groups in their coordinator: sessions, fail-over, other kinds of groups, and the log's refusals."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_offsets import NOTHING_COMMITTED, Committer
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from tests.support.groups import GROUP, FakeMember, error_of
from tests.support.modern_groups import ModernGroups
from tests.support.share_groups import ShareGroups, ShareMember, joined

OFFSET = {TopicPartition("t", 0): OffsetAndMetadata(1, "", 0)}


def test_a_member_that_falls_silent_is_removed() -> None:
    groups = ShareGroups()
    a, _ = joined(groups, "a", "b")
    for _ in range(5):
        groups.groups.sleep(10_000)
        a.heartbeat()
    assert list(groups.group().members) == ["a"]
    a.heartbeat()
    assert a.numbers() == [0, 1, 2, 3]


def test_a_member_that_leaves_is_removed_and_the_group_stays() -> None:
    groups = ShareGroups()
    (member,) = joined(groups, "a")
    assert member.leave() is Errors.NONE
    assert groups.group().state.value == "Empty"
    groups.groups.sleep(600_000)
    assert groups.groups.coordinator.group_manager.get_group(GROUP) is not None


def test_the_timeouts_are_those_of_the_group() -> None:
    groups = ShareGroups()
    groups.configs.update(GROUP, {"share.session.timeout.ms": "50000", "share.heartbeat.interval.ms": "7000"})
    (member,) = joined(groups, "a")
    assert member.response.heartbeat_interval_ms == 7_000
    groups.groups.sleep(49_000)
    assert groups.group().members
    groups.groups.sleep(2_000)
    assert not groups.group().members


def test_another_coordinator_goes_on_from_the_log() -> None:
    groups = ShareGroups()
    a, b = joined(groups, "a", "b")
    restarted = groups.restart()
    assert restarted.group() == groups.group() or restarted.group().members == groups.group().members
    a.groups = b.groups = restarted
    assert a.heartbeat() is Errors.NONE
    assert a.response.assignment is None
    for _ in range(5):
        restarted.groups.sleep(10_000)
        a.heartbeat()
    assert list(restarted.group().members) == ["a"], "b has had a whole session"


def test_a_refused_group_was_never_there() -> None:
    groups = ShareGroups()
    groups.groups.offsets_log.error = Errors.NOT_ENOUGH_REPLICAS
    member = ShareMember(groups, "a")
    assert member.heartbeat() is Errors.COORDINATOR_NOT_AVAILABLE
    assert groups.groups.group().share is None
    assert groups.persister.calls == []
    groups.groups.offsets_log.error = Errors.NONE
    assert member.heartbeat() is Errors.NONE


def test_a_response_waits_for_the_log() -> None:
    groups = ShareGroups()
    groups.groups.offsets_log.held = []
    assert groups.send(member_id="a", subscribed_topic_names=["t"]) is None
    assert groups.persister.calls == []
    groups.groups.offsets_log.release()
    assert [method for method, *_ in groups.persister.calls] == ["initialize_state"]


def test_other_kinds_of_requests_see_no_group_of_theirs() -> None:
    groups = ShareGroups()
    joined(groups, "a")
    admin, offsets = groups.groups.admin, groups.groups.offsets
    (listed,) = admin.handle_list_groups((), ()).groups
    assert (listed.group_type, listed.protocol_type, listed.group_state) == ("share", "share", "Stable")
    assert admin.handle_list_groups((), ("consumer",)).groups == []
    assert admin.handle_describe_group(GROUP).error_message == f"Group {GROUP} is not a classic group."
    committed: list[object] = []
    offsets.handle_commit_offsets(GROUP, Committer("", None, -1), OFFSET, committed.append)
    assert committed == [dict.fromkeys(OFFSET, Errors.GROUP_ID_NOT_FOUND)]
    assert list(offsets.handle_fetch_offsets(GROUP, list(OFFSET)).values()) == [(NOTHING_COMMITTED, Errors.NONE)]
    with pytest.raises(ApiError) as raised:
        offsets.handle_delete_offsets(GROUP, list(OFFSET))
    assert raised.value.error is Errors.GROUP_ID_NOT_FOUND


def test_a_share_group_is_joined_by_no_other_protocol() -> None:
    groups = ShareGroups()
    joined(groups, "a")
    classic = FakeMember(groups.groups).send_join()
    assert error_of(classic.joins[-1].error_code) is Errors.INCONSISTENT_GROUP_PROTOCOL
    modern = ModernGroups(groups.groups, groups.topics)
    assert modern.member("b").heartbeat() is Errors.GROUP_ID_NOT_FOUND
    response = modern.coordinator.handle_describe(GROUP)
    assert response.error_message == f"Group {GROUP} is not a consumer group."


def test_a_group_of_another_kind_does_not_become_a_share_group() -> None:
    groups = ShareGroups()
    FakeMember(groups.groups).join()
    assert ShareMember(groups, "a").heartbeat() is Errors.GROUP_ID_NOT_FOUND
    modern = ModernGroups(topics=groups.topics)
    modern.member("b").heartbeat()
    beside = ShareGroups(modern.groups, groups.topics)
    assert ShareMember(beside, "a").heartbeat() is Errors.GROUP_ID_NOT_FOUND
    assert beside.coordinator.handle_describe(GROUP).error_message == f"Group {GROUP} is not a share group."


def test_a_group_is_described() -> None:
    groups = ShareGroups()
    joined(groups, "a")
    described = groups.coordinator.handle_describe(GROUP)
    assert (described.group_state, described.assignor_name, described.group_epoch) == ("Stable", "simple", 2)
    (member,) = described.members
    assert (member.member_id, member.member_epoch, member.client_host) == ("a", 2, "/127.0.0.1")
    assert member.assignment.topic_partitions[0].topic_name == "t"
    missing = groups.coordinator.handle_describe("other")
    assert (missing.error_code, missing.error_message) == (Errors.GROUP_ID_NOT_FOUND.code, "Group other not found.")


def test_groups_of_another_coordinator_are_not_served() -> None:
    groups = ShareGroups()
    groups.groups.coordinator.shutdown()
    assert ShareMember(groups, "a").heartbeat() is Errors.COORDINATOR_NOT_AVAILABLE
    assert groups.coordinator.handle_describe(GROUP).error_code == Errors.COORDINATOR_NOT_AVAILABLE.code
