"""Task 3: the append of a commit has failed."""

import pytest


@pytest.mark.points(10, task=3)
def test_the_previous_offset_stays(cache, zero):
    """7 is committed, 8 fails"""
    cache.on_commit_append(cache.commit(7), 100)
    refused = cache.commit(8)
    cache.fail_commit(refused)
    assert cache.number() == 7, f"8 is not in the log, 7 is: 7, not {cache.number()}"
    assert not cache.is_pending(zero), "the commit of 8 has failed: it is no longer pending"
    other = cache.commit(9)
    cache.fail_commit(refused)
    assert cache.is_pending(zero), "8 failed, not 9: 9 is still pending"
    cache.on_commit_append(other, 101)
    assert cache.number() == 9, f"9 is in the log now, not {cache.number()}"
