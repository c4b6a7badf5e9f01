"""What a member sends to its coordinator, in the versions that brokers of every age have."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.consumer.generation import NO_GENERATION, Generation
from kafka_lite.consumer.group import group_requests
from kafka_lite.consumer.group.group_rebalance_config import GroupRebalanceConfig
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.api_13_leave_group import LeaveGroupRequest, MemberIdentity
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from kafka_lite.protocol.schema_error import UnsupportedVersionError

CONFIG = GroupRebalanceConfig("g", session_timeout_ms=10, rebalance_timeout_ms=20)
STATIC = GroupRebalanceConfig("g", group_instance_id="one", session_timeout_ms=10, rebalance_timeout_ms=20)
MEMBER = Generation(3, "me", "range")


def test_the_coordinator_of_a_group_is_looked_up() -> None:
    builder = group_requests.find_coordinator("g")
    assert builder.build(0) == FindCoordinatorRequest(key="g", key_type=0)


def test_a_join_brings_the_timeouts_and_the_protocols_in_order() -> None:
    protocols = [JoinGroupRequestProtocol(name=name, metadata=b"") for name in ("range", "sticky")]
    assert group_requests.join_group(CONFIG, "", "consumer", protocols).build(7) == JoinGroupRequest(
        group_id="g", session_timeout_ms=10, rebalance_timeout_ms=20, protocol_type="consumer", protocols=protocols
    )


@pytest.mark.parametrize(
    "builder",
    [
        group_requests.join_group(STATIC, "me", "consumer", []),
        group_requests.sync_group(STATIC, MEMBER, "consumer", {}),
        group_requests.heartbeat(STATIC, MEMBER),
    ],
    ids=["join", "sync", "heartbeat"],
)
def test_a_static_member_cannot_be_sent_to_a_broker_without_static_membership(builder: object) -> None:
    with pytest.raises(UnsupportedVersionError, match="group_instance_id"):
        builder.build(0).encode(0)  # type: ignore[attr-defined]


def test_only_the_leaders_sync_brings_assignments() -> None:
    follower = group_requests.sync_group(CONFIG, MEMBER, "consumer", {}).build(5)
    leader = group_requests.sync_group(CONFIG, MEMBER, "consumer", {"me": b"1", "other": b"2"}).build(5)
    assert follower == SyncGroupRequest(
        group_id="g", generation_id=3, member_id="me", protocol_type="consumer", protocol_name="range"
    )
    assert leader.assignments == [  # type: ignore[attr-defined]
        SyncGroupRequestAssignment(member_id="me", assignment=b"1"),
        SyncGroupRequestAssignment(member_id="other", assignment=b"2"),
    ]


def test_a_heartbeat_names_the_generation() -> None:
    request = group_requests.heartbeat(CONFIG, MEMBER).build(4)
    assert request == HeartbeatRequest(group_id="g", generation_id=3, member_id="me")


def test_leaving_names_the_member_as_the_version_has_it() -> None:
    builder = group_requests.leave_group(STATIC, MEMBER, "closed")
    assert builder.build(2) == LeaveGroupRequest(group_id="g", member_id="me")
    member = MemberIdentity(member_id="me", group_instance_id="one", reason="closed")
    assert builder.build(5) == LeaveGroupRequest(group_id="g", members=[member])


def test_a_client_that_has_not_joined_has_no_member_id() -> None:
    assert not NO_GENERATION.has_member_id
    assert MEMBER.has_member_id


def test_an_error_of_the_coordinator_names_the_group() -> None:
    fenced = group_requests.group_error(Errors.FENCED_INSTANCE_ID, "g")
    assert fenced.error is Errors.FENCED_INSTANCE_ID
    assert "group g: another consumer with the same group.instance.id" in str(fenced)
    assert str(group_requests.group_error(Errors.GROUP_AUTHORIZATION_FAILED, "g")).startswith("group g: ")


def test_errors_after_which_a_join_is_repeated_are_not_fatal() -> None:
    assert not group_requests.JOIN_AGAIN & group_requests.FATAL_FOR_HEARTBEATS
