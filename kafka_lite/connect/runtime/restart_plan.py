"""The parts of a connector that a request restarts.

Kafka 3.0, KIP-745: connect/runtime/.../connect/runtime/RestartPlan.java, AbstractHerder.java (buildRestartPlan) · book
8.3.4
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder import ConnectorStateInfo
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest

Status = TypeVar("Status", ConnectorStatus, TaskStatus)


@dataclass(frozen=True)
class RestartPlan:
    """A plan by the statuses that a worker knows. Each worker of a group makes its own, and restarts what it runs."""

    request: RestartRequest
    info: ConnectorStateInfo
    """The statuses, with RESTARTING where something is to be restarted: the answer to the user."""

    @property
    def restarts_connector(self) -> bool:
        """Whether the connector itself is restarted."""
        return self.info.connector.state is State.RESTARTING

    @property
    def tasks(self) -> list[ConnectorTaskId]:
        """The tasks that are restarted, by number."""
        return sorted(task.id for task in self.info.tasks if task.state is State.RESTARTING)

    def __str__(self) -> str:
        what = "connector and " if self.restarts_connector else ""
        return f"plan to restart {what}{len(self.tasks)} of {len(self.info.tasks)} tasks for {self.request}"


def plan_restart(request: RestartRequest, info: ConnectorStateInfo) -> RestartPlan:
    """The plan for a request, given all statuses of its connector."""
    connector = _planned(info.connector, request)
    tasks = [_planned(task, request) for task in info.tasks] if request.include_tasks else info.tasks
    return RestartPlan(request, replace(info, connector=connector, tasks=tasks))


def _planned(status: Status, request: RestartRequest) -> Status:
    is_wanted = not request.only_failed or status.state is State.FAILED
    return replace(status, state=State.RESTARTING) if is_wanted else status
