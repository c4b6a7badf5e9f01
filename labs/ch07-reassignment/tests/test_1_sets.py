"""Task 1: the replicas before and after."""

import pytest

from kafka_lite.controller.replica_assignment import ReplicaAssignment

MOVING = ReplicaAssignment([4, 5, 1, 2, 3], [4, 5], [2, 3])


@pytest.mark.points(9, task=1)
def test_before():
    """4, 5, 1, 2, 3; adding 4, 5; removing 2, 3"""
    found = MOVING.origin_replicas
    assert found == [1, 2, 3], f"before, there was none of those that are added: [1, 2, 3], not {found}"
    found = ReplicaAssignment([4, 3, 1, 2], [4], [2]).origin_replicas
    assert found == [3, 1, 2], f"in the order that they have in replicas: [3, 1, 2], not {found}"


@pytest.mark.points(9, task=1)
def test_after():
    """The same, at the end"""
    found = MOVING.target_replicas
    assert found == [4, 5, 1], f"in the end, all but the removed ones, in their order: [4, 5, 1], not {found}"


@pytest.mark.points(7, task=1)
def test_on_the_way_or_at_rest():
    """Adding only, removing only, neither"""
    assert ReplicaAssignment([1, 2], [2]).is_being_reassigned, "2 is being added"
    assert ReplicaAssignment([1, 2], [], [2]).is_being_reassigned, "2 is being removed, though nothing is added"
    assert not ReplicaAssignment([1, 2]).is_being_reassigned, "nothing is added or removed: at rest"
