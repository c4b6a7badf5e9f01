import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus

ID = ConnectorTaskId("source", 0)


@pytest.mark.parametrize(
    ("known", "new", "may"),
    [
        (None, ("a:1", 1), True),
        (("a:1", 5), ("a:1", 4), True),  # its own
        (("b:1", 4), ("a:1", 5), True),
        (("b:1", 5), ("a:1", 5), True),
        (("b:1", 6), ("a:1", 5), False),  # the new owner has reported already
    ],
)
def test_a_late_report_does_not_replace_that_of_the_new_owner(
    known: tuple[str, int] | None, new: tuple[str, int], may: bool
) -> None:
    before = None if known is None else TaskStatus(ID, State.RUNNING, *known)
    assert TaskStatus(ID, State.UNASSIGNED, *new).may_replace(before) is may
    connector = None if known is None else ConnectorStatus("source", State.RUNNING, *known)
    assert ConnectorStatus("source", State.UNASSIGNED, *new).may_replace(connector) is may
