from collections.abc import Mapping

import pytest

from kafka_lite.connect.api.sink_connector import SinkConnector
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.worker_connector import VALID_PREVIOUS_STATES, WorkerConnector, WorkerConnectorState
from tests.support.connect_tasks import Reports

STARTED, PAUSED, STOPPED = TargetState.STARTED, TargetState.PAUSED, TargetState.STOPPED


class Plugin(SinkConnector):
    def __init__(self) -> None:
        self.calls: list[str] = []
        self.errors: dict[str, Exception] = {}

    def _called(self, call: str) -> None:
        self.calls.append(call)
        if call in self.errors:
            raise self.errors[call]

    def start(self, props: Mapping[str, str]) -> None:
        self._called(f"start {dict(props)}")

    def stop(self) -> None:
        self._called("stop")

    def task_class(self) -> type[Task]:
        return Task

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return []


class Rig:
    def __init__(self) -> None:
        self.plugin, self.reports, self.reconfigurations = Plugin(), Reports(), 0
        self.connector = WorkerConnector("c", self.plugin, self._reconfigure, self.reports)
        self.connector.initialize({"k": "v"})

    def _reconfigure(self) -> None:
        self.reconfigurations += 1


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_a_connector_is_started_paused_resumed_and_stopped(rig: Rig) -> None:
    for target in (STARTED, STARTED, PAUSED, PAUSED, STARTED):
        rig.connector.transition_to(target)
        assert rig.connector.is_running is (target is STARTED)
    rig.connector.shutdown()
    assert rig.plugin.calls == ["start {'k': 'v'}", "stop", "start {'k': 'v'}", "stop"]
    assert rig.reports.told == ["c startup", "c pause", "c resume", "c shutdown"]
    assert rig.connector.state is WorkerConnectorState.STOPPED
    assert rig.connector.is_sink_connector


def test_a_connector_may_begin_paused(rig: Rig) -> None:
    rig.connector.transition_to(PAUSED)
    rig.connector.shutdown()
    assert (rig.plugin.calls, rig.reports.told) == ([], ["c pause", "c shutdown"])


def test_a_stopped_connector_may_be_paused_and_resumed(rig: Rig) -> None:
    for target in (STARTED, STOPPED, STOPPED, PAUSED, STOPPED, STARTED):
        rig.connector.transition_to(target)
        assert rig.connector.is_running is (target is STARTED)
    assert rig.plugin.calls == ["start {'k': 'v'}", "stop", "start {'k': 'v'}"]
    assert rig.reports.told == ["c startup", "c stop", "c pause", "c stop", "c resume"]


def test_a_connector_that_has_failed_can_be_stopped_and_started_again(rig: Rig) -> None:
    rig.plugin.errors["start {'k': 'v'}"] = ValueError("broken")
    for target in (STARTED, PAUSED, STOPPED):
        rig.connector.transition_to(target)
    del rig.plugin.errors["start {'k': 'v'}"]
    rig.connector.transition_to(STARTED)
    assert rig.reports.told == ["c failure", "c stop", "c resume"]


def test_an_error_while_it_stops_does_not_keep_a_connector_from_being_stopped(rig: Rig) -> None:
    rig.connector.transition_to(STARTED)
    rig.plugin.errors["stop"] = ValueError("broken")
    rig.connector.transition_to(STOPPED)
    assert rig.connector.state is WorkerConnectorState.STOPPED
    assert rig.reports.told == ["c startup", "c stop"]


@pytest.mark.parametrize(("call", "targets"), [("start {'k': 'v'}", [STARTED]), ("stop", [STARTED, PAUSED])])
def test_an_error_is_final(rig: Rig, call: str, targets: list[TargetState]) -> None:
    rig.plugin.errors[call] = ValueError("broken")
    for target in targets:
        rig.connector.transition_to(target)
    assert rig.connector.state is WorkerConnectorState.FAILED
    assert rig.reports.told[-1] == "c failure"
    calls = list(rig.plugin.calls)
    rig.connector.transition_to(STARTED)
    assert rig.plugin.calls == calls


def test_a_connector_that_cannot_be_stopped_was_stopped_all_the_same(rig: Rig) -> None:
    rig.connector.transition_to(STARTED)
    rig.plugin.errors["stop"] = ValueError("broken")
    rig.connector.shutdown()
    assert rig.reports.told == ["c startup", "c shutdown"]
    assert rig.connector.state is WorkerConnectorState.FAILED


def test_the_connector_talks_to_the_runtime(rig: Rig) -> None:
    rig.connector.transition_to(STARTED)
    rig.plugin.context.request_task_reconfiguration()
    assert rig.reconfigurations == 1
    rig.plugin.context.raise_error(ValueError("the system is gone"))
    assert rig.reports.told == ["c startup", "c failure"]
    assert not rig.connector.is_running
    rig.connector.shutdown()  # a connector that failed is not stopped again
    assert "stop" not in rig.plugin.calls


def test_an_error_in_initialize_is_a_failure() -> None:
    plugin, reports = Plugin(), Reports()
    plugin.initialize = lambda context: plugin._called("initialize")  # type: ignore[method-assign]
    plugin.errors["initialize"] = ValueError("broken")
    WorkerConnector("c", plugin, lambda: None, reports).initialize({})
    assert reports.told == ["c failure"]


def test_every_state_has_its_row() -> None:
    assert set(VALID_PREVIOUS_STATES) == set(WorkerConnectorState)
