"""Requests about groups, between the wire and the coordinator."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.member_metadata import MAX_INSTANCE_ID
from kafka_lite.protocol.messages import api_11_join_group as join_group
from kafka_lite.protocol.messages import api_12_heartbeat as heartbeat
from kafka_lite.protocol.messages import api_13_leave_group as leave_group
from kafka_lite.protocol.messages import api_14_sync_group as sync_group
from kafka_lite.protocol.messages import api_15_describe_groups as describe_groups
from kafka_lite.protocol.messages import api_42_delete_groups as delete_groups
from kafka_lite.server.apis import group_apis
from kafka_lite.server.apis.group_apis import (
    GROUP_OPERATIONS,
    MAX_METADATA_BYTES,
    MAX_PROTOCOLS,
    MUCH_METADATA_BYTES,
)
from kafka_lite.server.apis.metadata_apis import NO_AUTHORIZED_OPERATIONS
from tests.support.group_apis import Apis, commit_request, errors_of
from tests.support.groups import GROUP


@pytest.fixture
def apis() -> Apis:
    return Apis()


def join_request(**fields: Any) -> join_group.JoinGroupRequest:
    protocols = [join_group.JoinGroupRequestProtocol(name="range", metadata=b"")]
    return join_group.JoinGroupRequest(
        group_id=GROUP, session_timeout_ms=10_000, protocol_type="consumer", protocols=protocols, **fields
    )


@pytest.mark.parametrize("version", range(10))
def test_every_version_of_join(apis: Apis, version: int) -> None:
    answer = apis.ask(apis.group_apis.handle_join_group, version, join_request(rebalance_timeout_ms=20_000))
    if version >= 4:
        assert answer.error_code == Errors.MEMBER_ID_REQUIRED.code
        answer = apis.ask(apis.group_apis.handle_join_group, version, join_request(member_id=answer.member_id))
    assert (answer.error_code, answer.generation_id, answer.leader) == (0, 1, answer.member_id)
    assert answer.member_id.startswith("client-")


def test_join_v0_uses_the_session_timeout_for_the_rebalance_too(apis: Apis) -> None:
    apis.ask(apis.group_apis.handle_join_group, 0, join_request())
    assert apis.groups.group().rebalance_timeout_ms == 10_000


@pytest.mark.parametrize("version", [0, 7])
def test_an_error_response_to_join_fits_into_every_version(apis: Apis, version: int) -> None:
    answer = apis.ask(apis.group_apis.handle_join_group, version, join_request(member_id="nobody"))
    assert answer.error_code == Errors.UNKNOWN_MEMBER_ID.code
    assert answer.protocol_name == ("" if version < 7 else None)


def test_sync_returns_its_protocol_since_version_5(apis: Apis) -> None:
    body = sync_group.SyncGroupRequest(group_id=GROUP, member_id="nobody")
    assert apis.ask(apis.group_apis.handle_sync_group, 4, body).error_code == Errors.UNKNOWN_MEMBER_ID.code
    answer = apis.ask(apis.group_apis.handle_sync_group, 5, body)
    assert answer.error_code == Errors.INCONSISTENT_GROUP_PROTOCOL.code


@pytest.mark.parametrize("version", range(6))
def test_every_version_of_leave(apis: Apis, version: int) -> None:
    (member,) = apis.groups.stable()
    body = leave_group.LeaveGroupRequest(group_id=GROUP, member_id=member.member_id)
    if version >= 3:
        body = leave_group.LeaveGroupRequest(
            group_id=GROUP, members=[leave_group.MemberIdentity(member_id=member.member_id)]
        )
    assert apis.ask(apis.group_apis.handle_leave_group, version, body).error_code == 0
    again = apis.ask(apis.group_apis.handle_leave_group, version, body)
    code = again.members[0].error_code if version >= 3 else again.error_code
    assert code == Errors.UNKNOWN_MEMBER_ID.code


def test_authorized_operations_are_returned_on_request(apis: Apis) -> None:
    for wanted, told in ((True, GROUP_OPERATIONS), (False, NO_AUTHORIZED_OPERATIONS)):
        body = describe_groups.DescribeGroupsRequest(groups=[GROUP], include_authorized_operations=wanted)
        (group,) = apis.ask(apis.group_apis.handle_describe_groups, 5, body).groups
        assert (group.group_state, group.authorized_operations) == ("Dead", told)


@pytest.mark.parametrize(("version", "error"), [(5, Errors.NONE), (6, Errors.GROUP_ID_NOT_FOUND)])
def test_a_group_that_there_is_not_is_an_error_since_version_6(apis: Apis, version: int, error: Errors) -> None:
    body = describe_groups.DescribeGroupsRequest(groups=["nobody"])
    (group,) = apis.ask(apis.group_apis.handle_describe_groups, version, body).groups
    assert (group.group_state, Errors.for_code(group.error_code)) == ("Dead", error)
    if version >= 6:
        assert group.error_message == "Group nobody not found."
    apis.groups.commit(1)
    body = describe_groups.DescribeGroupsRequest(groups=[GROUP])
    (group,) = apis.ask(apis.group_apis.handle_describe_groups, version, body).groups
    assert (group.group_state, group.error_code) == ("Empty", 0)


def test_a_group_that_is_listed_twice_is_deleted_once(apis: Apis) -> None:
    apis.groups.commit(1)
    body = delete_groups.DeleteGroupsRequest(groups_names=[GROUP, GROUP, "nobody"])
    results = apis.ask(apis.group_apis.handle_delete_groups, 2, body).results
    assert [(r.group_id, r.error_code) for r in results] == [(GROUP, 0), ("nobody", Errors.GROUP_ID_NOT_FOUND.code)]


def test_static_members_are_rejected_with_an_old_inter_broker_protocol() -> None:
    apis = Apis(ApiVersion.KAFKA_0_10_2_IV0)
    refused = Errors.UNSUPPORTED_VERSION.code
    static: dict[str, Any] = {"group_instance_id": "name"}
    bodies = [
        (apis.group_apis.handle_join_group, 5, join_request(**static)),
        (apis.group_apis.handle_sync_group, 3, sync_group.SyncGroupRequest(group_id=GROUP, **static)),
        (apis.group_apis.handle_heartbeat, 3, heartbeat.HeartbeatRequest(group_id=GROUP, **static)),
    ]
    assert {apis.ask(*asked).error_code for asked in bodies} == {refused}
    answer = apis.ask(apis.offset_apis.handle_offset_commit, 7, commit_request(**static))
    assert errors_of(answer) == [refused, refused]


@pytest.mark.parametrize(
    ("count", "size", "error"),
    [
        (MAX_PROTOCOLS, 0, Errors.NONE),
        (MAX_PROTOCOLS + 1, 0, Errors.MESSAGE_TOO_LARGE),
        (2, MAX_METADATA_BYTES // 2, Errors.NONE),
        (2, MAX_METADATA_BYTES // 2 + 1, Errors.MESSAGE_TOO_LARGE),
    ],
)
def test_a_member_has_bounded_metadata(apis: Apis, count: int, size: int, error: Errors) -> None:
    request = join_request()
    request.protocols = [
        join_group.JoinGroupRequestProtocol(name=f"p{number}", metadata=bytes(size)) for number in range(count)
    ]
    assert apis.ask(apis.group_apis.handle_join_group, 3, request).error_code == error.code


def test_an_instance_id_has_the_bound_of_kafkas_clients(apis: Apis) -> None:
    for length, error in ((MAX_INSTANCE_ID, Errors.NONE), (MAX_INSTANCE_ID + 1, Errors.INVALID_REQUEST)):
        request = join_request(group_instance_id="x" * length)
        assert apis.ask(apis.group_apis.handle_join_group, 5, request).error_code == error.code


def join_with(apis: Apis, group_id: str, size: int, member_id: str = "") -> join_group.JoinGroupResponse:
    request = join_request(member_id=member_id)
    request.group_id = group_id
    request.protocols = [join_group.JoinGroupRequestProtocol(name="p", metadata=bytes(size))]
    answer = apis.ask(apis.group_apis.handle_join_group, 3, request)
    assert isinstance(answer, join_group.JoinGroupResponse)
    return answer


def test_the_members_of_all_groups_have_bounded_metadata(apis: Apis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_apis, "MAX_METADATA_OF_ALL_BYTES", 5 * MUCH_METADATA_BYTES)
    first = join_with(apis, "a", 3 * MUCH_METADATA_BYTES)
    assert first.error_code == 0
    assert join_with(apis, "b", 2 * MUCH_METADATA_BYTES).error_code == 0
    full = Errors.GROUP_MAX_SIZE_REACHED.code
    assert join_with(apis, "c", MUCH_METADATA_BYTES).error_code == full
    assert join_with(apis, "c", MUCH_METADATA_BYTES - 1).error_code == 0, "little is possible in any case"
    again = [join_with(apis, "a", times * MUCH_METADATA_BYTES, first.member_id).error_code for times in (2, 4)]
    assert again == [0, full], "its own metadata would be replaced"
