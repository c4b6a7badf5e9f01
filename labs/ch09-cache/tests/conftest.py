"""Caches with a listener that remembers what it got, and topologies that count."""

from types import SimpleNamespace

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_learn.labs.locks import touched_only_with
from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.record_cache.named_cache import LRUCacheEntry, NamedCache
from kafka_lite.streams.record_cache.processor_record_context import ProcessorRecordContext
from kafka_lite.streams.record_cache.thread_cache import ThreadCache
from kafka_lite.streams.state.caching.caching_key_value_store import CachingKeyValueStore
from kafka_lite.streams.state.in_memory_key_value_store import InMemoryKeyValueStore
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

ENTRY_BYTES = 1 + 24 + 1 + 21
"""What an entry with a key and a value of one byte counts for."""


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def dirty():
    """``dirty(b"1", at)``: an entry that the store does not have; its record has the offset and time ``at``."""
    return lambda value, at=0: LRUCacheEntry(value, ProcessorRecordContext(at, at, 0, ""), is_dirty=True)


@pytest.fixture
def flushed():
    """The calls of the listener: for each, the keys and values that it got."""
    return []


@pytest.fixture
def cache(flushed):
    """The cache of one store, without a limit."""
    made = NamedCache("counts")
    made.set_listener(lambda entries: flushed.append([(entry.key, entry.new_value) for entry in entries]))
    state = ("_entries", "_dirty", "hits", "misses", "overwrites", "size_bytes")
    with touched_only_with(made, "_lock", state=state, within=["get", "put", "flush", "evict"]):
        yield made


@pytest.fixture
def thread_cache(flushed):
    """``thread_cache(so_many)``: the caches of a thread, with room for so many small entries."""

    def make(entries):
        made = ThreadCache("thread", entries * ENTRY_BYTES)
        made.set_dirty_entry_flush_listener(
            "counts", lambda found: flushed.append([(entry.key, entry.new_value) for entry in found])
        )
        return made

    return make


class Opened(SimpleNamespace):
    """A store with a cache, its inner store and context, and what its listener got: key, new, old, time."""

    def put(self, key, value, at=0):
        self.context.record_context = ProcessorRecordContext(at, at, 0, "in")
        self.store.put(key, value)


@pytest.fixture
def opened():
    """A store with a cache that holds everything."""
    context = SimpleNamespace(
        application_id="app",
        task_id="0_0",
        cache=ThreadCache("thread", 1_000_000),
        record_context=None,
        register=lambda *_: None,
    )
    inner = InMemoryKeyValueStore("counts")
    store = CachingKeyValueStore(inner)
    store.init(context, store)
    heard = []
    store.set_flush_listener(lambda key, new, old: heard.append((key, new, old, context.record_context.timestamp)))
    return Opened(store=store, inner=inner, context=context, heard=heard)


@pytest.fixture
def saved():
    """``saved(keys, cache_bytes)``: counts the keys; returns the records of the changelog, as keys and counts."""

    def run(keys, cache_bytes):
        builder = KStreamBuilder()
        builder.stream("in").group_by_key().count("Counts")
        serdes = {"key_serde": Serdes.string(), "value_serde": Serdes.string()}
        # never closed: that would flush again, and hide the error that matters behind another one
        driver = TopologyTestDriver(builder, cache_max_bytes_buffering=cache_bytes, **serdes)
        for key in keys:
            driver.pipe_input("in", key, "x", timestamp=1000)
        driver.commit()
        counts = Serdes.long().deserializer
        sent = iter(lambda: driver.read_output("test-Counts-changelog", value_deserializer=counts), None)
        return [(record.key, record.value) for record in sent]

    return run
