"""Task 2: by the user, or by the group."""

import pytest


@pytest.mark.points(7, task=2)
def test_by_the_user(state, partitions):
    """t-0 and t-1, then t-1 and t-2"""
    zero, one, two = partitions("t-0", "t-1", "t-2")
    assert state.assign_from_user([zero, one]) is True, "two partitions instead of none: True"
    state.state(one).position = 17
    before = state.assignment_id
    assert state.assign_from_user([one, zero]) is False, "the same partitions in another order: False"
    assert state.assignment_id == before, "nothing has changed, so the assignment keeps its id"
    assert state.assign_from_user([one, two]) is True, "t-2 instead of t-0: True"
    assert state.position(one) == 17, f"t-1 was already assigned and keeps its position: 17, not {state.position(one)}"
    assert state.assigned_partitions == {one, two}, f"t-1 and t-2; you have {set(state.assigned_partitions)}"
    assert state.position(two) is None, "t-2 is new: its position is unknown"
    state.pause(one)
    assert state.assign_from_user([two, one]) is False, "the same partitions in another order: False"
    assert state.assign_from_user([one]) is True, "fewer partitions are a change, too: True"
    assert state.assigned_partitions == {one}, f"t-1 only; you have {set(state.assigned_partitions)}"
    assert state.paused_partitions() == {one}, "t-1 was already assigned and keeps its state: it stays paused"


@pytest.mark.points(8, task=2)
def test_by_the_group(state, subscribe, partitions, is_illegal):
    """t-0 is assigned to this member again"""
    zero, one = partitions("t-0", "t-1")
    assert is_illegal(lambda: state.assign_from_subscribed([zero])), "without a subscription, the group assigns nothing"
    subscribe("t")
    state.assign_from_subscribed([zero])
    state.state(zero).position = 17
    before = state.assignment_id
    state.assign_from_subscribed([zero, one])
    assert state.position(zero) is None, (
        f"another member may have read t-0 meanwhile: use the committed offset, not {state.position(zero)}"
    )
    state.seek(zero, 3)
    assert state.position(one) is None, "every partition has a state of its own: a seek in t-0 leaves t-1 as it was"
    assert state.assignment_id > before, "the assignment has changed, so its id must change, too"
    state.pause(zero)
    state.assign_from_subscribed([one, zero])
    assert state.position(zero) is None, "the same partitions in a new generation: use the committed offsets again"
    assert not state.paused_partitions(), "every partition gets a new state: t-0 is not paused any more"
    for partition in (zero, one):
        state.seek(partition, 0)
    assert state.fetchable_partitions() == [one, zero], "t-1, t-0: partitions are in the order of the assignment"


@pytest.mark.points(5, task=2)
def test_not_both(state, partitions, is_illegal):
    """Assigned by the user, then by the group"""
    state.assign_from_user(partitions("t-0"))
    assert is_illegal(lambda: state.assign_from_subscribed(partitions("t-1"))), "the user assigns: the group must not"
    assert state.assigned_partitions == set(partitions("t-0")), "a rejected call must not change anything"
