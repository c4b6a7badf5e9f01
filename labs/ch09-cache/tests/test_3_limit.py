"""Task 3: the limit of a thread."""

import pytest

from kafka_lite.streams.record_cache.named_cache import LRUCacheEntry, NamedCache


@pytest.mark.points(4, task=3)
def test_full(thread_cache, dirty, flushed):
    """Room for three entries"""
    cache = thread_cache(3)
    for key in (b"a", b"b", b"c"):
        cache.put("counts", key, dirty(b"1"))
    assert flushed == [], f"three entries are exactly the limit, so nothing is evicted; yours flushed {flushed}"
    cache.get("counts", b"a")
    cache.put("counts", b"d", dirty(b"1"))
    assert (cache.puts, cache.evicts) == (4, 1), (
        f"four puts, of which the last evicted one entry: puts 4, evicts 1; yours: {cache.puts}, {cache.evicts}"
    )
    found = [key for key, _ in cache.all("counts")]
    assert found == [b"a", b"c", b"d"], f"b is the least recently used one: a, c and d stay; yours: {found}"


@pytest.mark.points(4, task=3)
def test_a_large_entry(thread_cache, dirty):
    """One eviction may not be enough"""
    cache = thread_cache(3)
    for key in (b"a", b"b", b"c"):
        cache.put("counts", key, dirty(b"1"))
    cache.put("counts", b"d", dirty(b"1" * 60))
    assert cache.size_bytes <= 3 * 47, (
        f"evict until the bytes are within the limit of 141; yours has {cache.size_bytes} bytes"
    )
    found = [key for key, _ in cache.all("counts")]
    assert found == [b"d"], f"d alone has 106 bytes, so all others must go, and d may stay; yours: {found}"
    cache.put("counts", b"e", dirty(b"1" * 600))
    assert cache.all("counts") == [], "an entry that is larger than the limit is evicted itself, at once"


@pytest.mark.points(4, task=3)
def test_another_store(thread_cache, dirty):
    """It keeps what it has"""
    cache = thread_cache(2)
    cache.put("other", b"x", LRUCacheEntry(b"1"))
    for key in (b"a", b"b", b"c"):
        cache.put("counts", key, dirty(b"1"))
    assert cache.get("other", b"x") is not None, "a put evicts entries of its own store; the other store keeps x"
    found = [key for key, _ in cache.all("counts")]
    assert found == [b"c"], f"the limit is that of all stores together, so counts has room for c only; yours: {found}"


@pytest.mark.points(3, task=3)
def test_another_store_has_it_all(thread_cache, dirty, monkeypatch):
    """Nothing but the new entry can be evicted"""
    cache = thread_cache(2)
    for key in (b"x", b"y"):
        cache.put("counts", key, LRUCacheEntry(b"1"))
    cache.put("other", b"a", LRUCacheEntry(b"1"))
    found = [key for key, _ in cache.all("counts")]
    assert found == [b"x", b"y"], f"a put evicts entries of its own store; counts keeps x and y, yours {found}"
    assert cache.all("other") == [], "counts fills the limit alone: there is no room for a, which is evicted at once"
    evict = NamedCache.evict

    def evict_something(store):
        assert len(store), (
            f"{store.name} is empty, but all stores together have too many bytes, since another one is evicting: end "
            "the loop when the store has no entry left"
        )
        evict(store)

    monkeypatch.setattr(NamedCache, "evict", evict_something)
    cache = thread_cache(2)
    cache.set_dirty_entry_flush_listener(
        "counts", lambda entries: [cache.put("other", each.key, LRUCacheEntry(b"1")) for each in entries]
    )
    for key, value in ((b"a", b"1"), (b"b", b"1" * 600)):
        cache.put("counts", key, dirty(value))
    assert cache.size_bytes <= 2 * 47, (
        f"b is larger than the limit of 94 bytes, and is evicted; {cache.size_bytes} bytes"
    )
