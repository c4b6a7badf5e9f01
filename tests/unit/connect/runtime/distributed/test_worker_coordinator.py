"""A worker's membership; the group's coordinator is a script."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.connect_protocol import (
    CONFIG_MISMATCH,
    Assignment,
    deserialize_assignment,
    deserialize_metadata,
)
from kafka_lite.connect.runtime.distributed.worker_assignment import max_config_offset
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse, JoinGroupResponseMember
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse
from tests.support.connect_group import URL, Member, Snapshots, other, recorded_configs
from tests.support.connect_samples import two_workers

CONFIGS = ClusterConfigState(7, {"sink": 1}, {"sink": {}})
ALONE = Assignment(0, "me", URL, 7, ("sink",), (ConnectorTaskId("sink", 0),))


def test_the_only_worker_runs_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Member(monkeypatch, Snapshots(CONFIGS))
    group.member.ensure_active()
    assert group.listener.told == [("assigned", ALONE, 1)]
    assert group.member.member_id == "me"
    assert group.member.owner_url("sink") == group.member.owner_url(ConnectorTaskId("sink", 0)) == URL
    join = group.broker.of(ApiKey.JOIN_GROUP)[-1]
    assert (join.protocol_type, [each.name for each in join.protocols]) == ("connect", ["default"])
    assert (join.session_timeout_ms, join.rebalance_timeout_ms) == (10_000, 60_000)


def test_a_rebalance_revokes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Member(monkeypatch, Snapshots(CONFIGS))
    group.member.ensure_active()
    group.member.request_rejoin("a connector was added")
    assert group.member.owner_url("sink") is None  # it may be another worker soon
    group.member.poll(60_000)
    assert group.listener.told[1:] == [("revoked", ALONE, None), ("assigned", ALONE, 2)]
    assert group.time.hi_res_ms() < 60_000  # it returns for the herder to act


def test_a_stable_member_polls_as_long_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    group = Member(monkeypatch, Snapshots(CONFIGS))
    group.member.ensure_active()
    before = group.time.hi_res_ms()
    group.member.poll(2000)
    assert 2000 <= group.time.hi_res_ms() - before < 2100
    assert len(group.listener.told) == 1


def test_a_leader_that_is_behind_looks_again_before_it_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    old = ClusterConfigState(5)
    group = Member(monkeypatch, Snapshots(old, CONFIGS))
    group.broker.other_members = [other("you", 7)]
    group.member.ensure_active()
    assert group.listener.told[0][1] == Assignment(0, "me", URL, 7, ("sink",))

    group = Member(monkeypatch, Snapshots(old))
    group.broker.other_members = [other("you", 7)]
    group.member.ensure_active()
    assert group.listener.told == [("assigned", Assignment(CONFIG_MISMATCH, "me", URL, 7), 1)]
    assert group.member.owner_url("sink") is None
    group.member.request_rejoin("the assignment has failed")
    group.member.poll(0)
    assert [event for event, _, _ in group.listener.told] == ["assigned", "assigned"]  # nothing ran


@pytest.mark.parametrize("step", range(len(two_workers()["groups"])))
def test_the_bytes_are_those_of_real_workers(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """The leader of the recorded group, in its place: what it sends, and what it assigns to all."""
    rows = two_workers()["groups"][step]
    metadata = {row["member_id"]: bytes.fromhex(row["metadata_hex"]) for row in rows}
    assignments = {row["member_id"]: bytes.fromhex(row["assignment_hex"]) for row in rows}
    leader = deserialize_assignment(next(iter(assignments.values()))).leader
    states = {member: deserialize_metadata(data) for member, data in metadata.items()}
    newest = max_config_offset(states)
    own = recorded_configs(states[leader].offset)
    group = Member(monkeypatch, Snapshots(own, *[recorded_configs(newest)] * (own.offset < newest)))
    assert states[leader].url == URL
    group.broker.handlers[ApiKey.JOIN_GROUP] = lambda request, _version: JoinGroupResponse(
        generation_id=1,
        protocol_name="default",
        leader=leader,
        member_id=leader,
        members=[JoinGroupResponseMember(member_id=member, metadata=data) for member, data in metadata.items()],
    )
    assigned: dict[str, bytes] = {}

    def sync_group(request: Any, _version: int) -> SyncGroupResponse:
        assigned.update({each.member_id: bytes(each.assignment) for each in request.assignments})
        return SyncGroupResponse(assignment=assigned[leader])

    group.broker.handlers[ApiKey.SYNC_GROUP] = sync_group
    group.member.ensure_active()
    assert group.broker.of(ApiKey.JOIN_GROUP)[0].protocols[0].metadata == metadata[leader]
    assert {member: _in_order(data) for member, data in assigned.items()} == {
        member: _in_order(data) for member, data in assignments.items()
    }


def _in_order(data: bytes) -> tuple[bytes, list[str], list[ConnectorTaskId], int]:
    """The bytes, but for the order of the entries, which in Java is that of a hash set."""
    assignment = deserialize_assignment(data)
    entries = len({*assignment.connectors, *(task.connector for task in assignment.tasks)})
    fixed = data if entries <= 1 else data[: data.index(URL.encode()) + len(URL) + 8 + 4]
    return fixed, sorted(assignment.connectors), sorted(assignment.tasks), len(data)
