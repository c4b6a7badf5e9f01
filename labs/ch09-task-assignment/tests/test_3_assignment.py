"""Task 3: which instance gets which task."""

import random
from itertools import combinations

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.streams.errors import TaskAssignmentError
from kafka_lite.streams.task_id import TaskId


@pytest.mark.points(6, task=3)
def test_every_task_once(assigned, instance):
    """A hundred random applications, whose threads get equal shares"""
    chance = random.Random(3)
    for _ in range(100):
        count, threads = chance.randint(0, 12), [chance.randint(1, 3) for _ in range(chance.randint(1, 5))]
        found = assigned(count, *(instance(threads=each) for each in threads))
        assert sorted(task for each in found for task in each) == list(range(count)), f"each task once; yours: {found}"
        loads = [len(each) / of for each, of in zip(found, threads, strict=True)]
        assert max(loads) - min(loads) <= 1, f"threads {threads} have shares that differ by at most 1; yours: {found}"


@pytest.mark.points(2, task=3)
def test_no_instance(assigned):
    """There must be one"""
    must_raise(TaskAssignmentError, "there is a task, and no instance that could run it", assigned, 1)


@pytest.mark.points(6, task=3)
def test_where_the_state_is(assigned, instance):
    """Active before kept, kept before empty, balance before all"""
    found = assigned(1, instance(), instance(kept=[0]), instance())
    assert found == [set(), {0}, set()], f"a task goes where its state is kept; yours: {found}"
    found = assigned(1, instance(kept=[0]), instance(active=[0]))
    assert found == [set(), {0}], f"a task goes where it was active; yours: {found}"
    found = assigned(4, instance(active=range(4)), instance())
    assert sorted(map(len, found)) == [2, 2], f"a new instance gets its share, whatever is where; yours: {found}"


@pytest.mark.points(5, task=3)
def test_nothing_has_changed(assigned, instance):
    """Balanced already: every task stays"""
    for before in ([{0, 1, 2}, {3, 4, 5}], [{0, 1, 2, 3}, {4, 5}], [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}]):
        found = assigned(sum(map(len, before)), *(instance(active=each) for each in before))
        assert found == before, f"nothing has changed, and {before} is balanced, so every task stays; yours: {found}"
    before = [{0, 1, 2, 3, 4}, {5}]
    found = assigned(6, *(instance(active=each) for each in before))
    assert sorted(map(len, found)) == [3, 3], f"{before} is not balanced, so tasks move; yours: {found}"
    found = assigned(6, instance(active=[0, 1], kept=[2, 3]), instance(active=[4, 5]))
    assert found == [{0, 1, 2, 3}, {4, 5}], (
        f"an instance had the tasks whose state it kept, too, so nothing has changed and every task stays; {found}"
    )


@pytest.mark.points(4, task=3)
def test_is_it_unchanged_and_balanced(assignor, instance):
    """Exactly these tasks, and shares between half of the average and twice"""

    def kept(count, *befores):
        return assignor(count, *(instance(**each) for each in befores))._is_unchanged_and_balanced()

    one, other = {"active": [0, 1]}, {"active": [2, 3]}
    assert kept(4, one, other), "each instance had two of the four tasks: unchanged, and balanced"
    assert kept(4, one, {"kept": [2, 3]}), "tasks whose state was kept are previous tasks, too"
    assert not kept(5, one, other), "one task is new: nobody had it before"
    assert not kept(3, one, other), "a task that there was is gone"
    assert not kept(4, {"active": [0, 1], "kept": [2]}, other), "two instances had the same task: not exactly these"
    assert not kept(4, one, {"active": [2, 7]}), "as many tasks as before, but not the same"
    assert not kept(10, {"active": range(6)}, {"active": [6, 7]}, {"active": [8, 9]}), (
        "of ten tasks on three instances the average is 3, a whole number: 6 is twice that, and too many"
    )
    assert not kept(6, {"active": range(5)}, {"active": [5]}), "the average is 3, its half 1: 1 is not more, so too few"


@pytest.mark.points(4, task=3)
def test_a_standby_is_elsewhere(assigned, instance):
    """A copy of the state on another machine"""
    instances = [instance() for _ in range(3)]
    assigned(6, *instances, standby=1)
    assert all(not state.active_tasks & state.standby_tasks for state in instances), (
        "an instance that has the task already is no candidate: a standby beside its task helps nobody"
    )
    standby = sorted(task.partition for state in instances for task in state.standby_tasks)
    assert standby == [0, 1, 2, 3, 4, 5], f"each task has one standby; yours: {standby}"


