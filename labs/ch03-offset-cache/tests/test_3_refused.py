"""Task 3: the log has refused a commit."""

import pytest


@pytest.mark.points(10, task=3)
def test_what_was_before_stays(cache, zero):
    """7 is committed, 8 is refused"""
    cache.on_commit_append(cache.commit(7), 100)
    refused = cache.commit(8)
    cache.fail_commit(refused)
    assert cache.number() == 7, f"8 is not in the log, 7 is: 7, not {cache.number()}"
    assert not cache.is_pending(zero), "the commit of 8 has ended, badly: it is under way no more"
    other = cache.commit(9)
    cache.fail_commit(refused)
    assert cache.is_pending(zero), "it was 8 that failed: 9 is still under way"
    cache.on_commit_append(other, 101)
    assert cache.number() == 9, f"9 is in the log now, not {cache.number()}"
