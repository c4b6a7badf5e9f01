"""Task 1: pending is not committed."""

import pytest


@pytest.mark.points(8, task=1)
def test_nobody_reads_what_may_be_lost(cache, zero, one):
    """A commit is under way"""
    assert cache.number() is None, "nothing was committed: None"
    cache.commit(7)
    assert cache.number() is None, "7 is not in the log yet: were the broker to die now, nobody would know of it"
    assert cache.is_pending(zero), "a commit of t-0 is under way"
    assert not cache.is_pending(one), "of t-1 there is none"
    assert not cache.is_empty, "a group with a commit under way must not be thrown away"


@pytest.mark.points(7, task=1)
def test_two_at_once(cache, zero):
    """A second commit before the first has ended"""
    first, second = cache.commit(7), cache.commit(8)
    cache.on_commit_append(first, 100)
    assert cache.number() == 7, f"both are under way, and the first is in the log now: 7, not {cache.number()}"
    assert cache.is_pending(zero), "the second one is still under way"
    cache.on_commit_append(second, 101)
    assert cache.number() == 8, f"the second is in the log: 8, not {cache.number()}"
    assert not cache.is_pending(zero), "both have ended"
