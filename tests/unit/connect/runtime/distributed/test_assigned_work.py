from __future__ import annotations

import threading
from typing import Any

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.assigned_work import START_STOP_THREAD_POOL_SIZE, AssignedWork
from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from kafka_lite.connect.runtime.target_state import TargetState
from tests.support.connect_tasks import Reports
from tests.support.patience import patient_s

T0 = ConnectorTaskId("a", 0)
CONFIGS = ClusterConfigState(
    1, {"a": 1}, {"a": {"name": "a"}, "b": {}}, {"b": TargetState.PAUSED}, {T0: {"task.class": "t"}}
)


class FakeWorker:
    """Notes its calls; ``fails`` are connectors and tasks that raise."""

    def __init__(self, *fails: object) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.fails = fails

    def start_connector(self, name: str, config: Any, request: Any, listener: Any, target: TargetState) -> bool:
        return self._call("start", name, target)

    def start_task(self, task: Any, connector_config: Any, config: Any, listener: Any, target: TargetState) -> bool:
        return self._call("start", task, target)

    def stop_connector(self, name: str) -> bool:
        return self._call("stop", name)

    def stop_and_await_tasks(self, tasks: Any) -> None:
        self._call("stop", *tasks)

    def _call(self, *call: Any) -> bool:
        self.calls.append(call)
        if call[1] in self.fails:
            raise ValueError(f"{call[1]} fails")
        return True


def _work(worker: Any, reports: Any = None, asked: list[str] | None = None) -> AssignedWork:
    asked = asked if asked is not None else []
    return AssignedWork(worker, lambda: CONFIGS, reports or Reports(), asked.append, asked.append)


def test_connectors_are_asked_for_their_tasks_unless_they_are_paused() -> None:
    worker, asked = FakeWorker(), list[str]()
    _work(worker, asked=asked).start(Assignment(0, "m", "u", 1, ("a", "b"), (T0,)))
    assert sorted(worker.calls, key=str) == [
        ("start", "a", TargetState.STARTED),
        ("start", "b", TargetState.PAUSED),
        ("start", T0, TargetState.STARTED),
    ]
    assert asked == ["a"]


def test_one_that_cannot_be_started_does_not_stop_the_others() -> None:
    worker, reports = FakeWorker("a"), Reports()
    unknown = ConnectorTaskId("a", 7)
    _work(worker, reports).start(Assignment(0, "m", "u", 1, ("a", "none"), (T0, unknown)))
    assert sorted(reports.told) == ["a failure", "a-7 failure", "none failure"]
    assert ("start", T0, TargetState.STARTED) in worker.calls


def test_all_are_stopped_the_tasks_within_one_deadline() -> None:
    worker = FakeWorker("a")
    _work(worker).stop(["a", "b"], [T0, ConnectorTaskId("a", 1)])
    assert sorted(worker.calls, key=str) == [("stop", "a"), ("stop", "b"), ("stop", T0, ConnectorTaskId("a", 1))]
    worker.calls.clear()
    _work(worker).stop([], [])
    assert not worker.calls


def test_several_start_at_a_time() -> None:
    """Each connector waits in its start until the pool is full."""
    full = threading.Barrier(START_STOP_THREAD_POOL_SIZE)

    class Waiting(FakeWorker):
        def start_connector(self, *arguments: Any) -> bool:
            full.wait(patient_s(60))
            return super().start_connector(*arguments)

    worker = Waiting()
    names = tuple("a" for _ in range(START_STOP_THREAD_POOL_SIZE))
    _work(worker).start(Assignment(0, "m", "u", 1, names))
    assert len(worker.calls) == START_STOP_THREAD_POOL_SIZE
