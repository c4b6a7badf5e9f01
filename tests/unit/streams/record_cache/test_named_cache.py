"""Record caches: what is evicted and when, and what stores with a cache log and pass on."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.streams.record_cache.named_cache import DirtyEntry, LRUCacheEntry, NamedCache
from kafka_lite.streams.record_cache.processor_record_context import ProcessorRecordContext
from kafka_lite.streams.record_cache.thread_cache import ThreadCache
from kafka_lite.streams.state.caching.caching_key_value_store import CachingKeyValueStore
from kafka_lite.streams.state.caching.caching_segmented_bytes_store import CachingSessionStore, CachingWindowStore
from kafka_lite.streams.state.in_memory_key_value_store import InMemoryKeyValueStore
from kafka_lite.streams.state.windowed.key_schema import KeySchema, SessionKeySchema, WindowStoreKeySchema
from kafka_lite.streams.state.windowed.segmented_bytes_store import InMemorySegmentedBytesStore

RECORD = ProcessorRecordContext(5, 1, 0, "topic")
SIZE = len(b"k") + 24 + len(b"v") + 21 + len("topic")
"""What an entry of one byte each counts for: Kafka's node and entry, and the name of the topic."""


class Flushed:
    """Remembers what was flushed, a list per call."""

    def __init__(self) -> None:
        self.calls: list[list[tuple[bytes, bytes | None]]] = []

    def __call__(self, entries: Sequence[DirtyEntry]) -> None:
        self.calls.append([(key, value) for key, value, _ in entries])


def dirty(value: bytes | None) -> LRUCacheEntry:
    return LRUCacheEntry(value, RECORD, is_dirty=True)


def cache_of(max_bytes: int) -> tuple[ThreadCache, Flushed]:
    cache, flushed = ThreadCache("test", max_bytes), Flushed()
    cache.set_dirty_entry_flush_listener("store", flushed)
    return cache, flushed


def test_an_entry_counts_what_kafkas_counts() -> None:
    cache = NamedCache("store")
    cache.put(b"k", dirty(b"v"))
    assert cache.size_bytes == SIZE
    cache.put(b"k", dirty(b"longer"))
    assert cache.size_bytes == SIZE + 5
    cache.put(b"k", dirty(None))
    assert cache.size_bytes == SIZE - 1
    cache.put(b"other", LRUCacheEntry(b"v"))
    assert cache.size_bytes == 2 * SIZE - 1 + 4 - len("topic")
    cache.close()
    assert (cache.size_bytes, len(cache)) == (0, 0)


def test_the_least_recently_used_entry_is_evicted() -> None:
    cache, flushed = cache_of(3 * SIZE)
    for key in (b"a", b"b", b"c"):
        cache.put("store", key, dirty(key))
    assert cache.get("store", b"a") is not None
    assert not flushed.calls
    cache.put("store", b"d", dirty(b"d"))
    assert cache.get("store", b"b") is None
    assert [key for key, _ in cache.all("store")] == [b"a", b"c", b"d"]
    assert cache.evicts == 1


def test_a_dirty_entry_takes_all_dirty_ones_with_it() -> None:
    cache, flushed = cache_of(2 * SIZE)
    for key in (b"a", b"b", b"c"):
        cache.put("store", key, dirty(key))
    assert flushed.calls == [[(b"a", b"a"), (b"b", b"b"), (b"c", b"c")]]
    cache.put("store", b"d", dirty(b"d"))
    assert len(flushed.calls) == 1, "b was clean: it is in the store already"
    cache.flush("store")
    assert flushed.calls[1:] == [[(b"d", b"d")]]
    cache.flush("store")
    assert len(flushed.calls) == 2, "nothing is dirty"


def test_changes_are_flushed_in_the_order_of_their_last_puts() -> None:
    cache, flushed = cache_of(10 * SIZE)
    for key, value in [(b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"c", None)]:
        cache.put("store", key, dirty(value))
    cache.flush("store")
    assert flushed.calls == [[(b"b", b"2"), (b"a", b"3"), (b"c", None)]]
    assert [key for key, _ in cache.all("store")] == [b"a", b"b"], "a deletion that is in the store is dropped"


def test_a_cache_of_no_bytes_flushes_every_put() -> None:
    cache, flushed = cache_of(0)
    cache.put("store", b"a", dirty(b"1"))
    cache.put("store", b"a", dirty(None))
    assert flushed.calls == [[(b"a", b"1")], [(b"a", None)]]
    assert cache.size_bytes == 0


def test_a_store_evicts_only_its_own_entries() -> None:
    cache, flushed = cache_of(2 * SIZE)
    cache.put("other", b"x", LRUCacheEntry(b"y"))
    cache.put("store", b"a", dirty(b"1"))
    cache.put("store", b"b", dirty(b"2"))
    assert cache.get("other", b"x") is not None
    assert flushed.calls == [[(b"a", b"1"), (b"b", b"2")]]
    assert cache.named("store").size_bytes <= SIZE


