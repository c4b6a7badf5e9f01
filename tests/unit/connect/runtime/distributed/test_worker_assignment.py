import json

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.connect_protocol import (
    CONFIG_MISMATCH,
    Assignment,
    WorkerState,
    deserialize_assignment,
    deserialize_metadata,
)
from kafka_lite.connect.runtime.distributed.worker_assignment import assign, max_config_offset
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from kafka_lite.connect.runtime.storage.config_topic import ConfigTopic
from tests.support.connect_samples import two_workers

ID = ConnectorTaskId


def _configs(offset: int = 7, **task_counts: int) -> ClusterConfigState:
    return ClusterConfigState(offset, task_counts, {name: {} for name in task_counts})


def _members(*offsets: int) -> dict[str, WorkerState]:
    return {f"m{number}": WorkerState(f"http://h{number}/", offset) for number, offset in enumerate(offsets)}


def test_one_round_over_connectors_and_then_tasks() -> None:
    group = assign("m1", _members(7, 7), _configs(sink=2, source=1, third=0))
    assert group.by_member == {
        "m0": Assignment(0, "m1", "http://h1/", 7, ("sink", "third"), (ID("sink", 1),)),
        "m1": Assignment(0, "m1", "http://h1/", 7, ("source",), (ID("sink", 0), ID("source", 0))),
    }


def test_a_member_without_work_gets_an_empty_assignment() -> None:
    group = assign("m0", _members(7, 7, 7), _configs(only=1))
    assert group.by_member["m2"] == Assignment(0, "m0", "http://h0/", 7)


def test_members_behind_the_leader_are_told_its_offset() -> None:
    assert {each.offset for each in assign("m0", _members(9, 3), _configs(9, a=1)).by_member.values()} == {9}


def test_a_leader_that_is_behind_assigns_nothing() -> None:
    members = _members(7, 9)
    group = assign("m0", members, _configs(7, a=1))
    assert set(group.by_member.values()) == {Assignment(CONFIG_MISMATCH, "m0", "http://h0/", 9)}
    assert max_config_offset(members) == 9


def test_the_leader_knows_the_owners() -> None:
    group = assign("m0", _members(7, 7), _configs(sink=1))
    assert group.owner_url("sink") == "http://h0/"
    assert group.owner_url(ID("sink", 0)) == "http://h1/"
    assert group.owner_url("other") is None
    assert group.owner_url(ID("sink", 1)) is None


@pytest.mark.parametrize("step", range(9))
def test_real_workers_assigned_the_same(step: int) -> None:
    recorded = two_workers()["groups"][step]
    states = {row["member_id"]: deserialize_metadata(bytes.fromhex(row["metadata_hex"])) for row in recorded}
    expected = {row["member_id"]: deserialize_assignment(bytes.fromhex(row["assignment_hex"])) for row in recorded}
    configs = ConfigTopic()
    for offset, (key, value) in enumerate(two_workers()["connect-configs"]):
        if offset < max_config_offset(states):
            configs.apply(key, None if value is None else json.loads(value), offset)

    assigned = assign(next(iter(expected.values())).leader, states, configs.snapshot()).by_member
    assert {member: _sets(each) for member, each in assigned.items()} == {
        member: _sets(each) for member, each in expected.items()
    }


def _sets(assignment: Assignment) -> tuple[int, frozenset[str], frozenset[ConnectorTaskId]]:
    return assignment.offset, frozenset(assignment.connectors), frozenset(assignment.tasks)
