"""The operators of the DSL: their processors' names, their topics, and what they make of records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.serdes import Serde, Serdes
from kafka_lite.streams.errors import StreamsError, TopologyBuilderError
from kafka_lite.streams.kstream.internals.change import Change, ChangedDeserializer, ChangedSerializer
from kafka_lite.streams.kstream.internals.kstream_aggregate import KStreamReduce
from kafka_lite.streams.kstream.kstream import KGroupedStream, KStream, KTable
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext, StateStoreSupplier
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

STRING, LONG = Serdes.string(), Serdes.long()
Input = list[tuple[Any, Any]]


class OtherStore(StateStore):
    """A store that is no key-value store."""

    name, persistent, is_open = "store", False, True

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        context.register(root, lambda *_: None)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def driver_of(builder: KStreamBuilder) -> TopologyTestDriver:
    return TopologyTestDriver(builder, application_id="app", key_serde=STRING, value_serde=STRING)


def outputs(driver: TopologyTestDriver, topic: str, value_serde: Serde[Any] = STRING) -> Input:
    result = []
    while (record := driver.read_output(topic, value_deserializer=value_serde.deserializer)) is not None:
        result.append((record.key, record.value))
    return result


def run(builder: KStreamBuilder, records: Input, value_serde: Serde[Any] = STRING) -> Input:
    """Send records to topic in; returns those of topic out."""
    with driver_of(builder) as driver:
        for number, (key, value) in enumerate(records):
            driver.pipe_input("in", key, value, timestamp=number)
        return outputs(driver, "out", value_serde)


@pytest.mark.parametrize("returned", ["value", ("key", "value", "more")])
def test_a_mapper_that_returns_no_pair_fails(returned: Any) -> None:
    builder = KStreamBuilder()
    builder.stream("in", key_serde=STRING, value_serde=STRING).map(lambda *_: returned).to("out", STRING, STRING)
    with pytest.raises(ValueError, match="too many values to unpack"):
        run(builder, [("k", "v")])


def stream_of(operator: Callable[[KStream[str, str]], KStream[Any, Any]]) -> KStreamBuilder:
    builder = KStreamBuilder()
    operator(builder.stream("in", key_serde=STRING, value_serde=STRING)).to("out")
    return builder


def table_of(
    operator: Callable[[KTable[str, str]], KTable[Any, Any]], value_serde: Serde[Any] = STRING
) -> KStreamBuilder:
    builder = KStreamBuilder()
    operator(builder.table("in", "store", STRING, STRING)).to("out", STRING, value_serde)
    return builder


# ── streams ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (lambda s: s.filter(lambda _, value: value > "b"), [("b", "xyz")]),
        (lambda s: s.filter_not(lambda _, value: value > "b"), [("a", "a b"), ("a", "")]),
        (lambda s: s.map(lambda key, value: (value, key)), [("a b", "a"), ("xyz", "b"), ("", "a")]),
        (lambda s: s.map_values(str.upper), [("a", "A B"), ("b", "XYZ"), ("a", "")]),
        (lambda s: s.flat_map(lambda key, value: [(key, word) for word in value]),
         [("a", "a"), ("a", " "), ("a", "b"), ("b", "x"), ("b", "y"), ("b", "z")]),
        (lambda s: s.flat_map_values(str.split), [("a", "a"), ("a", "b"), ("b", "xyz")]),
        (lambda s: s.select_key(lambda _, value: str(len(value))), [("3", "a b"), ("3", "xyz"), ("0", "")]),
        (lambda s: s.branch(lambda key, _: key == "b", lambda _, value: value)[1], [("a", "a b")]),
    ],
)  # fmt: skip
def test_operators_on_records(operator: Callable[[KStream[str, str]], KStream[Any, Any]], expected: Input) -> None:
    assert run(stream_of(operator), [("a", "a b"), ("b", "xyz"), ("a", "")]) == expected


def test_branches_need_predicates_and_merges_streams() -> None:
    builder = KStreamBuilder()
    with pytest.raises(ValueError, match="at least one predicate"):
        builder.stream("in").branch()
    with pytest.raises(ValueError, match="no streams to merge"):
        builder.merge()


def test_merged_streams_keep_the_order_of_each() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    vowels, others = stream.branch(lambda key, _: key in "aeiou", lambda *_: True)
    builder.merge(others.map_values(str.upper), vowels).to("out")
    assert run(builder, [("b", "x"), ("a", "y"), ("c", "z")]) == [("b", "X"), ("a", "y"), ("c", "Z")]


def test_foreach_and_own_processors() -> None:
    seen: list[tuple[str, str]] = []

    class Keep(Processor[str, str]):
        def process(self, key: str, value: str) -> None:
            self.context.get_state_store("kept").put(key, value)  # type: ignore[attr-defined]

    builder = KStreamBuilder()
    builder.add_state_store(Stores.in_memory_key_value("kept"))
    stream: KStream[str, str] = builder.stream("in")
    stream.foreach(lambda key, value: seen.append((key, value)))
    stream.process(Keep, "kept")
    with driver_of(builder) as driver:
        driver.pipe_input("in", "a", "1", timestamp=1)
        assert dict(driver.key_value_store("kept").all()) == {"a": "1"}
    assert seen == [("a", "1")]


def test_through_a_topic() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    stream.map_values(str.upper).through("middle").map_values(str.lower).to("out")
    assert run(builder, [("a", "xY")]) == [("a", "xy")]
    assert builder.node_groups().keys() == {0, 1}


# ── names and topics ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_names_of_word_count_are_kafkas() -> None:
    """What 0.10.2.2 makes of the same operators."""
    builder = KStreamBuilder()
    lines = builder.stream("text", key_serde=STRING, value_serde=STRING)
    words = lines.flat_map_values(str.split).group_by(lambda _, word: word, STRING, STRING)
    words.count("Counts").to("counts", STRING, LONG)
    assert str(builder.describe()) == (
        "Topologies:\n"
        "   Sub-topology: 0\n"
        "    Source: KSTREAM-SOURCE-0000000000 (topics: [text])\n"
        "      --> KSTREAM-FLATMAPVALUES-0000000001\n"
        "    Processor: KSTREAM-FLATMAPVALUES-0000000001 (stores: [])\n"
        "      --> KSTREAM-KEY-SELECT-0000000002\n"
        "      <-- KSTREAM-SOURCE-0000000000\n"
        "    Processor: KSTREAM-KEY-SELECT-0000000002 (stores: [])\n"
        "      --> KSTREAM-FILTER-0000000005\n"
        "      <-- KSTREAM-FLATMAPVALUES-0000000001\n"
        "    Processor: KSTREAM-FILTER-0000000005 (stores: [])\n"
        "      --> KSTREAM-SINK-0000000004\n"
        "      <-- KSTREAM-KEY-SELECT-0000000002\n"
        "    Sink: KSTREAM-SINK-0000000004 (topic: Counts-repartition)\n"
        "      <-- KSTREAM-FILTER-0000000005\n"
        "\n"
        "  Sub-topology: 1\n"
        "    Source: KSTREAM-SOURCE-0000000006 (topics: [Counts-repartition])\n"
        "      --> KSTREAM-AGGREGATE-0000000003\n"
        "    Processor: KSTREAM-AGGREGATE-0000000003 (stores: [Counts])\n"
        "      --> KTABLE-TOSTREAM-0000000007\n"
        "      <-- KSTREAM-SOURCE-0000000006\n"
        "    Processor: KTABLE-TOSTREAM-0000000007 (stores: [])\n"
        "      --> KSTREAM-SINK-0000000008\n"
        "      <-- KSTREAM-AGGREGATE-0000000003\n"
        "    Sink: KSTREAM-SINK-0000000008 (topic: counts)\n"
        "      <-- KTABLE-TOSTREAM-0000000007\n"
        "\n"
    )
    first, second = builder.set_application_id("app").topic_groups().values()
    assert first.sink_topics == second.source_topics == {"app-Counts-repartition"}
    assert second.state_changelog_topics.keys() == {"app-Counts-changelog"}


def test_a_stream_is_repartitioned_only_if_its_key_may_have_changed() -> None:
    def is_repartitioned(operator: Callable[[KStream[str, str]], KStream[Any, Any]]) -> bool:
        builder = KStreamBuilder().set_application_id("app")
        operator(builder.stream("in", key_serde=STRING, value_serde=STRING)).group_by_key().count("store")
        return any(info.repartition_source_topics for info in builder.topic_groups().values())

    assert not is_repartitioned(lambda s: s)
    assert not is_repartitioned(lambda s: s.filter(lambda *_: True).map_values(str.upper).flat_map_values(str.split))
    assert not is_repartitioned(lambda s: s.branch(lambda *_: True)[0])
    assert not is_repartitioned(lambda s: s.select_key(lambda *_: "a").through("middle"))
    assert is_repartitioned(lambda s: s.map(lambda key, value: (key, value)))
    assert is_repartitioned(lambda s: s.flat_map(lambda key, value: [(key, value)]).filter(lambda *_: True))
    assert is_repartitioned(lambda s: s.select_key(lambda *_: "a").branch(lambda *_: True)[0])


def test_merged_streams_are_repartitioned_if_the_key_of_one_may_have_changed() -> None:
    for number in (0, 1):
        builder = KStreamBuilder().set_application_id("app")
        streams: list[KStream[Any, Any]] = [builder.stream("in"), builder.stream("other")]
        streams[number] = streams[number].select_key(lambda *_: "a")
        builder.merge(*streams).group_by_key().count("store")
        assert any(info.repartition_source_topics for info in builder.topic_groups().values())


@pytest.mark.parametrize("kind", ["stream", "table"])
def test_a_table_behind_a_repartition_topic_is_joinable_if_that_topic_fits(kind: str) -> None:
    builder = KStreamBuilder().set_application_id("app")
    counts: KTable[Any, int]
    if kind == "stream":
        counts = builder.stream("in").group_by(lambda key, _: key).count("Counts")
    else:
        counts = builder.table("in", "In").group_by(lambda key, value: (key, value)).count("Counts")
    counts.join(builder.table("other", "Other"), lambda *_: None)
    assert builder.copartition_groups() == [{"app-Counts-repartition", "other"}], "whatever partitions topic in has"


def test_a_name_of_a_store_is_used_once() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    stream.group_by_key().count("store")
    with pytest.raises(TopologyBuilderError, match="StateStore store is already added"):
        stream.group_by_key().count("store")


# ── aggregates of streams ─────────────────────────────────────────────────────────────────────────────────────────────

RECORDS: Input = [("a", "1"), ("b", "2"), (None, "3"), ("a", None), ("a", "4")]


def test_counts_reductions_and_aggregates_of_a_stream() -> None:
    def builder_of(aggregate: Callable[[Any], KTable[str, Any]], value_serde: Serde[Any]) -> KStreamBuilder:
        builder = KStreamBuilder()
        stream = builder.stream("in", key_serde=STRING, value_serde=STRING)
        aggregate(stream.group_by_key(STRING, STRING)).to("out", STRING, value_serde)
        return builder

    counted = run(builder_of(lambda grouped: grouped.count("store"), LONG), RECORDS, LONG)
    assert counted == [("a", 1), ("b", 1), ("a", 1), ("a", 2)], "a record without a value passes on the old count"
    reduced = run(builder_of(lambda grouped: grouped.reduce(lambda old, new: old + new, "store"), STRING), RECORDS)
    assert reduced == [("a", "1"), ("b", "2"), ("a", "1"), ("a", "14")]
    aggregated = builder_of(
        lambda grouped: grouped.aggregate(lambda: 100, lambda _, value, total: total + int(value), LONG, "store"), LONG
    )
    assert run(aggregated, RECORDS, LONG) == [("a", 101), ("b", 102), ("a", 101), ("a", 105)]
    sums = run(aggregated, [("a", "-100"), ("a", "1")], LONG)
    assert sums == [("a", 0), ("a", 1)], "an aggregate of 0 does not begin again"


def test_an_empty_value_is_reduced_like_any_other() -> None:
    builder = KStreamBuilder()
    grouped: KGroupedStream[str, str] = builder.stream("in", key_serde=STRING, value_serde=STRING).group_by_key()
    grouped.reduce(lambda old, new: f"{old},{new}", "store").to("out", STRING, STRING)
    assert run(builder, [("a", ""), ("a", "1"), ("a", "")]) == [("a", ""), ("a", ",1"), ("a", ",1,")]


def test_the_changelog_of_an_aggregate_has_each_change() -> None:
    builder = KStreamBuilder()
    stream = builder.stream("in", key_serde=STRING, value_serde=STRING)
    stream.select_key(lambda _, value: value).group_by_key(STRING, STRING).count("store")
    with driver_of(builder) as driver:
        for number, word in enumerate(["x", "y", None, "x"]):
            driver.pipe_input("in", "k", word, timestamp=number)
        assert outputs(driver, "app-store-repartition") == [("x", "x"), ("y", "y"), ("x", "x")]
        assert outputs(driver, "app-store-changelog", LONG) == [("x", 1), ("y", 1), ("x", 2)]


# ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────────────

CHANGES: Input = [("a", "1"), ("b", "20"), ("a", "30"), (None, "4"), ("b", None)]


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


# ── changes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bytes_of_a_change() -> None:
    serializer, deserializer = ChangedSerializer(None), ChangedDeserializer(None)
    serializer.use_default(LONG)
    deserializer.use_default(LONG)
    for change, data in [(Change(258, None), b"\0\0\0\0\0\0\1\2\1"), (Change(None, 1), b"\0\0\0\0\0\0\0\1\0")]:
        assert serializer.serialize("t", change) == data
        assert deserializer.deserialize("t", data) == change
    assert serializer.serialize("t", None) is deserializer.deserialize("t", None) is None
    with pytest.raises(StreamsError, match=r"Both old and new values are not null \(1 : 2\)"):
        serializer.serialize("t", Change(2, 1))
    with pytest.raises(StreamsError, match="Both old and new values are null"):
        serializer.serialize("t", Change(None, None))
