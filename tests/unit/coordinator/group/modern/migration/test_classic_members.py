"""Members with JoinGroup in a group of KIP-848."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.group_coordinator import JoiningClient
from kafka_lite.coordinator.group.group_offsets import Committer
from kafka_lite.protocol.messages.api_11_join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupRequest, SyncGroupResponse
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from kafka_lite.protocol.version_prefixed import encode_with_version
from tests.support.groups import GROUP, error_of
from tests.support.mixed_groups import CLASSIC_SESSION_MS, ClassicClient, MixedGroups
from tests.support.modern_groups import REBALANCE_TIMEOUT_MS, ModernMember

METADATA = encode_with_version(ConsumerProtocolSubscription(topics=["t"]), 1)


@pytest.fixture
def groups() -> MixedGroups:
    return MixedGroups()


@pytest.fixture
def modern(groups: MixedGroups) -> ModernMember:
    member = groups.member("m")
    member.heartbeat()
    return member


@pytest.fixture
def client(groups: MixedGroups, modern: ModernMember) -> ClassicClient:
    joined = groups.classic("c")
    groups.run(joined, modern)
    return joined


def join(groups: MixedGroups, **fields: Any) -> JoinGroupResponse | None:
    protocols = fields.pop("protocols", [JoinGroupRequestProtocol(name="range", metadata=METADATA)])
    known_id = fields.pop("require_known_member_id", False)
    request = JoinGroupRequest(
        **{
            "group_id": GROUP,
            "session_timeout_ms": CLASSIC_SESSION_MS,
            "rebalance_timeout_ms": REBALANCE_TIMEOUT_MS,
            "member_id": "",
            "protocol_type": "consumer",
            "protocols": protocols,
        }
        | fields
    )
    answers: list[JoinGroupResponse] = []
    groups.requests.handle_join_group(request, JoiningClient("c", "/h", known_id, False), answers.append)
    return answers[0] if answers else None


def sync(groups: MixedGroups, client: ClassicClient, **fields: Any) -> Errors:
    answers: list[SyncGroupResponse] = []
    request = SyncGroupRequest(
        **{"group_id": GROUP, "generation_id": client.generation, "member_id": client.member_id, "assignments": []}
        | fields
    )
    groups.requests.handle_sync_group(request, answers.append)
    return error_of(answers[0].error_code)


def test_a_classic_member_joins_a_group_that_heartbeats(
    groups: MixedGroups, modern: ModernMember, client: ClassicClient
) -> None:
    assert sorted(client.numbers() + modern.numbers()) == [0, 1, 2, 3, 4, 5]
    assert len(client.numbers()) == 3
    assert client.generation == groups.group().members[client.member_id].member_epoch
    assert client.errors[0] is Errors.REBALANCE_IN_PROGRESS, "the other has to give up its partitions first"


def test_a_cooperative_member_keeps_what_it_may(groups: MixedGroups) -> None:
    first = groups.classic("a", cooperative=True)
    groups.run(first)
    modern = groups.member("m")
    modern.heartbeat()
    assert first.heartbeat() is Errors.REBALANCE_IN_PROGRESS
    first.join()
    assert len(first.numbers()) == 3
    assert first.doing == "join", "it says that it has given up the others"
    groups.run(first, modern)
    assert sorted(first.numbers() + modern.numbers()) == [0, 1, 2, 3, 4, 5]


def test_a_client_is_given_an_id_first(groups: MixedGroups, modern: ModernMember) -> None:
    told = join(groups, require_known_member_id=True)
    assert told is not None
    assert error_of(told.error_code) is Errors.MEMBER_ID_REQUIRED
    assert told.member_id not in groups.group().members
    joined = join(groups, require_known_member_id=True, member_id=told.member_id)
    assert joined is not None
    assert (joined.error_code, joined.member_id, joined.leader, joined.members) == (0, told.member_id, "", [])


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"protocol_type": "connect"}, Errors.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocols": []}, Errors.INCONSISTENT_GROUP_PROTOCOL),
        (
            {"protocols": [JoinGroupRequestProtocol(name="other", metadata=METADATA)]},
            Errors.INCONSISTENT_GROUP_PROTOCOL,
        ),
        (
            {"protocols": [JoinGroupRequestProtocol(name="range", metadata=b"?")]},
            Errors.INCONSISTENT_GROUP_PROTOCOL,
        ),
        ({"session_timeout_ms": 1}, Errors.INVALID_SESSION_TIMEOUT),
        ({"member_id": "x" * 40_000}, Errors.INVALID_REQUEST),
        ({"group_instance_id": "i", "member_id": "stranger"}, Errors.UNKNOWN_MEMBER_ID),
    ],
)
def test_wrong_joins_are_refused(
    groups: MixedGroups, client: ClassicClient, fields: dict[str, Any], error: Errors
) -> None:
    before = dict(groups.group().members)
    response = join(groups, **fields)
    assert response is not None
    assert error_of(response.error_code) is error
    assert groups.group().members == before


def test_a_full_group_takes_no_more() -> None:
    groups = MixedGroups(max_size=1)
    groups.member("m").heartbeat()
    response = join(groups)
    assert response is not None
    assert error_of(response.error_code) is Errors.GROUP_MAX_SIZE_REACHED


def test_a_join_that_the_log_refuses_is_taken_back(groups: MixedGroups, modern: ModernMember) -> None:
    groups.groups.offsets_log.error = Errors.NOT_ENOUGH_REPLICAS
    response = join(groups)
    assert response is not None
    assert error_of(response.error_code) is Errors.COORDINATOR_NOT_AVAILABLE
    assert list(groups.group().members) == ["m"]


def test_only_classic_members_of_this_epoch_sync_and_heartbeat(
    groups: MixedGroups, modern: ModernMember, client: ClassicClient
) -> None:
    assert sync(groups, client) is Errors.NONE
    assert sync(groups, client, generation_id=client.generation - 1) is Errors.ILLEGAL_GENERATION
    assert sync(groups, client, member_id="stranger") is Errors.UNKNOWN_MEMBER_ID
    assert sync(groups, client, member_id="m", generation_id=modern.epoch) is Errors.UNKNOWN_MEMBER_ID
    assert sync(groups, client, group_instance_id="i") is Errors.UNKNOWN_MEMBER_ID
    assert sync(groups, client, protocol_type="connect") is Errors.INCONSISTENT_GROUP_PROTOCOL
    assert sync(groups, client, protocol_name="sticky") is Errors.INCONSISTENT_GROUP_PROTOCOL
    heartbeat = groups.requests.handle_heartbeat
    assert heartbeat(GROUP, client.member_id, None, client.generation) is Errors.NONE
    assert heartbeat(GROUP, client.member_id, None, client.generation + 1) is Errors.ILLEGAL_GENERATION
    assert heartbeat(GROUP, "m", None, modern.epoch) is Errors.UNKNOWN_MEMBER_ID
    groups.member("n").heartbeat()
    assert sync(groups, client) is Errors.REBALANCE_IN_PROGRESS


def test_a_member_that_does_not_join_again_in_time_is_removed(
    groups: MixedGroups, modern: ModernMember, client: ClassicClient
) -> None:
    groups.member("n").heartbeat()
    for _ in range(12):
        assert client.heartbeat() is Errors.REBALANCE_IN_PROGRESS
        modern.heartbeat()
        groups.groups.sleep(REBALANCE_TIMEOUT_MS // 12)
    assert client.heartbeat() is Errors.UNKNOWN_MEMBER_ID


def test_a_member_that_does_not_sync_in_time_is_removed(groups: MixedGroups, modern: ModernMember) -> None:
    joined = join(groups)
    assert joined is not None
    for _ in range(13):
        groups.requests.handle_heartbeat(GROUP, joined.member_id, None, joined.generation_id)
        modern.heartbeat()
        groups.groups.sleep(REBALANCE_TIMEOUT_MS // 12)
    assert list(groups.group().members) == ["m"]


def test_members_leave_and_are_removed_by_their_instance_ids(groups: MixedGroups, modern: ModernMember) -> None:
    static, dynamic = groups.classic("s", instance_id="i"), groups.classic("d")
    groups.run(static, dynamic, modern)
    stranger = groups.classic("x", member_id="x")
    assert stranger.leave() is Errors.UNKNOWN_MEMBER_ID
    assert groups.classic("x", member_id="m").leave() is Errors.UNKNOWN_MEMBER_ID, "it does not send JoinGroup"
    assert groups.classic("x", member_id="x", instance_id="i").leave() is Errors.FENCED_INSTANCE_ID
    assert groups.classic("x", instance_id="i").leave() is Errors.NONE
    assert dynamic.leave() is Errors.NONE
    assert list(groups.group().members) == ["m"]
    groups.run(modern)
    assert modern.numbers() == [0, 1, 2, 3, 4, 5]


def test_a_commit_needs_the_epoch_as_generation(groups: MixedGroups, client: ClassicClient) -> None:
    commit = groups.groups.commit
    assert commit(3, "t", committer=Committer(client.member_id, client.generation)) is Errors.NONE
    assert commit(3, "t", committer=Committer(client.member_id, client.generation - 1)) is Errors.ILLEGAL_GENERATION
    assert groups.groups.committed("t") == 3
