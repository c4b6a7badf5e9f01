"""Task 4: deleted, and expired."""

import pytest


@pytest.mark.points(7, task=4)
def test_deleted(cache, zero, one):
    """t-0 is deleted, twice; t-1 stays"""
    cache.on_commit_append(cache.commit(7), 100)
    cache.on_commit_append(cache.commit(8, one), 101)
    removed = {str(partition): each.offset for partition, each in cache.remove([zero]).items()}
    assert removed == {"t-0": 7}, f"committed offsets are returned for their tombstones: t-0 at 7, not {removed}"
    assert (cache.number(), cache.number(one)) == (None, 8), "t-0 is deleted, t-1 is still at 8"
    assert cache.remove([zero]) == {}, "nothing is committed for t-0: no tombstone, and no error"
    cache.on_commit_append(cache.commit(9), 102)
    removed = sorted(str(partition) for partition in cache.remove([zero, one]))
    assert removed == ["t-0", "t-1"], f"both partitions are deleted: a tombstone for each, not only for {removed}"
    assert cache.is_empty, "both partitions are deleted: nothing is left"


@pytest.mark.points(8, task=4)
def test_deleted_while_pending(cache, zero):
    """The topic is deleted before the append completes"""
    commit = cache.commit(7)
    assert cache.remove([zero]) == {}, "nothing was committed yet"
    cache.on_commit_append(commit, 100)
    assert cache.number() is None, f"7 was deleted while it was pending, and stays deleted; you return {cache.number()}"
    assert cache.is_empty, "nothing is committed, nothing is pending"
    deleted = cache.commit(7)
    cache.remove([zero])
    cache.commit(7)
    cache.on_commit_append(deleted, 101)
    assert cache.is_pending(zero), "the deleted commit of 7 has ended, not the new one, which is equal but another one"
    assert cache.number() is None, f"the new commit of 7 is not in the log yet: None, not {cache.number()}"


@pytest.mark.points(10, task=4)
def test_expired(cache, zero, one):
    """Both are old, but a new commit of t-1 is pending"""
    cache.on_commit_append(cache.commit(7), 100)
    cache.on_commit_append(cache.commit(8, one), 101)
    anew = cache.commit(9, one)
    kept = cache.remove_if(lambda _partition, offset: offset.offset > 8)
    assert kept == {}, "neither 7 nor 8 has expired: nothing is removed"
    removed = [str(partition) for partition in cache.remove_if(lambda _partition, _offset: True)]
    assert "t-1" not in removed, "a new commit of t-1 is pending: its offset does not expire now"
    assert removed == ["t-0"], f"t-0 has expired, and is returned for its tombstone; yours: {removed}"
    assert (cache.number(zero), cache.number(one)) == (None, 8), "t-0 is removed, t-1 is at 8 until 9 is in the log"
    cache.on_commit_append(anew, 102)
    assert cache.number(one) == 9, f"9 is in the log, not {cache.number(one)}"
    cache.on_commit_append(cache.commit(8), 103)
    removed = sorted(str(partition) for partition in cache.remove_if(lambda _partition, _offset: True))
    assert removed == ["t-0", "t-1"], f"both have expired and neither is pending: both are removed, not {removed}"
    assert cache.is_empty, "both have expired: nothing is left"
