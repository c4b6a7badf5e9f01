"""Task 2: who owns it."""

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment
from kafka_lite.connect.runtime.distributed.worker_assignment import GroupAssignment


@pytest.fixture
def group(members):
    """Worker a runs connector sink and task source-0, worker b connector source and task sink-0."""
    task = {name: (ConnectorTaskId(name, 0),) for name in ("sink", "source")}
    return GroupAssignment(
        {
            "a": Assignment(0, "a", "http://a:8083/", 7, ("sink",), task["source"]),
            "b": Assignment(0, "a", "http://a:8083/", 7, ("source",), task["sink"]),
        },
        members("a", "b"),
    )


@pytest.mark.points(8, task=2)
def test_connectors_and_tasks(group):
    """On different workers"""
    found = group.owner_url("sink")
    assert found == "http://a:8083/", f"the URL of the worker that runs sink is http://a:8083/; yours: {found}"
    found = group.owner_url(ConnectorTaskId("sink", 0))
    assert found == "http://b:8083/", f"task sink-0 is at http://b:8083/; yours: {found}"


@pytest.mark.points(7, task=2)
def test_nobody(group):
    """What is not assigned"""
    assert group.owner_url("none") is None, "no worker runs it: None"
    assert group.owner_url(ConnectorTaskId("sink", 1)) is None, "no worker runs task 1: None"
