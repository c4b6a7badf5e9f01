"""Joins with tables: which changes send what, and that a joined table is right after any history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

STRING = Serdes.string()
Event = tuple[str, str | None, str | None]
"""Topic, key and value of an input record."""


def run(builder: KStreamBuilder, events: list[Event]) -> list[tuple[Any, Any]]:
    """Send the events; returns the records of topic out."""
    result = []
    with TopologyTestDriver(builder, key_serde=STRING, value_serde=STRING) as driver:
        for topic, key, value in events:
            driver.pipe_input(topic, key, value, timestamp=1)
        while (record := driver.read_output("out")) is not None:
            result.append((record.key, record.value))
    return result


def both(value: str | None, other: str | None) -> str:
    return f"{value}+{other}"


def stream_and_table() -> tuple[KStreamBuilder, KStream[str, str], KTable[str, str]]:
    builder = KStreamBuilder()
    return builder, builder.stream("s", key_serde=STRING, value_serde=STRING), builder.table("t", "T", STRING, STRING)


STREAM_EVENTS: list[Event] = [
    ("s", "a", "1"), ("t", "a", "x"), ("s", "a", "2"), ("t", "a", "y"), ("s", "a", "3"), ("s", None, "4"),
    ("s", "a", None), ("s", "b", "5"), ("t", "a", None), ("s", "a", "6"),
]  # fmt: skip


def test_a_record_meets_the_value_that_is_in_the_table_now() -> None:
    builder, stream, table = stream_and_table()
    stream.join(table, both).to("out")
    assert run(builder, STREAM_EVENTS) == [("a", "2+x"), ("a", "3+y")]


def test_a_left_join_of_a_stream_keeps_every_record_with_key_and_value() -> None:
    builder, stream, table = stream_and_table()
    stream.left_join(table, both).to("out")
    expected = ["1+None", "2+x", "3+y", "5+None", "6+None"]
    assert [value for _, value in run(builder, STREAM_EVENTS)] == expected


def test_a_stream_meets_a_table_that_is_filtered_and_mapped() -> None:
    builder, stream, table = stream_and_table()
    stream.join(table.filter(lambda _, value: value != "x").map_values(str.upper), both).to("out")
    assert run(builder, STREAM_EVENTS) == [("a", "3+Y")]


def test_a_stream_with_a_new_key_is_repartitioned_before_the_join() -> None:
    builder, stream, table = stream_and_table()
    stream.map(lambda key, value: (value, key)).join(table, both, STRING, STRING).to("out")
    assert run(builder, [("t", "v", "x"), ("s", "k", "v"), ("s", "k", None)]) == [("v", "k+x")]
    groups = builder.topic_groups()
    assert [sorted(info.source_topics) for info in groups.values()] == [
        ["s"], ["t", "test-KSTREAM-MAP-0000000003-repartition"],
    ]  # fmt: skip
    assert builder.copartition_groups() == [{"t", "test-KSTREAM-MAP-0000000003-repartition"}]


def two_tables(join: Callable[[KTable[str, str], KTable[str, str]], KTable[str, Any]]) -> KStreamBuilder:
    builder = KStreamBuilder()
    join(builder.table("s", "S", STRING, STRING), builder.table("t", "T", STRING, STRING)).to("out")
    return builder


TABLE_EVENTS: list[Event] = [
    ("s", "a", "1"), ("t", "a", "x"), ("s", "a", "2"), ("t", "a", None), ("s", "a", None), ("t", "b", "y"),
    ("s", "b", None), ("s", None, "z"), ("s", "c", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("join", "expected"),
    [
        (lambda s, t: s.join(t, both), ["1+x", "2+x", None, None]),
        (lambda s, t: s.left_join(t, both), ["1+None", "1+x", "2+x", "2+None", None, None]),
        (lambda s, t: s.outer_join(t, both), ["1+None", "1+x", "2+x", "2+None", None, "None+y", "None+y"]),
    ],
    ids=["inner", "left", "outer"],
)
def test_what_a_join_of_tables_sends(join: Callable[[Any, Any], KTable[str, Any]], expected: list[str | None]) -> None:
    assert [value for _, value in run(two_tables(join), TABLE_EVENTS)] == expected


def test_a_table_meets_its_own_new_value() -> None:
    builder = KStreamBuilder()
    table = builder.table("t", "T", STRING, STRING)
    table.join(table.map_values(str.upper), both).to("out")
    results = run(builder, [("t", "a", "x"), ("t", "a", "y")])
    assert [value for _, value in results] == ["x+X", "x+X", "y+Y", "y+Y"], "once for each side"


def test_names_of_joins_are_kafkas() -> None:
    builder = two_tables(lambda s, t: s.join(t, both)).set_application_id("app")
    assert [node.name for node in builder.build(0).processors] == [
        "KSTREAM-SOURCE-0000000000", "KTABLE-SOURCE-0000000001",
        "KSTREAM-SOURCE-0000000002", "KTABLE-SOURCE-0000000003",
        "KTABLE-JOINTHIS-0000000004", "KTABLE-JOINOTHER-0000000005", "KTABLE-MERGE-0000000006",
        "KTABLE-TOSTREAM-0000000007", "KSTREAM-SINK-0000000008",
    ]  # fmt: skip
    assert builder.copartition_groups() == [{"s", "t"}]


EVENTS = st.lists(
    st.tuples(st.sampled_from("stu"), st.sampled_from("ab"), st.none() | st.sampled_from(["x", "y", "xyz"])),
    max_size=25,
)
KINDS = ["join", "left_join", "outer_join"]


@given(EVENTS, st.sampled_from(KINDS), st.sampled_from(KINDS), st.booleans())
def test_joined_tables_are_right_after_any_history(events: list[Event], first: str, second: str, group: bool) -> None:
    """(s joined with t, filtered) joined with u: its last changes give the join of the tables as they are now.

    With ``group`` it is grouped as well, which needs the old values: each group has the right members.
    """
    builder = KStreamBuilder()
    s, t, u = (builder.table(topic, topic.upper(), STRING, STRING) for topic in "stu")
    inner: KTable[str, str] = getattr(s, first)(t, both)
    inner = inner.filter(lambda _, value: "y" not in value)
    joined: KTable[str, str] = getattr(inner, second)(u, both)
    joined.to("out")
    if group:
        joined.group_by(lambda key, value: (str(len(value)), key), STRING, STRING).aggregate(
            list,
            lambda _, key, members: sorted([*members, key]),
            lambda _, key, members: [each for each in members if each != key],
            Serdes.json(),
            "groups",
        )
    now: dict[str, dict[str, str]] = {"s": {}, "t": {}, "u": {}}
    last: dict[str, str | None] = {}
    with TopologyTestDriver(builder, key_serde=STRING, value_serde=STRING) as driver:
        for topic, key, value in events:
            driver.pipe_input(topic, key, value, timestamp=1)
            assert key is not None
            now[topic].pop(key, None)
            if value is not None:
                now[topic][key] = value
        while (record := driver.read_output("out")) is not None:
            last[record.key] = record.value
        expected = {key: value for key in "ab" if (value := joined_now(now, key, first, second)) is not None}
        assert {key: value for key, value in last.items() if value is not None} == expected
        if group:
            groups: dict[str, list[str]] = {}
            for key, value in sorted(expected.items()):
                groups.setdefault(str(len(value)), []).append(key)
            assert {length: keys for length, keys in driver.key_value_store("groups").all() if keys} == groups


def joined_now(now: dict[str, dict[str, str]], key: str, first: str, second: str) -> str | None:
    """The value of a key, by looking at the tables."""

    def join(kind: str, value: str | None, other: str | None) -> str | None:
        missing = {"join": value is None or other is None, "left_join": value is None}
        return None if missing.get(kind, value is None and other is None) else both(value, other)

    inner = join(first, now["s"].get(key), now["t"].get(key))
    inner = None if inner is None or "y" in inner else inner
    return join(second, inner, now["u"].get(key))
