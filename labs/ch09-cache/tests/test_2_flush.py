"""Task 2: what leaves the cache."""

import pytest

from kafka_lite.streams.record_cache.named_cache import LRUCacheEntry


def evict(cache):
    """Evict; what it raises for a missing entry is explained."""
    before, dirty = len(cache), list(cache._dirty)
    try:
        cache.evict()
    except (KeyError, StopIteration, IndexError) as error:
        pytest.fail(
            f"evict raised {type(error).__name__}({error}) with {before} entries, of which {dirty} were dirty. Without "
            "entries it does nothing; a dirty key leaves _entries and _dirty, both once, before the others are flushed"
        )


@pytest.mark.points(4, task=2)
def test_the_last_value(cache, dirty, flushed):
    """Five puts, two records"""
    for key, value in ((b"a", b"1"), (b"b", b"1"), (b"a", b"2"), (b"b", b"2"), (b"a", b"3")):
        cache.put(key, dirty(value))
    cache.flush()
    assert len(flushed) == 1, f"the listener is called once for all entries, not {len(flushed)} times"
    assert sorted(flushed[0]) == [(b"a", b"3"), (b"b", b"2")], f"only the last value of a key; yours: {flushed[0]}"
    assert flushed[0] == [(b"b", b"2"), (b"a", b"3")], (
        f"in the order of the last puts: a was put after b, so it comes after b; yours: {flushed[0]}"
    )


@pytest.mark.points(2, task=2)
def test_a_get_before_the_flush(cache, dirty, flushed):
    """The order of use is another one"""
    for key in (b"a", b"b"):
        cache.put(key, dirty(b"1"))
    cache.get(b"a")
    cache.flush()
    assert flushed == [[(b"a", b"1"), (b"b", b"1")]], (
        f"entries are flushed in the order of their puts: a get changes what is evicted, not that; yours: {flushed}"
    )


@pytest.mark.points(3, task=2)
def test_flushed_is_clean(cache, dirty, flushed):
    """The second flush has nothing to do"""
    cache.put(b"a", dirty(b"1"))
    cache.flush()
    entry = cache.get(b"a")
    assert entry is not None, "a flushed entry stays in the cache: only evict removes one"
    assert not entry.is_dirty, "a flushed entry is clean"
    cache.flush()
    assert flushed == [[(b"a", b"1")]], f"a clean entry is not flushed again, and no entries are no call; {flushed}"
    assert cache.flushes == 2, f"flushes counts both flushes, the one that found nothing, too: 2, not {cache.flushes}"


@pytest.mark.points(2, task=2)
def test_an_evicted_deletion(cache, dirty, flushed):
    """It is a change like any other"""
    cache.put(b"a", dirty(None))
    cache.put(b"b", dirty(b"1"))
    evict(cache)
    assert flushed == [[(b"a", None), (b"b", b"1")]], (
        f"a deletion that is evicted must reach the store, too: a, then b; yours flushed {flushed}"
    )


@pytest.mark.points(3, task=2)
def test_deletions(cache, dirty, flushed):
    """They are passed on, then dropped"""
    cache.put(b"a", dirty(None))
    cache.flush()
    assert flushed == [[(b"a", None)]], f"a deletion is a change: the store must get it; yours: {flushed}"
    assert cache.get(b"a") is None, "a deletion that the store has is dropped: it would only take room"
    assert cache.size_bytes == 0, f"and its size leaves the sum as well: 0 bytes, not {cache.size_bytes}"
    for key in (b"a", b"b", b"c"):
        cache.put(key, dirty(None))
    cache.flush()
    assert len(cache) == 0, f"three deletions were flushed, and all three are dropped; {len(cache)} are left"


@pytest.mark.points(5, task=2)
def test_evict(cache, dirty, flushed):
    """The least recently used entry goes"""
    cache.put(b"a", LRUCacheEntry(b"1"))
    cache.put(b"b", dirty(b"1"))
    cache.put(b"c", dirty(b"1"))
    evict(cache)
    assert cache.get(b"a") is None, "the least recently used entry is evicted: a"
    assert flushed == [], f"a was clean, the store has it: nothing is flushed; yours: {flushed}"
    evict(cache)
    assert cache.get(b"b") is None, "the least recently used entry is evicted: b"
    assert flushed == [[(b"b", b"1"), (b"c", b"1")]], (
        f"a dirty entry that is evicted takes all others with it: b, then c, in one call; yours: {flushed}"
    )
    cache.flush()
    assert len(flushed) == 1, "c went with b, so it is clean by now"


@pytest.mark.points(2, task=2)
def test_evict_nothing(cache, flushed):
    """An empty cache"""
    evict(cache)
    assert flushed == [], f"an empty cache has nothing to evict and to pass on; yours passed on {flushed}"
    assert len(cache) == 0, f"an empty cache stays empty; yours has {len(cache)} entries"


@pytest.mark.points(3, task=2)
def test_the_listener_puts(cache, dirty, flushed):
    """What it passes on may come back"""
    cache.put(b"a", dirty(None))
    seen = []

    def put_again(entries):
        flushed.append([(entry.key, entry.new_value) for entry in entries])
        seen.append(b"a" in cache._entries)
        if len(flushed) == 1:
            cache.put(b"a", dirty(b"2"))

    cache.set_listener(put_again)
    cache.flush()
    entry = cache.get(b"a")
    assert entry == dirty(b"2"), (
        f"the listener has put a again: entries become clean before it is called, and only the deletion that was "
        f"flushed is dropped; yours: {entry}"
    )
    cache.flush()
    assert flushed == [[(b"a", None)], [(b"a", b"2")]], f"what the listener puts is flushed the next time; {flushed}"
    assert seen[0], "a deletion is removed after the listener has returned: until then a get must find it"


@pytest.mark.points(2, task=2)
def test_the_listener_puts_what_is_evicted(cache, dirty, flushed):
    """The new entry stays"""
    cache.put(b"a", dirty(b"1"))

    def put_again(entries):
        flushed.append([(entry.key, entry.new_value) for entry in entries])
        if len(flushed) == 1:
            cache.put(b"a", dirty(b"2"))

    cache.set_listener(put_again)
    evict(cache)
    assert cache.get(b"a") == dirty(b"2"), (
        "the evicted entry leaves before the listener is called: what the listener puts for its key is a new change"
    )
    cache.flush()
    assert flushed == [[(b"a", b"1")], [(b"a", b"2")]], f"and that change is flushed the next time; yours: {flushed}"
