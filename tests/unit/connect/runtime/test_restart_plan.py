import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder import ConnectorStateInfo
from kafka_lite.connect.runtime.restart_plan import plan_restart
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest

RUNNING, FAILED, RESTARTING = State.RUNNING, State.FAILED, State.RESTARTING


def _info(connector: State, *tasks: State) -> ConnectorStateInfo:
    statuses = [
        TaskStatus(ConnectorTaskId("a", number), state, "w:1", 3, "why" if state is FAILED else None)
        for number, state in enumerate(tasks)
    ]
    return ConnectorStateInfo("a", ConnectorStatus("a", connector, "w:1", 3), statuses, "source")


@pytest.mark.parametrize(
    ("failed", "tasks", "connector", "restarted"),
    [
        (False, False, True, []),
        (False, True, True, [0, 1, 2]),
        (True, True, False, [1]),
        (True, False, False, []),
    ],
)
def test_the_flags_say_what_is_restarted(failed: bool, tasks: bool, connector: bool, restarted: list[int]) -> None:
    before = _info(RUNNING, RUNNING, FAILED, State.UNASSIGNED)
    plan = plan_restart(RestartRequest("a", failed, tasks), before)
    assert plan.restarts_connector is connector
    assert [task.task for task in plan.tasks] == restarted
    untouched = [status for status in plan.info.tasks if status.id.task not in restarted]
    assert all(status in before.tasks for status in untouched)


def test_a_failed_connector_is_restarted_by_each_request() -> None:
    for failed in (True, False):
        assert plan_restart(RestartRequest("a", only_failed=failed), _info(FAILED)).restarts_connector


def test_the_answer_keeps_worker_trace_and_kind() -> None:
    info = plan_restart(RestartRequest("a", True, True), _info(RUNNING, FAILED)).info
    assert (info.kind, info.connector.state) == ("source", RUNNING)
    (task,) = info.tasks
    assert (task.state, task.worker_id, task.generation, task.trace) == (RESTARTING, "w:1", 3, "why")


def test_a_plan_says_what_it_restarts() -> None:
    plan = plan_restart(RestartRequest("a", include_tasks=True), _info(RUNNING, FAILED))
    assert str(plan).startswith("plan to restart connector and 1 of 1 tasks for ")
    assert str(plan_restart(RestartRequest("a", True, True), _info(RUNNING, FAILED, RUNNING))).startswith(
        "plan to restart 1 of 2 tasks for "
    )
