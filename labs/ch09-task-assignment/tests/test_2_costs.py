"""Task 2: what a task costs an instance."""

import pytest

from kafka_lite.streams.task_id import TaskId


@pytest.mark.points(7, task=2)
def test_where_its_state_is(instance):
    """Active before, kept, or never there"""
    state = instance(active=[0], kept=[1])
    found = [state.addition_cost(TaskId(0, number)) for number in range(3)]
    assert found == [0.1, 0.2, 0.5], f"for an idle instance a task costs 0.1, 0.2 and 0.5; yours: {found}"


@pytest.mark.points(7, task=2)
def test_each_thread(instance):
    """Two threads: two tasks count as one"""
    state, found = instance(threads=2), []
    for number in range(5):
        found.append(state.addition_cost(TaskId(0, number)))
        state.assign(TaskId(0, number), active=number != 1)
    assert found == [0.5, 0.5, 1.5, 1.5, 2.5], (
        f"the load is what each thread has already, a whole number, of active and standby tasks; yours: {found}"
    )
    assert state.standby_tasks == {TaskId(0, 1)}, "a task that is not active is a standby task"


@pytest.mark.points(6, task=2)
def test_what_was_assigned(instance):
    """The costs add up, and the past is used once"""
    state = instance(active=[0], kept=[1])
    for number in range(3):
        state.assign(TaskId(0, number), active=True)
    assert round(state.cost, 6) == 0.8, f"the cost is that before the task was there: 0.1 + 0.2 + 0.5, not {state.cost}"
    assert not state.prev_assigned_tasks | state.prev_active_tasks, "an assigned task is no longer among the previous"
    state = instance(active=[0])
    state.assign(TaskId(0, 0), active=False)
    assert not state.prev_assigned_tasks | state.prev_active_tasks, (
        "also a task that is assigned as a standby is no longer among the previous"
    )
