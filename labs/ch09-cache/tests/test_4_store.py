"""Task 4: a store behind its cache, and what that saves."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from kafka_lite.streams.record_cache.named_cache import LRUCacheEntry


def get(opened, key):
    """The store's value; what the cache refuses is explained."""
    try:
        return opened.store.get(key)
    except RuntimeError as error:
        pytest.fail(
            f"the cache has an entry for {key!r}, a deletion, and it decides: return None, do not ask the inner store, "
            f"and put nothing over it; yours raised RuntimeError ({error})"
        )


@pytest.mark.points(5, task=4)
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
    opened.put(b"b", None)
    opened.store.flush()
    assert opened.inner.get(b"b") is None, "a deletion is a change: the inner store must get it, too"
    assert opened.heard[-1][:3] == (b"b", None, b"1"), f"and so must the listener; yours got {opened.heard[2:]}"


@pytest.mark.points(2, task=4)
def test_the_listener_looks_it_up(opened):
    """The inner store is changed first"""
    found = []
    opened.store.set_flush_listener(lambda key, *_: found.append(opened.inner.get(key)))
    opened.put(b"a", b"1")
    opened.store.flush()
    assert found == [b"1"], (
        f"the inner store gets the change before the listener is called, which may look it up: 1; yours has {found}"
    )


@pytest.mark.points(2, task=4)
def test_no_listener(opened):
    """Nobody below the store"""
    opened.store._listener = None
    opened.put(b"a", b"1")
    try:
        opened.store.flush()
    except TypeError as error:
        pytest.fail(f"a store may have no listener: then the inner store gets the change, and no more; {error}")
    assert opened.inner.get(b"a") == b"1", "also without a listener the inner store gets the change"


@pytest.mark.points(3, task=4)
def test_the_time_of_a_change(opened):
    """That of its own record"""
    logged, put = [], opened.inner.put

    def logging_put(key, value):
        logged.append((key, opened.context.record_context.timestamp))
        put(key, value)

    opened.inner.put = logging_put
    for at, key in enumerate((b"a", b"b", b"a"), 1000):
        opened.put(key, b"1", at)
    opened.store.flush()
    found = [(key, time) for key, _, _, time in opened.heard]
    assert found == [(b"b", 1001), (b"a", 1002)], (
        f"a change has the time of its own record, not of the one that is current; yours: {found}"
    )
    assert logged == found, (
        f"also for the inner store, which writes the changelog: set the context around its put, too; yours: {logged}"
    )
    assert opened.context.record_context.timestamp == 1002, "afterwards the context is as it was"


@pytest.mark.points(4, task=4)
def test_get(opened):
    """From the cache, else from the store"""
    opened.inner.put(b"a", b"1")
    assert opened.store.get(b"a") == b"1", "what the cache does not have, the inner store may have"
    entry = opened.context.cache.get("0_0-counts", b"a")
    assert entry == LRUCacheEntry(b"1"), f"what was read is kept in the cache, as a clean entry; yours: {entry}"
    opened.put(b"a", None)
    assert get(opened, b"a") is None, "the cache has a deletion: the value of the inner store is no longer true"
    assert opened.store.get(b"none") is None, "neither the cache nor the inner store has the key: return None"
    assert opened.context.cache.get("0_0-counts", b"none") is None, "a key without a value gets no entry"
    opened.inner.put(b"empty", b"")
    assert opened.store.get(b"empty") == b"", "an empty value is a value: return it"
    entry = opened.context.cache.get("0_0-counts", b"empty")
    assert entry == LRUCacheEntry(b""), f"and keep it in the cache: only None is no value; yours: {entry}"


@pytest.mark.points(4, task=4)
def test_get_of_another_thread(opened):
    """A query must not evict"""
    opened.inner.put(b"a", b"1")
    opened.put(b"b", b"2")
    with ThreadPoolExecutor(1) as other:
        found = [other.submit(opened.store.get, key).result() for key in (b"a", b"b")]
    assert found == [b"1", b"2"], f"other threads may read both, a in the store and b in the cache; yours: {found}"
    assert opened.context.cache.get("0_0-counts", b"a") is None, (
        "a query of another thread puts nothing into the cache: it might evict, and flush in the wrong thread"
    )


@pytest.mark.points(4, task=4)
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
