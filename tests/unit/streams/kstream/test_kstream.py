"""The operators on streams: their processors' names, their topics, and what they make of records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.state.stores import Stores
from tests.support.dsl_topologies import LONG, STRING, Input, driver_of, run, stream_of


@pytest.mark.parametrize("returned", ["value", ("key", "value", "more")])
def test_a_mapper_that_returns_no_pair_fails(returned: Any) -> None:
    builder = KStreamBuilder()
    builder.stream("in", key_serde=STRING, value_serde=STRING).map(lambda *_: returned).to("out", STRING, STRING)
    with pytest.raises(ValueError, match="too many values to unpack"):
        run(builder, [("k", "v")])


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
