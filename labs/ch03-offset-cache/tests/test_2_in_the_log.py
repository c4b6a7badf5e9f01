"""Task 2: the one that lies furthest back in the log counts."""

import pytest


@pytest.mark.points(10, task=2)
def test_answers_in_any_order(cache):
    """7 is appended at 100, 8 at 101, and 8 is answered first"""
    first, second = cache.commit(7), cache.commit(8)
    cache.on_commit_append(second, 101)
    cache.on_commit_append(first, 100)
    assert cache.number() == 8, (
        f"8, at 101, lies further back in the log than 7: a broker that reads it anew finds 8, not {cache.number()}"
    )


@pytest.mark.points(8, task=2)
def test_a_group_goes_back(cache):
    """50, then 10"""
    cache.on_commit_append(cache.commit(50), 100)
    cache.on_commit_append(cache.commit(10), 101)
    assert cache.number() == 10, f"10 was committed last, for a group may go back: not {cache.number()}"


@pytest.mark.points(9, task=2)
def test_the_same_offset_twice(cache, zero):
    """Two commits that say the same"""
    first, second = cache.commit(7), cache.commit(7)
    cache.on_commit_append(first, 100)
    assert cache.is_pending(zero), "two commits say 7, and each has an end of its own: the second is still under way"
    cache.on_commit_append(second, 101)
    assert not cache.is_pending(zero), "both have ended"
    cache.on_commit_append(cache.commit(9), 102)
    assert cache.number() == 9, f"then 9 was committed, not {cache.number()}"


@pytest.mark.points(8, task=2)
def test_what_is_not_pending(cache):
    """An append of which nothing is known"""
    commit = cache.commit(7)
    cache.on_commit_append(commit, 100)
    cache.on_commit_append(commit, 105)
    cache.on_commit_append(cache.commit(8), 103)
    assert cache.number() == 8, (
        f"the commit of 7 had ended at 100, so that 105 says nothing; 8, at 103, is newer. You have {cache.number()}"
    )
