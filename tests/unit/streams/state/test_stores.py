"""Key-value stores: reading, writing, order, and what they log."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.state.change_logging_key_value_bytes_store import StoreChangeLogger
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.memory_lru_cache import MemoryLRUCache
from kafka_lite.streams.state.store_suppliers import KeyValueStoreSupplier
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

CHANGELOG = "test-store-changelog"
each_kind = pytest.mark.parametrize("kind", ["in_memory", "persistent"])


class Writer(Processor[str, str]):
    """Carries out commands: the key names a method, the value has its arguments."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.store: KeyValueStore[str, int] = context.get_state_store("store")  # type: ignore[assignment]

    def process(self, key: str, value: Any) -> None:
        self.context.forward(key, getattr(self.store, key)(*value))


def driver_of(kind: str = "in_memory", **options: Any) -> TopologyTestDriver:
    supplier = getattr(Stores, f"{kind}_key_value")("store", Serdes.string(), Serdes.long(), **options)
    return driver_with(supplier)


def driver_with(supplier: KeyValueStoreSupplier[str, int]) -> TopologyTestDriver:
    builder = TopologyBuilder().add_source("source", "in").add_processor("writer", Writer, "source")
    builder.add_state_store(supplier, "writer").add_sink("sink", "out", "writer")
    return TopologyTestDriver(builder, key_serde=Serdes.string(), value_serde=Serdes.json())


def run(driver: TopologyTestDriver, method: str, *arguments: Any) -> Any:
    driver.pipe_input("in", method, arguments, timestamp=1000)
    result = driver.read_output("out")
    assert result is not None
    return result.value


def logged(driver: TopologyTestDriver) -> list[tuple[str, int | None]]:
    result = []
    while (record := driver.read_output(CHANGELOG, value_deserializer=Serdes.long().deserializer)) is not None:
        assert record.timestamp == 1000
        result.append((record.key, record.value))
    return result


@each_kind
def test_every_write_goes_to_the_changelog(kind: str) -> None:
    with driver_of(kind) as driver:
        assert run(driver, "put", "a", 1) is None
        assert run(driver, "put_if_absent", "a", 2) == 1
        assert run(driver, "put_if_absent", "b", 3) is None
        assert run(driver, "get", "b") == 3
        assert run(driver, "put_all", [("c", 4), ("a", None)]) is None
        assert run(driver, "delete", "b") == 3
        assert run(driver, "delete", "b") is None
        if kind == "in_memory":  # RocksDB's estimate subtracts every deletion
            assert run(driver, "approximate_num_entries") == 1
        assert logged(driver) == [("a", 1), ("b", 3), ("c", 4), ("a", None), ("b", None), ("b", None)]
        assert list(driver.key_value_store("store").all()) == [("c", 4)]


def test_a_change_goes_to_the_partition_of_the_task_whatever_its_key() -> None:
    sent: list[Any] = []
    context: Any = SimpleNamespace(application_id="app", task_id=TaskId(0, 3), timestamp=7)
    context.record_collector = SimpleNamespace(send=lambda *arguments: sent.append(arguments[:5]))
    StoreChangeLogger("store", context).log_change(b"k", None)
    assert sent == [("app-store-changelog", b"k", None, 3, 7)]


@each_kind
def test_without_logging_there_is_no_changelog(kind: str) -> None:
    with driver_of(kind, logging_enabled=False) as driver:
        run(driver, "put", "a", 1)
        assert logged(driver) == []
    with pytest.raises(ValueError, match="log_config configures a changelog, but logging is disabled"):
        Stores.in_memory_key_value("store", logging_enabled=False, log_config={"segment.bytes": "1"})


@each_kind
def test_a_key_cannot_be_none(kind: str) -> None:
    with driver_of(kind) as driver, pytest.raises(TypeError, match="store store: a key cannot be None"):
        driver.key_value_store("store").put(None, 1)


