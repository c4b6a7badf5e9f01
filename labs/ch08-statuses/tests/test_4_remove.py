"""Task 4: a connector is deleted."""

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId


@pytest.mark.points(8, task=4)
def test_a_connector_with_its_tasks(statuses, report):
    """x and y with tasks"""
    for of in ("x", "y", ConnectorTaskId("x", 0), ConnectorTaskId("x", 1), ConnectorTaskId("y", 0)):
        statuses.know(report("RUNNING", "A", 4, of=of))
    statuses.store._remove(ConnectorTaskId("x", 1))
    assert [each.id.task for each in statuses.store.tasks("x")] == [0], "only task x-1 is removed"
    statuses.store._remove("x")
    left = sorted(map(str, statuses.store._entries))
    assert left == ["y", "y-0"], f"x is removed with its tasks, y stays; there are {left}"


@pytest.mark.points(7, task=4)
def test_a_write_on_its_way(statuses, report):
    """Its entry is known to the callback only"""
    statuses.store.put(report("RUNNING", "A", 4))
    entry = statuses.store._entries[report("RUNNING", "A", 4).id]
    statuses.store._remove("x")
    assert entry.deleted, "mark the entry as deleted: the write on its way has it"
    statuses.log.end(0, statuses.again)
    assert len(statuses.log.sent) == 1, "the connector was deleted: its task's status does not come back"
    statuses.store._remove("never there")
