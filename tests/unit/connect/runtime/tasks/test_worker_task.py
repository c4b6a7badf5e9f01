import threading

import pytest

from kafka_lite.common.shutdownable_thread import ProcessKilledError
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.tasks.worker_task import VALID_PREVIOUS_STATES, WorkerTask, WorkerTaskState
from tests.support.connect_tasks import Reports
from tests.support.patience import patient_s


class Steps(WorkerTask):
    """Notes its steps, and raises what the test wants."""

    def __init__(self, reports: Reports, target: TargetState = TargetState.STARTED) -> None:
        super().__init__(ConnectorTaskId("c", 3), reports, target)
        self.steps: list[str] = []
        self.errors: dict[str, BaseException] = {}
        self.at_work = threading.Event()

    def _step(self, step: str) -> None:
        self.steps.append(step)
        if step in self.errors:
            raise self.errors[step]

    def start_task(self) -> None:
        self._step("start")

    def do_work(self) -> None:
        self._step("work")
        self.at_work.set()
        self._stopping.wait(patient_s(10))

    def finish(self) -> None:
        self._step("finish")

    def close(self) -> None:
        self._step("close")


def test_the_herder_stops_a_thread() -> None:
    reports = Reports()
    task = Steps(reports)
    assert task.await_stop(0)  # it never ran
    task.start()
    assert task.at_work.wait(patient_s(10))
    assert not task.await_stop(0)
    task.initiate_shutdown()
    assert task.await_stop(10_000)
    assert task.steps == ["start", "work", "finish", "close"]
    assert reports.told == ["c-3 startup", "c-3 shutdown"]
    assert (task.state, task.name) == (WorkerTaskState.STOPPED, "task-thread-c-3")


def test_a_task_of_a_stopped_connector_ends() -> None:
    reports = Reports()
    never, running = Steps(reports, TargetState.STOPPED), Steps(reports)
    never.start()
    assert never.await_stop(10_000)
    running.start()
    assert running.at_work.wait(patient_s(10))
    running.transition_to(TargetState.STOPPED)
    assert running.await_stop(10_000)
    assert (never.steps, running.steps) == (["close"], ["start", "work", "finish", "close"])
    assert reports.told == ["c-3 shutdown", "c-3 startup", "c-3 shutdown"]


def test_a_paused_thread_is_resumed() -> None:
    reports = Reports()
    task = Steps(reports, TargetState.PAUSED)
    task.start()
    task.transition_to(TargetState.STARTED)
    assert task.at_work.wait(patient_s(10))
    task.shutdown(10)
    assert reports.told[-2:] == ["c-3 startup", "c-3 shutdown"]


@pytest.mark.parametrize(
    ("step", "steps"),
    [
        ("start", ["start", "close"]),
        ("work", ["start", "work", "finish", "close"]),
        ("finish", ["start", "work", "finish", "close"]),
        ("close", ["start", "work", "finish", "close"]),
    ],
)
@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit("the task calls exit")])
def test_an_error_in_any_step_is_a_failure(step: str, steps: list[str], error: BaseException) -> None:
    reports = Reports()
    task = Steps(reports)
    task.errors[step] = error
    task._stopping.wait = lambda timeout: task._stopping.set() is None  # type: ignore[method-assign,assignment]
    task.run()
    assert task.steps == steps
    assert (reports.told, reports.errors) == (["c-3 startup", "c-3 failure"], [error])
    assert (task.state, task.is_running) == (WorkerTaskState.FAILED, False)


def test_an_abandoned_task_does_not_report_its_failure() -> None:
    reports = Reports()
    task = Steps(reports)
    task.errors["work"] = ValueError("broken")
    task.cancel()
    task.run()
    assert reports.told == ["c-3 startup"]


def test_a_killed_process_says_nothing() -> None:
    reports = Reports()
    task = Steps(reports)
    task.errors["work"] = ProcessKilledError()
    task.run()
    assert reports.told == ["c-3 startup"]


def test_every_state_has_its_row() -> None:
    assert set(VALID_PREVIOUS_STATES) == set(WorkerTaskState)
    task = Steps(Reports())
    task.fail(ValueError())
    with pytest.raises(RuntimeError, match="from FAILED to RUNNING"):
        task._set_state(WorkerTaskState.RUNNING)
