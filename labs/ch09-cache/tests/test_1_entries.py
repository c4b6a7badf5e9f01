"""Task 1: entries in the order of their use."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.streams.record_cache.named_cache import LRUCacheEntry


def in_order(cache):
    """The keys from the least to the most recently used one."""
    return b"".join(cache._entries)


@pytest.mark.points(5, task=1)
def test_get(cache, dirty):
    """An entry, and none"""
    cache.put(b"a", dirty(b"1"))
    assert cache.get(b"a") == dirty(b"1"), "get returns the entry of the key"
    assert cache.get(b"b") is None, "get returns None for a key without an entry"
    assert (cache.hits, cache.misses) == (1, 1), (
        f"one get found an entry and one did not: hits 1, misses 1; yours: {cache.hits}, {cache.misses}"
    )
    cache.put(b"a", dirty(None))
    found = cache.get(b"a")
    assert found == dirty(None), f"a deletion is an entry, too: get returns it; yours returns {found}"
    assert cache.hits == 2, f"a deletion is an entry, too: that was a hit, the second one; yours has {cache.hits}"


@pytest.mark.points(5, task=1)
def test_the_order_of_use(cache, dirty):
    """A get and a put both use an entry"""
    for key in (b"a", b"b", b"c"):
        cache.put(key, dirty(b"1"))
    cache.get(b"a")
    assert in_order(cache) == b"bca", f"a get uses the entry: b, c, a; yours: {in_order(cache)}"
    cache.put(b"b", dirty(b"2"))
    assert in_order(cache) == b"cab", f"a put uses the entry, even if it had one: c, a, b; yours: {in_order(cache)}"


@pytest.mark.points(4, task=1)
def test_the_size(cache, dirty):
    """It counts what is there now"""
    cache.put(b"a", dirty(b"1"))
    one = len(b"a") + 24 + len(b"1") + 21
    assert cache.size_bytes == one, f"key, node, value and entry: {one} bytes; yours: {cache.size_bytes}"
    cache.put(b"a", dirty(b"22"))
    assert cache.size_bytes == one + 1, (
        f"the new entry takes the place of the old one, so it is one byte more, {one + 1}; yours: {cache.size_bytes}"
    )
    assert cache.overwrites == 1, f"the second put took the place of an entry: overwrites 1, not {cache.overwrites}"


@pytest.mark.points(3, task=1)
def test_a_clean_entry_hides_nothing(cache, dirty):
    """Otherwise a change would be lost"""
    cache.put(b"a", dirty(b"1"))
    rule = "a clean entry must not replace a dirty one: the store would never get the change"
    must_raise(RuntimeError, rule, cache.put, b"a", LRUCacheEntry(b"0"))
    assert cache.get(b"a") == dirty(b"1"), "the dirty entry stays"
    try:
        for value in (b"1", b"2"):
            cache.put(b"b", LRUCacheEntry(value))
    except RuntimeError as error:
        pytest.fail(f"a clean entry may replace a clean one: it hides no change; yours raises {error}")
    assert list(cache._dirty) == [b"a"], f"b is clean, so only a is to be flushed; yours has {list(cache._dirty)}"


@pytest.mark.points(3, task=1)
def test_a_range_after_puts(cache, dirty):
    """Keys in order, also those that came later"""
    for key in (b"c", b"a"):
        cache.put(key, dirty(b"1"))
    found = [key for key, _ in cache.all()]
    assert found == [b"a", b"c"], f"all() has the keys in their order, not in that of the puts: a, c; yours: {found}"
    cache.put(b"b", dirty(b"1"))
    cache.put(b"c", dirty(b"2"))
    found = [key for key, _ in cache.all()]
    assert found == [b"a", b"b", b"c"], (
        f"once sorted, the keys are kept in order: a new key goes into its place, an old one has one; yours: {found}"
    )