@each_kind
def test_a_closed_store_cannot_be_used(kind: str) -> None:
    driver = driver_of(kind)
    store = driver.key_value_store("store")
    assert store.is_open
    assert store.persistent is (kind == "persistent")
    driver.close()
    assert not store.is_open
    with pytest.raises(InvalidStateStoreError, match="Store store is currently closed"):
        store.get("a")


@each_kind
def test_an_iterator_does_not_see_later_writes(kind: str) -> None:
    with driver_of(kind) as driver:
        for number, key in enumerate("abc"):
            run(driver, "put", key, number)
        entries = driver.key_value_store("store").all()
        assert next(entries) == ("a", 0)
        run(driver, "delete", "b")
        assert list(entries) == [("b", 1), ("c", 2)]


@given(st.lists(st.tuples(st.text("abc", max_size=3), st.none() | st.integers(0, 9))), st.text("abc"), st.text("abc"))
def test_a_store_is_a_sorted_map(writes: list[tuple[str, int | None]], first: str, last: str) -> None:
    with driver_of() as driver:
        model: dict[str, int] = {}
        for key, value in writes:
            run(driver, "put", key, value)
            model.pop(key, None)
            if value is not None:
                model[key] = value
        store = driver.key_value_store("store")
        assert list(store.all()) == sorted(model.items())
        inside = [(key, value) for key, value in sorted(model.items()) if first <= key <= last]
        assert list(store.range(first, last)) == inside
        assert logged(driver) == writes


# ── the entries that were used last ───────────────────────────────────────────────────────────────────────────────────


def lru_driver(max_entries: int, **options: Any) -> TopologyTestDriver:
    return driver_with(Stores.lru_map("store", max_entries, Serdes.string(), Serdes.long(), **options))


def test_the_entry_used_least_recently_makes_room_and_leaves_the_changelog() -> None:
    with lru_driver(2) as driver:
        run(driver, "put", "a", 1)
        run(driver, "put", "b", 2)
        run(driver, "get", "a")
        run(driver, "put", "c", 3)  # drops b
        run(driver, "put", "a", 4)
        run(driver, "put_if_absent", "d", 5)  # drops c
        assert list(driver.key_value_store("store").all()) == [("a", 4), ("d", 5)]
        run(driver, "delete", "a")
        run(driver, "put", "e", 6)
        assert list(driver.key_value_store("store").range("a", "z")) == [("d", 5), ("e", 6)]
        assert logged(driver) == [
            ("a", 1), ("b", 2), ("b", None), ("c", 3), ("a", 4), ("c", None), ("d", 5), ("a", None), ("e", 6),
        ]  # fmt: skip


def test_restoring_drops_entries_silently() -> None:
    """A standby task restores, too, and has nothing to log with."""
    dropped: list[bytes] = []
    store = MemoryLRUCache("store", 1)

    class Restoring:
        """A context whose changelog has two keys."""

        def register(self, _: Any, restore: Any) -> None:
            restore(b"a", b"1")
            restore(b"b", b"2")

    context: Any = Restoring()
    store.when_eldest_removed(dropped.append)
    store.init(context, store)
    assert list(store.all()) == [(b"b", b"2")]
    assert not dropped
    store.put(b"c", b"3")
    assert dropped == [b"b"]


@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.sampled_from(["get", "put", "delete"]), st.sampled_from("abcdef"), st.integers(0, 9))),
)
def test_a_changelog_holds_what_the_store_holds(max_entries: int, commands: list[tuple[str, str, int]]) -> None:
    with lru_driver(max_entries) as driver:
        model: dict[str, int] = {}
        for method, key, value in commands:
            run(driver, method, *([key, value] if method == "put" else [key]))
            if method == "put":
                model.pop(key, None)
                model[key] = value
            elif key in model:
                found = model.pop(key)
                if method == "get":
                    model[key] = found
            for eldest in list(model)[: max(0, len(model) - max_entries)]:
                del model[eldest]
        assert list(driver.key_value_store("store").all()) == sorted(model.items())
        last = dict(logged(driver))
        assert {key: value for key, value in last.items() if value is not None} == model


def test_room_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="store store: max_entries must be at least 1, not 0"):
        Stores.lru_map("store", 0)
