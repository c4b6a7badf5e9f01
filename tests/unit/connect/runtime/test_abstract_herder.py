from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.connect.runtime.abstract_herder import AbstractHerder, compute_task_configs
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder_errors import ForbiddenError
from kafka_lite.connect.runtime.standalone.standalone_herder import StandaloneHerder
from kafka_lite.connect.runtime.status import State, TopicStatus
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
    config = {"topic.tracking.enable": True, "topic.tracking.allow.reset": True}
    worker: Any = SimpleNamespace(id="w:1", config=config, time=MockTime(7))
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


def test_the_topics_of_a_connector_are_kept_until_they_are_reset_or_it_is_deleted(
    herder: AbstractHerder, statuses: SafeWrites
) -> None:
    for topic in ("y", "x", "y"):
        herder.on_topic(TASK, topic)
    herder.on_topic(ConnectorTaskId("d", 0), "z")
    assert herder.connector_active_topics("c") == ["x", "y"]
    assert statuses.topic("c", "y") == TopicStatus("y", TASK, 7)
    herder.reset_connector_active_topics("c")
    assert (herder.connector_active_topics("c"), herder.connector_active_topics("d")) == ([], ["z"])
    herder.on_topic(TASK, "y")
    herder._on_deletion("c")
    assert herder.connector_active_topics("c") == []


def test_topics_are_not_tracked_if_the_configuration_says_so(herder: AbstractHerder) -> None:
    config: Any = herder._worker.config
    config["topic.tracking.allow.reset"] = False
    herder.on_topic(TASK, "x")
    with pytest.raises(ForbiddenError, match=r"^Topic tracking reset is disabled\.$"):
        herder.reset_connector_active_topics("c")
    assert herder.connector_active_topics("c") == ["x"]
    config["topic.tracking.enable"] = False
    for call in (herder.connector_active_topics, herder.reset_connector_active_topics):
        with pytest.raises(ForbiddenError, match=r"^Topic tracking is disabled\.$"):
            call("c")
    herder.on_topic(TASK, "y")
    config["topic.tracking.enable"] = True
    assert herder.connector_active_topics("c") == ["x"]
