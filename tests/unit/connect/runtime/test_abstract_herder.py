from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.connect.runtime.abstract_herder import AbstractHerder, compute_task_configs
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.standalone.standalone_herder import StandaloneHerder
from kafka_lite.connect.runtime.status import State
from kafka_lite.connect.runtime.storage.memory_status_backing_store import MemoryStatusBackingStore

TASK = ConnectorTaskId("c", 1)


class SafeWrites(MemoryStatusBackingStore):
    """Counts the writes that are checked."""

    def __init__(self) -> None:
        super().__init__()
        self.safe = 0

    def put_safe(self, status: Any) -> None:
        self.safe += 1
        self.put(status)


@pytest.fixture
def statuses() -> SafeWrites:
    return SafeWrites()


@pytest.fixture
def herder(statuses: SafeWrites) -> AbstractHerder:
    worker: Any = SimpleNamespace(id="w:1")
    return StandaloneHerder(worker, statuses)


@pytest.mark.parametrize("of", ["c", TASK])
@pytest.mark.parametrize(
    ("report", "state", "is_safe"),
    [
        ("on_startup", State.RUNNING, False),
        ("on_pause", State.PAUSED, False),
        ("on_resume", State.RUNNING, False),
        ("on_restart", State.RESTARTING, False),
        ("on_shutdown", State.UNASSIGNED, True),
    ],
)
def test_reports_become_statuses(
    herder: AbstractHerder, statuses: SafeWrites, of: Any, report: str, state: State, is_safe: bool
) -> None:
    getattr(herder, report)(of)
    status = statuses.task(of) if isinstance(of, ConnectorTaskId) else statuses.connector(of)
    assert status is not None
    assert (status.state, status.worker_id, status.generation, status.trace) == (state, "w:1", 0, None)
    assert statuses.safe == is_safe


def test_a_stopped_connector_has_a_status_of_its_own(herder: AbstractHerder, statuses: SafeWrites) -> None:
    herder.on_stop("c")
    status = statuses.connector("c")
    assert status is not None
    assert (status.state, statuses.safe) == (State.STOPPED, 0)


def test_a_failure_has_its_trace_with_the_cause(herder: AbstractHerder, statuses: SafeWrites) -> None:
    try:
        try:
            raise KeyError("cause")
        except KeyError as cause:
            raise ValueError("the task fails") from cause
    except ValueError as error:
        herder.on_failure(TASK, error)
    status = herder.task_status(TASK)
    assert status.trace is not None
    assert "KeyError: 'cause'" in status.trace
    assert status.trace.endswith("ValueError: the task fails\n")
    assert statuses.safe == 1


def test_the_status_of_a_connector_has_its_tasks_by_number(herder: AbstractHerder) -> None:
    herder.on_startup("c")
    for number in (10, 9):
        herder.on_startup(ConnectorTaskId("c", number))
    info = herder.connector_status("c")
    assert (info.name, info.connector.state, [task.id.task for task in info.tasks]) == ("c", State.RUNNING, [9, 10])


def test_sinks_are_asked_with_their_topics() -> None:
    asked: list[Any] = []
    worker: Any = SimpleNamespace(
        is_sink_connector=lambda name: name == "sink",
        connector_task_configs=lambda *arguments: asked.append(arguments) or [],
    )
    config = {"name": "n", "connector.class": "C", "tasks.max": "3", "topics": "x,y"}
    assert compute_task_configs(worker, "sink", config) == []
    compute_task_configs(worker, "source", config)
    assert asked == [("sink", 3, {"topics": "x,y"}), ("source", 3)]
