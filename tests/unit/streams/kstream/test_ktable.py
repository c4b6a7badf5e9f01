"""The operators on tables, and aggregates of their groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.kstream.internals.kstream_aggregate import KStreamReduce
from kafka_lite.streams.kstream.kgrouped_stream import KGroupedStream
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext, StateStoreSupplier
from kafka_lite.streams.topology_test_driver import TopologyTestDriver
from tests.support.dsl_topologies import LONG, STRING, Input, driver_of, run, table_of

CHANGES: Input = [("a", "1"), ("b", "20"), ("a", "30"), (None, "4"), ("b", None)]


class OtherStore(StateStore):
    """A store that is no key-value store."""

    name, persistent, is_open = "store", False, True

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        context.register(root, lambda *_: None)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (lambda t: t, [("a", "1"), ("b", "20"), ("a", "30"), ("b", None)]),
        (lambda t: t.filter(lambda _, value: len(value) > 1), [("a", None), ("b", "20"), ("a", "30"), ("b", None)]),
        (lambda t: t.filter_not(lambda _, value: len(value) > 1), [("a", "1"), ("b", None), ("a", None), ("b", None)]),
        (lambda t: t.map_values(lambda value: value + "0"), [("a", "10"), ("b", "200"), ("a", "300"), ("b", None)]),
    ],
)
def test_operators_on_tables(operator: Callable[[KTable[str, str]], KTable[Any, Any]], expected: Input) -> None:
    assert run(table_of(operator), CHANGES) == expected


def test_a_source_table_is_its_own_changelog() -> None:
    builder = KStreamBuilder()
    seen: list[tuple[str, str | None]] = []
    table = builder.table("in", "store", STRING, STRING)
    table.foreach(lambda key, value: seen.append((key, value)))
    table.through("copy", "copied", STRING, STRING)
    with driver_of(builder) as driver:
        for key, value in CHANGES:
            driver.pipe_input("in", key, value, timestamp=1)
        assert dict(driver.key_value_store("store").all()) == {"a": "30"}
        assert dict(driver.key_value_store("copied").all()) == {"a": "30"}
    assert seen == [("a", "1"), ("b", "20"), ("a", "30"), ("b", None)]
    assert builder.build(0).store_to_changelog_topic == {"store": "in"}
    assert not any(info.state_changelog_topics for info in builder.topic_groups().values())


def by_length(table: KTable[str, str]) -> Any:
    return table.group_by(lambda key, value: (str(len(value)), value), STRING, STRING)


def test_a_value_that_changes_leaves_its_group() -> None:
    counted = run(table_of(lambda table: by_length(table).count("counts"), LONG), CHANGES, LONG)
    assert counted == [("1", 1), ("2", 1), ("1", 0), ("2", 2), ("2", 1)]


def test_a_table_reduced_by_group() -> None:
    def add(total: str, value: str) -> str:
        return str(int(total) + int(value))

    def subtract(total: str, value: str) -> str:
        return str(int(total) - int(value))

    reduced = run(table_of(lambda table: by_length(table).reduce(add, subtract, "sums")), CHANGES)
    assert reduced == [("1", "1"), ("2", "20"), ("1", "0"), ("2", "50"), ("2", "30")]


def test_a_table_reduced_by_group_gives_the_adder_the_reduced_value_first() -> None:
    table = table_of(lambda table: by_length(table).reduce(lambda old, new: old + new, lambda old, _: old, "joined"))
    assert run(table, [("a", "1"), ("b", "2"), ("c", "3")]) == [("1", "1"), ("1", "12"), ("1", "123")]


def test_groups_of_a_table_whose_aggregate_is_0_or_empty_do_not_begin_again() -> None:
    def add(_: str, value: str, total: int) -> int:
        return total + int(value)

    def subtract(_: str, value: str, total: int) -> int:
        return total - int(value)

    summed = table_of(lambda table: by_length(table).aggregate(lambda: 5, add, subtract, LONG, "sums"), LONG)
    assert run(summed, [("a", "-5"), ("b", "+1")], LONG) == [("2", 0), ("2", 1)]
    reduced = table_of(
        lambda table: by_length(table).reduce(lambda *both: ",".join(both), lambda old, _: old, "joined")
    )
    assert run(reduced, [("a", ""), ("b", "")]) == [("0", ""), ("0", ",")]


def test_a_reduced_stream_can_be_grouped_again_since_it_sends_old_values() -> None:
    builder = KStreamBuilder()
    stream = builder.stream("in", key_serde=STRING, value_serde=STRING)
    last = stream.group_by_key(STRING, STRING).reduce(lambda _, new: new, "Last")
    by_length(last).count("counts").to("out", STRING, LONG)
    assert run(builder, CHANGES[:3], LONG) == [("1", 1), ("2", 1), ("1", 0), ("2", 2)]


@pytest.mark.parametrize("kind", ["stream", "windows", "table"])
@pytest.mark.parametrize("cache_bytes", [0, 10_000_000])
def test_a_new_aggregate_has_no_old_value_to_subtract(kind: str, cache_bytes: int) -> None:
    """Whoever counts the counts must not find minus one key with the count 0."""
    builder = KStreamBuilder()
    counts: KTable[Any, int]
    if kind == "table":
        table: KTable[str, str] = builder.table("in", "Table")
        counts = table.group_by(lambda key, value: (key, value)).count("Counts")
    else:
        grouped: KGroupedStream[str, str] = builder.stream("in").group_by_key()
        counts = grouped.count("Counts") if kind == "stream" else grouped.count("Counts", TimeWindows.of(10))
    by_count = counts.group_by(lambda _, count: (str(count), str(count)), Serdes.string(), Serdes.string())
    by_count.count("Keys")
    with TopologyTestDriver(
        builder, key_serde=Serdes.string(), value_serde=Serdes.string(), cache_max_bytes_buffering=cache_bytes
    ) as driver:
        for key in "aba" if kind != "table" else "ab":
            driver.pipe_input("in", key, "x", timestamp=1)
            driver.commit()
        expected = {"1": 2} if kind == "table" else {"1": 1, "2": 1}
        assert dict(driver.key_value_store("Keys").all()) == expected


def test_a_table_names_the_store_to_query() -> None:
    builder = KStreamBuilder()
    table: KTable[str, str] = builder.table("in", "Table")
    other: KTable[str, str] = builder.table("more", "Other")
    assert table.store_name == "Table"
    assert table.filter(lambda *_: True).map_values(str.upper).store_name == "Table"
    assert table.join(other, str.__add__).store_name == "Table"
    assert table.group_by(lambda key, value: (value, key)).count("Groups").store_name == "Groups"
    windows = TimeWindows.of(10)
    assert builder.stream("events").group_by_key().count("Windows", windows).store_name == "Windows"


def test_a_group_of_none_is_left_out() -> None:
    def selector(key: str, value: str) -> tuple[str, str] | None:
        return ("all", value) if key == "a" else None

    builder = table_of(lambda table: table.group_by(selector, STRING, STRING).count("counts"), LONG)
    assert run(builder, CHANGES, LONG) == [("all", 1), ("all", 0), ("all", 1)]


def test_a_value_of_none_belongs_to_no_group() -> None:
    builder = table_of(
        lambda table: table.group_by(lambda key, value: ("all", value if key == "a" else None)).count("counts"), LONG
    )
    assert run(builder, CHANGES, LONG) == [("all", 1), ("all", 0), ("all", 1)]


def test_names_of_a_grouped_table_are_kafkas() -> None:
    builder = table_of(lambda table: by_length(table.filter(lambda *_: True)).count("counts"), LONG)
    builder.set_application_id("app")
    assert [node.name for group in (0, 1) for node in builder.build(group).processors] == [
        "KSTREAM-SOURCE-0000000000", "KTABLE-SOURCE-0000000001", "KTABLE-FILTER-0000000002",
        "KTABLE-SELECT-0000000003", "KSTREAM-SINK-0000000004",
        "KSTREAM-SOURCE-0000000005", "KTABLE-AGGREGATE-0000000006", "KTABLE-TOSTREAM-0000000007",
        "KSTREAM-SINK-0000000008",
    ]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.sampled_from(["x", "y", "xx", "zzz"]))))
def test_aggregates_of_a_filtered_table_are_those_of_the_table_as_it_is(changes: Input) -> None:
    """Whatever the changes were: each group has the values that are in the table now."""
    builder = KStreamBuilder()
    table = builder.table("in", "store", STRING, STRING).filter(lambda _, value: value != "y").map_values(str.upper)
    grouped = table.group_by(lambda key, value: (str(len(value)), key), STRING, STRING)

    def add(_: str, key: str, members: list[str]) -> list[str]:
        return sorted([*members, key])

    def subtract(_: str, key: str, members: list[str]) -> list[str]:
        members.remove(key)
        return members

    grouped.aggregate(list, add, subtract, Serdes.json(), "groups")
    now: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    with driver_of(builder) as driver:
        for key, value in changes:
            driver.pipe_input("in", key, value, timestamp=1)
            now.pop(key, None)
            if value not in (None, "y"):
                now[key] = value
        for key in sorted(now):
            groups.setdefault(str(len(now[key])), []).append(key)
        assert {length: keys for length, keys in driver.key_value_store("groups").all() if keys} == groups


def test_a_table_of_another_kind_of_store_is_refused() -> None:
    class Other(StateStoreSupplier[StateStore]):
        name, logging_enabled, log_config = "store", False, {}

        def get(self) -> StateStore:
            return OtherStore()

    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    builder.add_processor("reduce", KStreamReduce("store", max), stream.name).add_state_store(Other(), "reduce")
    with pytest.raises(StreamsError, match="failed to initialize processor reduce") as caught:
        driver_of(builder)
    assert "store store is a OtherStore, not a KeyValueStore" in str(caught.value.__cause__)
