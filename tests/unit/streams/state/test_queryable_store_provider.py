"""Queries of stores: several tasks' as one, and which instance has a key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.murmur2 import murmur2, to_positive
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import StringSerializer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.metrics.streams_metrics_impl import StreamsMetricsImpl
from kafka_lite.streams.processor.state_store import StateRestoreCallback, StateStore
from kafka_lite.streams.state.host_info import HostInfo
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.queryable_store_provider import QueryableStoreProvider
from kafka_lite.streams.state.queryable_store_types import QueryableStoreTypes
from kafka_lite.streams.state.session_store import SessionStore
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.state.streams_metadata import NOT_AVAILABLE
from kafka_lite.streams.state.window_store import WindowStore
from kafka_lite.streams.threads.streams_metadata_state import StreamsMetadataState
from kafka_lite.streams.windowed import TimeWindow, Windowed


class Context:
    """Opens stores without restoring them."""

    application_id = "app"
    metrics = StreamsMetricsImpl(Metrics())

    def register(self, store: StateStore, restore: StateRestoreCallback) -> None:
        """Nothing to restore."""


def key_value_store(entries: Mapping[str, int]) -> KeyValueStore[str, int]:
    supplier = Stores.in_memory_key_value("counts", Serdes.string(), Serdes.long(), logging_enabled=False)
    store: Any = supplier.get()
    store.init(Context(), store)
    store.put_all(entries.items())
    return store


class OpenStore(StateStore):
    """An open store with these values, of which queries only read."""

    name, persistent, is_open = "counts", False, True

    def __init__(self, **values: int) -> None:
        self._values = values

    def init(self, context: Any, root: StateStore) -> None:
        raise AssertionError("it is open")

    def flush(self) -> None:
        raise AssertionError("queries only read")

    def close(self) -> None:
        raise AssertionError("queries only read")


class Windows(OpenStore, WindowStore[str, int]):
    """One value per key, at time 5."""

    def fetch(self, key: str, time_from: int, time_to: int) -> Iterator[tuple[int, int]]:
        return iter([(5, self._values[key])] if key in self._values and time_from <= 5 <= time_to else [])

    def put(self, key: str, value: int | None, timestamp: int | None = None) -> None:
        raise AssertionError("queries only read")


class Sessions(OpenStore, SessionStore[str, int]):
    """One session per key."""

    def fetch(self, key: str) -> Iterator[tuple[Windowed[str], int]]:
        return iter([(Windowed(key, TimeWindow(1, 5)), self._values[key])] if key in self._values else [])

    def find_sessions(self, key: str, *_: Any) -> Iterator[tuple[Windowed[str], int]]:
        raise AssertionError("not a query")

    def put(self, session: Windowed[str], aggregate: int | None) -> None:
        raise AssertionError("queries only read")

    def remove(self, session: Windowed[str]) -> None:
        raise AssertionError("queries only read")


def provider_of(*stores: StateStore, global_stores: Mapping[str, StateStore] | None = None) -> QueryableStoreProvider:
    """Each store is of another thread."""
    threads = [lambda name, store=store: [store] if store.name == name else [] for store in stores]
    return QueryableStoreProvider(threads, global_stores or {})


def test_the_stores_of_all_tasks_are_one() -> None:
    first, second = key_value_store({"a": 0, "c": 3}), key_value_store({"b": 2, "d": 4})
    counts = provider_of(first, second).store("counts", QueryableStoreTypes.key_value_store())
    assert [counts.get(key) for key in "abcx"] == [0, 2, 3, None]
    assert sorted(counts.all()) == [("a", 0), ("b", 2), ("c", 3), ("d", 4)]
    assert sorted(counts.range("b", "c")) == [("b", 2), ("c", 3)]
    assert counts.approximate_num_entries() == 4
    second.put("x", 5)
    assert counts.get("x") == 5
    assert not isinstance(counts, KeyValueStore), "it can only be read"


def test_windows_and_sessions_are_queried() -> None:
    windows = provider_of(Windows(a=1), Windows(b=2)).store("counts", QueryableStoreTypes.window_store())
    assert list(windows.fetch("b", 0, 9)) == [(5, 2)]
    assert not list(windows.fetch("b", 6, 9))
    sessions = provider_of(Sessions(a=1), Sessions(b=2)).store("counts", QueryableStoreTypes.session_store())
    assert list(sessions.fetch("b")) == [(Windowed("b", TimeWindow(1, 5)), 2)]
    assert not list(sessions.fetch("c"))


def test_a_global_store_is_queried() -> None:
    provider = provider_of(global_stores={"all": key_value_store({"a": 1})})
    assert provider.store("all", QueryableStoreTypes.key_value_store()).get("a") == 1


def test_a_store_that_is_not_here_says_so() -> None:
    store = key_value_store({"a": 1})
    provider = provider_of(store)
    with pytest.raises(
        InvalidStateStoreError, match=r"the state store, sums, .* may have migrated to another instance"
    ):
        provider.store("sums", QueryableStoreTypes.key_value_store())
    with pytest.raises(InvalidStateStoreError, match="counts, of type ReadOnlyWindowStore"):
        provider.store("counts", QueryableStoreTypes.window_store())
    counts = provider.store("counts", QueryableStoreTypes.key_value_store())
    store.close()
    with pytest.raises(InvalidStateStoreError, match="counts, isn't open"):
        counts.get("a")


def test_an_application_that_does_not_run_answers_no_query(tmp_path: Path) -> None:
    configs = {"application.id": "app", "bootstrap.servers": "localhost:1", "state.dir": str(tmp_path)}
    builder = KStreamBuilder()
    builder.table("names", "names-store", key_serde=Serdes.string(), value_serde=Serdes.string())
    with KafkaStreams(builder, configs) as streams:
        with pytest.raises(RuntimeError, match=r"KafkaStreams is not running\. State is CREATED"):
            streams.store("names-store", QueryableStoreTypes.key_value_store())
        with pytest.raises(RuntimeError, match="is not running"):
            streams.all_metadata()


# ── who has a key ─────────────────────────────────────────────────────────────────────────────────────────────────────

ONE, TWO = HostInfo("one", 7070), HostInfo("two", 7070)
COUNTS_TOPIC = "app-Counts-repartition"


def topology() -> KStreamBuilder:
    """A count behind a repartition topic, a table, and a global table."""
    text = Serdes.string()
    builder = KStreamBuilder()
    builder.set_application_id("app")
    lines = builder.stream("text", key_serde=text, value_serde=text)
    lines.group_by(lambda _, line: line, text, text).count("Counts")
    builder.table("names", "names-store", key_serde=text, value_serde=text)
    builder.global_table("places", "places-store", key_serde=text, value_serde=text)
    return builder


def partitions(*pairs: tuple[str, int]) -> frozenset[TopicPartition]:
    return frozenset(TopicPartition(topic, number) for topic, number in pairs)


@pytest.fixture
def metadata() -> StreamsMetadataState:
    state = StreamsMetadataState(topology(), TWO)
    state.on_change({
        ONE: partitions((COUNTS_TOPIC, 0), (COUNTS_TOPIC, 2), ("text", 0)),
        TWO: partitions((COUNTS_TOPIC, 1), ("names", 0)),
    })  # fmt: skip
    return state


def test_a_store_has_the_topics_whose_records_reach_it() -> None:
    assert topology().source_topics_of_stores() == {"Counts": {COUNTS_TOPIC}, "names-store": {"names"}}


def test_instances_and_their_stores(metadata: StreamsMetadataState) -> None:
    assert [(each.host, each.port, each.state_store_names) for each in metadata.all_metadata()] == [
        ("one", 7070, {"Counts", "places-store"}),
        ("two", 7070, {"Counts", "names-store", "places-store"}),
    ]
    assert [each.host for each in metadata.all_metadata_for_store("names-store")] == ["two"]
    assert [each.host for each in metadata.all_metadata_for_store("places-store")] == ["one", "two"]
    assert not metadata.all_metadata_for_store("unknown")


def test_the_instance_that_has_a_key(metadata: StreamsMetadataState) -> None:
    for word in ("to", "be", "or", "not", "that"):
        found = metadata.metadata_with_key("Counts", word, StringSerializer(), None)
        assert found is not None
        assert found.host_info == (TWO if to_positive(murmur2(word.encode())) % 3 == 1 else ONE)
    always_1 = metadata.metadata_with_key("Counts", "any", StringSerializer(), lambda _key, _value, _count: 1)
    assert always_1 is not None
    assert always_1.host_info == TWO


def test_a_partitioner_may_leave_the_choice_to_the_hash(metadata: StreamsMetadataState) -> None:
    chosen, default = (
        metadata.metadata_with_key("Counts", "to", StringSerializer(), partitioner)
        for partitioner in (lambda *_: None, None)
    )
    assert chosen == default


def test_an_instance_without_an_end_point_finds_a_global_store_elsewhere() -> None:
    state = StreamsMetadataState(topology(), None)
    state.on_change({TWO: partitions(("text", 0)), ONE: partitions(("names", 0))})
    assert [each.host for each in state.all_metadata()] == ["one", "two"]
    found = state.metadata_with_key("places-store", "x", StringSerializer(), None)
    assert found is not None
    assert found.host_info == ONE


def test_every_instance_has_a_global_store(metadata: StreamsMetadataState) -> None:
    own = metadata.metadata_with_key("places-store", "x", StringSerializer(), None)
    assert own is not None
    assert own.host_info == TWO, "this instance"


def test_keys_of_no_instance(metadata: StreamsMetadataState) -> None:
    assert metadata.metadata_with_key("unknown", "x", StringSerializer(), None) is None
    metadata.on_change({ONE: partitions(("text", 0))})
    assert metadata.metadata_with_key("Counts", "x", StringSerializer(), None) is NOT_AVAILABLE
    metadata.on_change({})
    assert metadata.metadata_with_key("Counts", "x", StringSerializer(), None) is NOT_AVAILABLE
