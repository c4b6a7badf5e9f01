"""What is done less often than for every record: polls while records are buffered, and caches that have no room."""

from __future__ import annotations

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.processor.internals.stream_thread import TURNS_PER_POLL, PollPace
from kafka_lite.streams.state.caching.cached_state_store import CachedStateStore


def test_a_poll_is_due_after_fifty_turns_whatever_the_time() -> None:
    pace = PollPace(100, 0)
    for _ in range(TURNS_PER_POLL - 1):
        pace.processed()
    assert not pace.is_poll_due(1)
    pace.processed()
    assert pace.is_poll_due(1)
    pace.polled(1)
    assert not pace.is_poll_due(2)


def test_a_poll_is_due_after_poll_ms_if_turns_take_long() -> None:
    pace = PollPace(100, 0)
    pace.polled(50)
    pace.processed()
    assert not pace.is_poll_due(149)
    assert pace.is_poll_due(150)


@pytest.mark.parametrize(("size_bytes", "is_cached"), [(0, False), (1, True)])
def test_a_table_has_a_cache_only_if_caches_have_room(size_bytes: int, is_cached: bool) -> None:
    builder, string = KStreamBuilder().set_application_id("app"), Serdes.string()
    builder.stream("in", key_serde=string, value_serde=string).group_by_key().count("Counts")
    (store,) = builder.set_cache_size(size_bytes).build(0).state_stores
    assert isinstance(store, CachedStateStore)
    assert store.set_flush_listener(lambda *_: None) is is_cached
