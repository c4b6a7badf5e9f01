"""Task 3: which instance gets which task."""

import random

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.streams.errors import TaskAssignmentError


@pytest.mark.points(9, task=3)
def test_every_task_once(assigned, instance):
    """A hundred random applications, whose threads get equal shares"""
    chance = random.Random(3)
    for _ in range(100):
        count, threads = chance.randint(0, 12), [chance.randint(1, 3) for _ in range(chance.randint(1, 5))]
        found = assigned(count, *(instance(threads=each) for each in threads))
        assert sorted(task for each in found for task in each) == list(range(count)), f"each task once; yours: {found}"
        loads = [len(each) / of for each, of in zip(found, threads, strict=True)]
        assert max(loads) - min(loads) <= 1, f"threads {threads} have shares that differ by at most 1; yours: {found}"


@pytest.mark.points(4, task=3)
def test_no_instance(assigned):
    """There must be one"""
    must_raise(TaskAssignmentError, "there is a task, and no instance that could run it", assigned, 1)


@pytest.mark.points(8, task=3)
def test_where_the_state_is(assigned, instance):
    """Active before kept, kept before empty, balance before all"""
    found = assigned(1, instance(), instance(kept=[0]), instance())
    assert found == [set(), {0}, set()], f"a task goes where its state is kept; yours: {found}"
    found = assigned(1, instance(kept=[0]), instance(active=[0]))
    assert found == [set(), {0}], f"a task goes where it was active; yours: {found}"
    found = assigned(4, instance(active=range(4)), instance())
    assert sorted(map(len, found)) == [2, 2], f"a new instance gets its share, whatever is where; yours: {found}"


@pytest.mark.points(8, task=3)
def test_nothing_has_changed(assigned, instance):
    """Balanced already: every task stays"""
    for before in ([{0, 1, 2}, {3, 4, 5}], [{0, 1, 2, 3}, {4, 5}], [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}]):
        found = assigned(sum(map(len, before)), *(instance(active=each) for each in before))
        assert found == before, f"nothing has changed, and {before} is balanced, so every task stays; yours: {found}"
    before = [{0, 1, 2, 3, 4}, {5}]
    found = assigned(6, *(instance(active=each) for each in before))
    assert sorted(map(len, found)) == [3, 3], f"{before} is not balanced, so tasks move; yours: {found}"


@pytest.mark.points(6, task=3)
def test_a_standby_is_elsewhere(assigned, instance):
    """A copy of the state on another machine"""
    instances = [instance() for _ in range(3)]
    assigned(6, *instances, standby=1)
    assert all(not state.active_tasks & state.standby_tasks for state in instances), (
        "an instance that has the task already is no candidate: a standby beside its task helps nobody"
    )
    standby = sorted(task.partition for state in instances for task in state.standby_tasks)
    assert standby == [0, 1, 2, 3, 4, 5], f"each task has one standby; yours: {standby}"


@pytest.mark.points(5, task=3)
def test_pairs(assigned, instance, most_shared):
    """Eight tasks with standbys on eight instances: no two tasks share two instances"""
    for first_id in range(1, 30):
        instances = [instance() for _ in range(8)]
        assigned(8, *instances, standby=1, first_id=first_id)
        assert most_shared(instances) == 1, (
            "two tasks that share an instance do not share another one, if there are other pairs: note the pairs"
        )


@pytest.mark.points(5, task=3)
def test_more_copies_than_pairs(assigned, instance):
    """A task that makes no new pair anywhere goes to the cheapest of all instances"""
    for first_id in range(1, 60, 4):
        instances = [instance() for _ in range(4)]
        assigned(6, *instances, standby=2, first_id=first_id)
        found = sorted(task.partition for state in instances for task in state.assigned_tasks)
        assert found == sorted([*range(6)] * 3), f"each task is on three of four instances; yours: {found}"