def test_the_listener_may_put_again() -> None:
    cache, seen = ThreadCache("test", 10 * SIZE), []

    def put_again(entries: Sequence[DirtyEntry]) -> None:
        seen.append([key for key, _, _ in entries])
        if len(seen) == 1:
            cache.put("store", b"a", dirty(b"again"))

    cache.set_dirty_entry_flush_listener("store", put_again)
    cache.put("store", b"a", dirty(None))
    cache.flush("store")
    entry = cache.get("store", b"a")
    assert entry is not None
    assert (entry.value, entry.is_dirty) == (b"again", True), "the deletion that was flushed must not drop it"
    cache.flush("store")
    assert seen == [[b"a"], [b"a"]]


def test_a_clean_entry_cannot_hide_a_dirty_one() -> None:
    cache = NamedCache("store")
    cache.put(b"a", dirty(b"1"))
    with pytest.raises(RuntimeError, match="would replace a dirty one in cache store"):
        cache.put(b"a", LRUCacheEntry(b"0"))


def test_hits_and_misses_are_counted() -> None:
    cache = NamedCache("store")
    assert cache.hit_ratio == 0.0
    cache.put(b"a", dirty(b"1"))
    for key in (b"a", b"b", b"a", b"a"):
        cache.get(key)
    cache.put(b"a", dirty(b"2"))
    assert (cache.hits, cache.misses, cache.overwrites, cache.hit_ratio) == (3, 1, 1, 0.75)


KEYS = st.sampled_from([b"", b"a", b"ab", b"b", b"c"])
STEPS = st.one_of(
    st.tuples(st.just("put"), KEYS, st.sampled_from([b"1", b"22", None])),
    st.tuples(st.just("get"), KEYS, st.none()),
    st.tuples(st.just("range"), KEYS, st.none()),
    st.tuples(st.just("flush"), st.just(b""), st.none()),
)


@given(st.integers(0, 5 * SIZE), st.lists(STEPS, max_size=30))
def test_cache_and_store_together_have_every_last_value(
    max_bytes: int, steps: list[tuple[str, bytes, bytes | None]]
) -> None:
    cache, model, stored = ThreadCache("test", max_bytes), dict[bytes, bytes | None](), dict[bytes, bytes | None]()
    cache.set_dirty_entry_flush_listener("store", lambda entries: stored.update({e.key: e.new_value for e in entries}))
    for step, key, value in steps:
        if step == "put":
            cache.put("store", key, dirty(value))
            model[key] = value
        elif step == "get":
            cache.get("store", key)
        elif step == "flush":
            cache.flush("store")
        cached = {key: entry.value for key, entry in cache.all("store")}
        assert {**stored, **cached} == {**stored, **model}
        assert list(cached) == sorted(cached)
        assert [key for key, _ in cache.range("store", b"a", b"b")] == [each for each in cached if b"a" <= each <= b"b"]
        assert cache.size_bytes <= max_bytes
        assert cache.size_bytes == sum(len(key) + 24 + entry.size_bytes for key, entry in cache.all("store"))
    cache.flush("store")
    assert stored == model


# ── stores with a cache ───────────────────────────────────────────────────────────────────────────────────────────────


class NotingKeyValues(InMemoryKeyValueStore):
    """Notes changes and flushes."""

    def __init__(self, calls: list[str]) -> None:
        super().__init__("store")
        self._calls = calls

    def put(self, key: bytes, value: bytes | None) -> None:
        self._calls.append("put")
        super().put(key, value)

    def flush(self) -> None:
        self._calls.append("flush")


class NotingSegments(InMemorySegmentedBytesStore):
    """The same for windows and sessions."""

    def __init__(self, calls: list[str], schema: KeySchema) -> None:
        super().__init__("store", 60_000, 3, schema)
        self._calls = calls

    def put(self, key: bytes, value: bytes | None) -> None:
        self._calls.append("put")
        super().put(key, value)

    def flush(self) -> None:
        self._calls.append("flush")


AnyCachingStore = CachingKeyValueStore | CachingWindowStore | CachingSessionStore


@pytest.fixture(params=["key-value", "window", "session"])
def written(request: pytest.FixtureRequest) -> tuple[AnyCachingStore, ThreadCache, list[str]]:
    """A store, its cache with a change that has not been flushed, and what the store inside notes."""
    calls: list[str] = []
    store: AnyCachingStore
    if request.param == "key-value":
        store = CachingKeyValueStore(NotingKeyValues(calls))
    elif request.param == "window":
        store = CachingWindowStore(NotingSegments(calls, WindowStoreKeySchema()), WindowStoreKeySchema())
    else:
        store = CachingSessionStore(NotingSegments(calls, SessionKeySchema()), SessionKeySchema())
    cache = ThreadCache("test", 10_000)
    context: Any = SimpleNamespace(task_id="0_1", cache=cache, record_context=RECORD, register=lambda *_: None)
    store.init(context, store)
    store.put(bytes(20), b"v")
    assert calls == []
    return store, cache, calls


def test_a_flush_empties_the_cache_before_the_store_is_flushed(
    written: tuple[AnyCachingStore, ThreadCache, list[str]],
) -> None:
    """Otherwise the checkpoint that follows counts changes that are not on disk yet."""
    store, _, calls = written
    store.flush()
    assert calls == ["put", "flush"]


def test_a_closed_store_leaves_nothing_in_the_cache(written: tuple[AnyCachingStore, ThreadCache, list[str]]) -> None:
    """The task may return to this thread: what it had not flushed belongs to no record that it has processed."""
    store, cache, calls = written
    store.close()
    assert cache.size_bytes == 0
    store.flush()
    assert "put" not in calls
