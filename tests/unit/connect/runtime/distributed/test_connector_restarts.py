from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment
from kafka_lite.connect.runtime.distributed.connector_restarts import ConnectorRestarts
from kafka_lite.connect.runtime.herder import ConnectorStateInfo
from kafka_lite.connect.runtime.restart_plan import RestartPlan, plan_restart
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest

T0, T1, T2 = (ConnectorTaskId("a", number) for number in range(3))
ALL = RestartRequest("a", include_tasks=True)


class Steps:
    """The assigned work, and the listener: what they are told, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []

    def stop(self, connectors: Iterable[str], tasks: Sequence[ConnectorTaskId]) -> None:
        self.told.append(("stop", *connectors, *map(str, tasks)))

    def start_or_report(self, each: str | ConnectorTaskId) -> None:
        self.told.append(("start", str(each)))

    def on_restart(self, of: str | ConnectorTaskId) -> None:
        self.told.append(("restarting", str(of)))


@pytest.fixture
def steps() -> Any:
    return Steps()


def _plan(request: RestartRequest) -> RestartPlan:
    tasks = [TaskStatus(task, State.RUNNING, "w:1", 1) for task in (T0, T1, T2)]
    return plan_restart(request, ConnectorStateInfo("a", ConnectorStatus("a", State.FAILED, "w:1", 1), tasks))


def _assigned(connectors: tuple[str, ...], tasks: tuple[ConnectorTaskId, ...]) -> Assignment:
    return Assignment(0, "leader", "http://leader/", 7, connectors, tasks)


def test_a_worker_restarts_what_it_runs_of_the_connector(steps: Any) -> None:
    restarts = ConnectorRestarts(steps, steps, _plan)
    restarts.carry_out(ALL, _assigned(("b", "a"), (T0, T2, ConnectorTaskId("b", 0))))
    assert steps.told == [
        ("stop", "a", "a-0", "a-2"),
        ("restarting", "a"), ("restarting", "a-0"), ("restarting", "a-2"),
        ("start", "a"), ("start", "a-0"), ("start", "a-2"),
    ]  # fmt: skip
    steps.told.clear()
    restarts.carry_out(ALL, _assigned((), (T1,)))
    assert steps.told == [("stop", "a-1"), ("restarting", "a-1"), ("start", "a-1")]


def test_what_has_not_failed_is_left_alone(steps: Any) -> None:
    request = RestartRequest("a", only_failed=True, include_tasks=True)
    ConnectorRestarts(steps, steps, _plan).carry_out(request, _assigned(("a",), (T0, T1)))
    assert steps.told == [("stop", "a"), ("restarting", "a"), ("start", "a")]


def test_a_connector_without_a_status_is_not_restarted(steps: Any) -> None:
    ConnectorRestarts(steps, steps, lambda _: None).carry_out(ALL, _assigned(("a",), (T0,)))
    assert steps.told == []


def test_an_error_ends_the_request_and_not_the_herder(steps: Any, caplog: pytest.LogCaptureFixture) -> None:
    def fails(_: RestartRequest) -> RestartPlan:
        raise ValueError("no plan")

    ConnectorRestarts(steps, steps, fails).carry_out(ALL, _assigned(("a",), ()))
    assert "ValueError: no plan" in caplog.text
