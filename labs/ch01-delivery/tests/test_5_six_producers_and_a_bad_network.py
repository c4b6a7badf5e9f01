"""Task 5: nothing to write. Which settings lose a record, which store it twice, which change the order."""

import pytest
from conftest import LOST, UNANSWERED

from kafka_lite.common.errors import Errors

REFUSED = Errors.NOT_ENOUGH_REPLICAS


@pytest.mark.points(2, task=5)
def test_lost(fate):
    """acks=0 and retries=0: the request gets lost"""
    found = fate({"acks": 0}, [LOST])
    assert found == ([], ["stored"]), f"acks=0: the record is lost, and nobody says so; yours: {found}"
    found = fate({"acks": 1, "retries": 0}, [LOST])
    assert found == ([], ["NETWORK_EXCEPTION"]), f"retries=0: it is lost, and its sender knows; yours: {found}"


@pytest.mark.points(3, task=5)
def test_twice(fate):
    """The response gets lost: without retries, with retries, with numbers"""
    found = fate({"retries": 0}, [UNANSWERED])
    assert found == ([1], ["NETWORK_EXCEPTION"]), f"retries=0: an error, but the leader has it; yours: {found}"
    found = fate({"retries": 3}, [UNANSWERED])
    assert found == ([1, 1], ["stored"]), f"retries=3 without numbers: the leader appends it twice; yours: {found}"
    found = fate({"retries": 3, "idempotent": True}, [UNANSWERED])
    assert found == ([1], ["stored"]), f"numbered: the leader recognizes it, and has it once; yours: {found}"


@pytest.mark.points(3, task=5)
def test_out_of_order(fate):
    """Two requests in flight, the first is refused: without numbers, with numbers"""
    found = fate({}, [REFUSED], count=2)
    assert found == ([2, 1], ["stored"] * 2), f"without numbers, the second overtakes the first; yours: {found}"
    found = fate({"idempotent": True}, [REFUSED], count=2)
    assert found == ([1, 2], ["stored"] * 2), f"numbered: the leader refuses 2 until it has 1; yours: {found}"


@pytest.mark.points(2, task=5)
def test_one_request_at_a_time(fate):
    """max.in.flight.requests.per.connection=1: the order without numbers"""
    found = fate({"in_flight": 1}, [REFUSED], count=2)
    assert found == ([1, 2], ["stored"] * 2), f"the second waits until the first is done; yours: {found}"
