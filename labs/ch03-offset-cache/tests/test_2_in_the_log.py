"""Task 2: the last one in the log counts."""

import pytest


@pytest.mark.points(10, task=2)
def test_responses_in_any_order(cache, zero):
    """7 is appended at 100, 8 at 101, and 8 completes first"""
    first, second = cache.commit(7), cache.commit(8)
    cache.on_commit_append(second, 101)
    assert cache.is_pending(zero), "only 8 has completed: the commit of 7 is still pending"
    cache.on_commit_append(first, 100)
    assert cache.number() == 8, (
        f"8, at 101, comes later in the log than 7: a broker that loads the log finds 8, not {cache.number()}"
    )


@pytest.mark.points(3, task=2)
def test_several_partitions(cache, zero, one):
    """One commit of t-0 and t-1, while t-0 has a later one; and one that fails for both"""
    both = cache.commit(7) | cache.commit(17, one)
    cache.on_commit_append(cache.commit(8), 101)
    cache.on_commit_append(both, 100)
    found = cache.number(), cache.number(one)
    assert found == (8, 17), f"of t-0 the later commit counts, and t-1 is at 17 all the same: (8, 17), not {found}"
    both = cache.commit(9) | cache.commit(19, one)
    cache.fail_commit(both)
    pending = [str(each) for each in (zero, one) if cache.is_pending(each)]
    assert pending == [], f"the commit of both partitions has failed, {pending} must not be pending any more"


@pytest.mark.points(5, task=2)
def test_a_group_goes_back(cache):
    """50, then 10"""
    cache.on_commit_append(cache.commit(50), 100)
    cache.on_commit_append(cache.commit(10), 101)
    assert cache.number() == 10, f"10 was committed last, and a group may go back: not {cache.number()}"


@pytest.mark.points(9, task=2)
def test_the_same_offset_twice(cache, zero):
    """Two commits of the same offset"""
    first, second = cache.commit(7), cache.commit(7)
    cache.on_commit_append(first, 100)
    assert cache.is_pending(zero), "two commits of 7, and each completes separately: the second one is still pending"
    cache.on_commit_append(second, 101)
    assert not cache.is_pending(zero), "both have completed"
    cache.on_commit_append(cache.commit(9), 102)
    assert cache.number() == 9, f"then 9 was committed, not {cache.number()}"


@pytest.mark.points(8, task=2)
def test_an_unknown_append(cache):
    """An append without a pending commit"""
    commit = cache.commit(7)
    cache.on_commit_append(commit, 100)
    cache.on_commit_append(commit, 105)
    cache.on_commit_append(cache.commit(8), 103)
    assert cache.number() == 8, (
        f"the commit of 7 completed at 100, so 105 changes nothing; 8, at 103, is newer. You return {cache.number()}"
    )
