"""Task 4: a store behind its cache, and what that saves."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from kafka_lite.streams.state.caching.named_cache import LRUCacheEntry


@pytest.mark.points(6, task=4)
def test_flush_into_the_store(opened):
    """The inner store, and the listener with both values"""
    opened.inner.put(b"a", b"1")
    opened.put(b"a", b"2")
    opened.put(b"a", b"3")
    opened.put(b"b", b"1")
    assert opened.inner.get(b"a") == b"1", "nothing reaches the inner store before a flush"
    opened.store.flush()
    assert opened.inner.get(b"a") == b"3", "the inner store gets the last value"
    assert [call[:3] for call in opened.heard] == [(b"a", b"3", b"1"), (b"b", b"1", None)], (
        f"the old value is what the inner store had before: 1 for a, None for b; your listener got {opened.heard}"
    )


@pytest.mark.points(4, task=4)
def test_the_time_of_a_change(opened):
    """That of its own record"""
    for at, key in enumerate((b"a", b"b", b"a"), 1000):
        opened.put(key, b"1", at)
    opened.store.flush()
    found = [(key, time) for key, _, _, time in opened.heard]
    assert found == [(b"b", 1001), (b"a", 1002)], (
        f"a change has the time of its own record, not of the one that is current; yours: {found}"
    )
    assert opened.context.record_context.timestamp == 1002, "afterwards the context is as it was"


@pytest.mark.points(5, task=4)
def test_get(opened):
    """From the cache, else from the store"""
    opened.inner.put(b"a", b"1")
    assert opened.store.get(b"a") == b"1", "what the cache does not have, the inner store may have"
    entry = opened.context.cache.get("0_0-counts", b"a")
    assert entry == LRUCacheEntry(b"1"), f"what was read is kept in the cache, as a clean entry; yours: {entry}"
    opened.put(b"a", None)
    assert opened.store.get(b"a") is None, "the cache has a deletion: the value of the inner store is no longer true"
    assert opened.store.get(b"none") is None, "neither the cache nor the inner store has the key: return None"
    assert opened.context.cache.get("0_0-counts", b"none") is None, "a key without a value gets no entry"


@pytest.mark.points(4, task=4)
def test_get_of_another_thread(opened):
    """A query must not evict"""
    opened.inner.put(b"a", b"1")
    with ThreadPoolExecutor(1) as other:
        found = other.submit(opened.store.get, b"a").result()
    assert found == b"1", "other threads may read"
    assert opened.context.cache.get("0_0-counts", b"a") is None, (
        "a query of another thread puts nothing into the cache: it might evict, and flush in the wrong thread"
    )


@pytest.mark.points(5, task=4)
def test_what_it_saves(saved):
    """Records in the changelog, by the size of the cache"""
    keys = [f"k{number % 20}" for number in range(500)]
    every = [(f"k{number % 20}", number // 20 + 1) for number in range(500)]
    assert saved(keys, 0) == every, "without a cache, every change is in the changelog"
    found = saved(keys, 1_000_000)
    assert found == every[-20:], f"with room for all, 20 records: the last count of each key; yours has {len(found)}"
    found = saved(keys, 10 * 60)
    assert found == every, (
        f"half of the keys have room, but each comes back after it was evicted: nothing is saved; yours has "
        f"{len(found)} records instead of 500"
    )
    found = saved(sorted(keys), 10 * 60)
    assert len(found) < 25, f"the same cache, keys that come together: hardly more than 20; yours has {len(found)}"
    assert dict(found) == dict.fromkeys(keys, 25), f"the last record of each key has its count, 25; yours: {found}"
