"""Task 3: configurations of tasks are deferred."""

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId


@pytest.mark.points(8, task=3)
def test_deferred(applied):
    """Two tasks, no commit"""
    applied.task(0, "a")
    applied.task(1, "b")
    assert not applied.state().task_configs, "a task's configuration means nothing before the commit"
    deferred = {task.task: config["does"] for task, config in applied.topic._deferred["x"].items()}
    assert deferred == {0: "a", 1: "b"}, f"both are deferred, by task; yours: {deferred}"
    applied.task(0, "c")
    newest = applied.topic._deferred["x"][ConnectorTaskId("x", 0)]["does"]
    assert newest == "c", f"the last one of a task counts: c, not {newest}"


@pytest.mark.points(7, task=3)
def test_keys(applied):
    """Names with dashes, and keys that are none"""
    applied.put("task-my-files-12", {"properties": {}})
    assert ConnectorTaskId("my-files", 12) in applied.topic._deferred.get("my-files", {}), (
        f"task-my-files-12 is task 12 of my-files; deferred: {applied.topic._deferred}"
    )
    before = {name: dict(tasks) for name, tasks in applied.topic._deferred.items()}
    for key, value in (
        ("task-x", {"properties": {}}),
        ("task-x-y", {"properties": {}}),
        ("task-x-0", None),
        ("task-x-0", 7),
    ):
        try:
            applied.put(key, value)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            pytest.fail(f"{key} {value!r} is logged and ignored; yours raised {error!r}")
    assert applied.topic._deferred == before, f"what is not understood is ignored; deferred: {applied.topic._deferred}"
