"""The leader's decision: which worker runs which connectors and tasks.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/WorkerCoordinator.java (performTaskAssignment,
LeaderState) · book 8.3.4
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.connect_protocol import CONFIG_MISMATCH, NO_ERROR, Assignment, WorkerState
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState


@dataclass(frozen=True)
class GroupAssignment:
    """The assignment of each member, by member id, and the members' states."""

    by_member: Mapping[str, Assignment]
    members: Mapping[str, WorkerState]

    def owner_url(self, owned: str | ConnectorTaskId) -> str | None:
        """The URL of the worker that runs a connector (by name) or a task; None if none does."""
        for member, assignment in self.by_member.items():
            if owned in (assignment.tasks if isinstance(owned, ConnectorTaskId) else assignment.connectors):
                return self.members[member].url
        return None


def max_config_offset(members: Mapping[str, WorkerState]) -> int:
    """The offset up to which some member has read the config topic."""
    return max(state.offset for state in members.values())


def assign(leader: str, members: Mapping[str, WorkerState], configs: ClusterConfigState) -> GroupAssignment:
    """Deal all connectors, then all tasks, round robin to the members.

    One round goes over both: the first task goes to the member after the one that got the last connector. (If each
    connector were dealt with its tasks, then of two workers one would get all connectors that have one task, and the
    other all tasks.) The order of members is that of their ids, which are random.

    Members that have read less than ``configs`` catch up before they start anything. If ``configs`` itself lacks
    something that a member has read, all assignments are empty and have the error CONFIG_MISMATCH.
    """
    furthest = max_config_offset(members)
    leader_url = members[leader].url
    if configs.offset < furthest:
        empty = Assignment(CONFIG_MISMATCH, leader, leader_url, furthest)
        return GroupAssignment(dict.fromkeys(members, empty), members)
    dealt_connectors: dict[str, list[str]] = {member: [] for member in members}
    dealt_tasks: dict[str, list[ConnectorTaskId]] = {member: [] for member in members}
    turns = itertools.cycle(sorted(members))
    connectors = configs.connectors
    for connector in connectors:
        dealt_connectors[next(turns)].append(connector)
    for connector in connectors:
        for task in configs.tasks(connector):
            dealt_tasks[next(turns)].append(task)
    by_member = {
        member: Assignment(
            NO_ERROR, leader, leader_url, configs.offset, tuple(dealt_connectors[member]), tuple(dealt_tasks[member])
        )
        for member in members
    }
    return GroupAssignment(by_member, members)