@pytest.mark.points(4, task=3)
def test_pairs(assigned, instance, most_shared):
    """Eight tasks with standbys on eight instances: no two tasks share two instances"""
    for first_id in range(1, 30):
        instances = [instance() for _ in range(8)]
        assigned(8, *instances, standby=1, first_id=first_id)
        assert most_shared(instances) == 1, (
            "two tasks that share an instance do not share another one, if there are other pairs: note the pairs"
        )


@pytest.mark.points(4, task=3)
def test_more_copies_than_pairs(assigned, instance):
    """A task that makes no new pair anywhere goes to the cheapest of all instances"""
    for first_id in range(1, 60, 4):
        instances = [instance() for _ in range(4)]
        assigned(6, *instances, standby=2, first_id=first_id)
        found = sorted(task.partition for state in instances for task in state.assigned_tasks)
        assert found == sorted([*range(6)] * 3), f"each task is on three of four instances; yours: {found}"


@pytest.mark.points(3, task=3)
def test_the_cheapest(assignor, instance):
    """The least addition cost, then the least cost; None if all have the task"""
    one, other = instance(threads=2), instance(active=[1], threads=2)
    one.assign(TaskId(0, 0), active=True)
    other.assign(TaskId(0, 1), active=True)
    found = assignor(3, one, other)._cheapest(TaskId(0, 2), check_pairs=False)
    assert found is other, "a task costs 0.5 on both, which have the costs 0.5 and 0.1: the second has the least cost"
    both = assignor(3, one, other)
    for state in (one, other):
        state.assign(TaskId(0, 2), active=False)
    assert both._cheapest(TaskId(0, 2), check_pairs=False) is None, "both have the task already: None"


@pytest.mark.points(2, task=3)
def test_a_new_pair(assignor, instance):
    """With one of the others, not with all"""
    a, b, c = (TaskId(0, number) for number in range(3))
    pairs = assignor(3, instance())
    pairs._pairs.add(frozenset((a, b)))
    found = [pairs._has_new_pair(a, [b]), pairs._has_new_pair(b, [a]), pairs._has_new_pair(a, [b, c])]
    assert found == [False, False, True], (
        f"a and b are a pair already, in either order; with c, a is a new one, and one is enough; yours: {found}"
    )


@pytest.mark.points(3, task=3)
def test_which_pairs_are_noted(assignor, instance):
    """All that were made, of active and standby tasks"""
    instances = [instance() for _ in range(3)]
    made = assignor(6, *instances)
    for active in (True, False):
        made._assign_all(active)
    wanted = {frozenset(pair) for state in instances for pair in combinations(state.assigned_tasks, 2)}
    missing, other = wanted - made._pairs, made._pairs - wanted
    assert not missing, f"a task makes a pair with every active and standby task of its client, also earlier; {missing}"
    assert not other, f"a pair is a frozenset of two tasks that share a client; yours notes others: {other}"
    idle, cheap = instance(), instance(active=[0], threads=2)
    cheap.assign(TaskId(0, 1), active=True)
    made = assignor(2, idle, cheap)
    made._pairs.add(frozenset((TaskId(0, 0), TaskId(0, 1))))
    made._tasks = [TaskId(0, 0)]
    made._assign_all(active=True)
    assert cheap.active_tasks == {TaskId(0, 0), TaskId(0, 1)}, (
        "the only pair of two tasks has been made, so pairs do not count any more: the task goes to the cheapest "
        "client, where it costs 0.1, not to the idle one, where it costs 0.5"
    )


@pytest.mark.points(2, task=3)
def test_the_order_of_the_tasks(assignor, instance):
    """Shuffled, but the same for every member of the group"""

    def order():
        order, state = [], instance()
        assign = state.assign
        state.assign = lambda task, active: (order.append(task.partition), assign(task, active))
        assignor(20, state)._assign_all(active=True)
        return order

    first, again = order(), order()
    assert first != sorted(first), "self._random shuffles the tasks: they are not assigned in their own order"
    assert first == again, "all members compute the same: only self._random, which has their seed, may shuffle"
