"""Task 2: all replicas while a partition moves."""

import pytest

from kafka_lite.controller.replica_assignment import ReplicaAssignment


def parts(assignment):
    return assignment.replicas, assignment.adding_replicas, assignment.removing_replicas


@pytest.mark.points(10, task=2)
def test_to_other_brokers():
    """From 1, 2, 3 to 4, 5, 1"""
    before = ReplicaAssignment([1, 2, 3])
    replicas, adding, removing = parts(before.reassign_to([4, 5, 1]))
    assert parts(before) == ([1, 2, 3], [], []), f"make another assignment, this one stays as it is; it is {before}"
    assert replicas == [4, 5, 1, 2, 3], (
        f"the target first, then the rest of the old ones: [4, 5, 1, 2, 3], not {replicas}"
    )
    assert adding == [4, 5], f"1 is there already: adding [4, 5], not {adding}"
    assert removing == [2, 3], f"2 and 3 are not in the target: removing [2, 3], not {removing}"


@pytest.mark.points(12, task=2)
def test_another_target_on_the_way():
    """From 1, 2 to 3, 4; before that is done, to 1, 3"""
    moving = ReplicaAssignment([3, 4, 1, 2], [3, 4], [1, 2])
    replicas, adding, removing = parts(moving.reassign_to([1, 3]))
    assert adding == [3], f"the origin is 1, 2, so only 3 is added; yours {adding}"
    assert removing == [2], f"and only 2 is removed; yours {removing}"
    assert replicas == [1, 3, 2], f"4 was needed only by the earlier target: [1, 3, 2], not {replicas}"


@pytest.mark.points(8, task=2)
def test_nothing_moves():
    """A cancellation, and a change of the order"""
    moving = ReplicaAssignment([3, 1, 2], [3], [2])
    assert parts(moving.reassign_to([1, 2])) == ([1, 2], [], []), "back to the origin: nothing is added or removed"
    turned = ReplicaAssignment([1, 2]).reassign_to([2, 1])
    assert parts(turned) == ([2, 1], [], []), f"only the order changes; yours {parts(turned)}"
