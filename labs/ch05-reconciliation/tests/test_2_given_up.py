"""Task 2: what a heartbeat says about partitions."""

import pytest

from kafka_lite.coordinator.group.modern.current_assignment_builder import _still_owns


@pytest.mark.points(4, task=2)
def test_a_heartbeat_that_says_nothing(some):
    """No list of partitions"""
    assert _still_owns(None, some(1)), "a heartbeat without a list says nothing: the member may still have partition 1"


@pytest.mark.points(6, task=2)
def test_a_heartbeat_with_a_list(some):
    """A list with some, all or none of the revoked partitions"""
    for owned, revoked, expected in (
        ((0, 1), (1,), True),
        ((0, 1), (1, 2), True),
        ((0,), (1, 2), False),
        ((), (1,), False),
    ):
        found = _still_owns(some(*owned), some(*revoked))
        assert bool(found) is expected, f"it lists {owned}, {revoked} are to be given up: {expected}, not {found}"
