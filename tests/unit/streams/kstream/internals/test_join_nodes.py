"""Joins of two streams, against a model that compares every record with every other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

STRING = Serdes.string()
Record = tuple[str, str | None, str | None, int]
"""Topic, key, value, timestamp."""
Join = Callable[[KStream[str, str], KStream[str, str], JoinWindows], KStream[str, str]]


def both(value: str | None, other: str | None) -> str:
    return f"{value}+{other}"


JOINS: dict[str, Join] = {
    "inner": lambda left, right, windows: left.join(right, both, windows=windows),
    "left": lambda left, right, windows: left.left_join(right, both, windows=windows),
    "outer": lambda left, right, windows: left.outer_join(right, both, windows=windows),
}


def run(join: Join, windows: JoinWindows, records: list[Record]) -> list[tuple[str, str, int]]:
    """Key, value and timestamp of the results."""
    builder = KStreamBuilder()
    join(builder.stream("left"), builder.stream("right"), windows).to("out")
    with TopologyTestDriver(builder, application_id="app", key_serde=STRING, value_serde=STRING) as driver:
        for topic, key, value, timestamp in records:
            driver.pipe_input(topic, key, value, timestamp=timestamp)
        found = []
        while record := driver.read_output("out"):
            found.append((record.key, record.value, record.timestamp or 0))
        return found


def expected(kind: str, windows: JoinWindows, records: list[Record]) -> list[tuple[str, str, int]]:
    """Each record meets the earlier ones of the other topic with its key and in its window, by time and arrival."""
    found = []
    for number, (topic, key, value, timestamp) in enumerate(records):
        if key is None or value is None:
            continue
        is_left = topic == "left"
        before, after = windows.before_ms, windows.after_ms
        if not is_left:
            before, after = after, before
        others = sorted(
            (other_timestamp, earlier)
            for earlier, (other_topic, other_key, other_value, other_timestamp) in enumerate(records[:number])
            if other_topic != topic and other_key == key and other_value is not None
            if max(0, timestamp - before) <= other_timestamp <= max(0, timestamp + after)
        )
        values: list[str | None] = [records[earlier][2] for _, earlier in others]
        if not values and (kind == "outer" or (kind == "left" and is_left)):
            values = [None]
        found += [(key, both(value, other) if is_left else both(other, value), timestamp) for other in values]
    return found


@pytest.mark.parametrize("kind", JOINS)
@given(
    records=st.lists(
        st.tuples(
            st.sampled_from(["left", "right"]),
            st.sampled_from(["a", "a", "b", None]),
            st.sampled_from(["1", "2", "3", None]),
            st.integers(0, 30),
        ),
        max_size=25,
    ),
    bounds=st.tuples(st.integers(-10, 10), st.integers(-10, 10)).filter(lambda pair: sum(pair) >= 0),
)
def test_records_near_in_time_are_joined(kind: str, records: list[Record], bounds: tuple[int, int]) -> None:
    windows = JoinWindows(*bounds)
    assert run(JOINS[kind], windows, records) == expected(kind, windows, records)


def test_a_record_whose_retention_is_over_is_not_joined() -> None:
    minute = 60_000
    windows = JoinWindows.of(100).until(2 * minute)
    late: list[Record] = [("left", "a", "1", 10), ("right", "a", "2", 20), ("left", "b", "3", 9 * minute)]
    results = run(JOINS["inner"], windows, [*late, ("right", "a", "4", 10), ("left", "a", "5", 10)])
    assert results == [("a", "1+2", 20), ("a", "5+4", 10), ("a", "5+2", 10)], "only the store of the left one moved on"


@pytest.mark.parametrize(("minutes", "results"), [(14, [("a", "1+3", 20)]), (15, [])])
def test_records_are_kept_for_the_retention_time_and_half_of_it_more(
    minutes: int, results: list[tuple[str, str, int]]
) -> None:
    windows = JoinWindows.of(100).until(10 * 60_000)
    assert (
        run(
            JOINS["inner"],
            windows,
            [("left", "a", "1", 10), ("left", "b", "2", minutes * 60_000), ("right", "a", "3", 20)],
        )
        == results
    )


def test_keys_that_may_have_changed_are_repartitioned_on_both_sides() -> None:
    builder = KStreamBuilder()
    left: KStream[str, str] = builder.stream("left")
    right: KStream[str, str] = builder.stream("right")
    joined = left.select_key(lambda _, value: value).outer_join(
        right.map(lambda key, value: (value, key)), both, windows=JoinWindows.of(5)
    )
    assert joined.name == "KSTREAM-MERGE-0000000014"
    builder.set_application_id("app")
    topics = builder.topic_groups()[2]
    assert topics.source_topics == {
        "app-KSTREAM-KEY-SELECT-0000000002-repartition", "app-KSTREAM-MAP-0000000003-repartition",
    }  # fmt: skip
    assert sorted(topics.state_changelog_topics) == [
        "app-KSTREAM-OUTEROTHER-0000000013-store-changelog", "app-KSTREAM-OUTERTHIS-0000000012-store-changelog",
    ]  # fmt: skip
    assert topics.source_topics in builder.copartition_groups()


def test_each_side_of_a_join_has_its_own_serde_also_in_repartition_topics() -> None:
    long, builder = Serdes.long(), KStreamBuilder()
    names = builder.stream("left", key_serde=STRING, value_serde=STRING).select_key(lambda key, _: key)
    ages = builder.stream("right", key_serde=STRING, value_serde=long).select_key(lambda key, _: key)
    windows = JoinWindows.of(5)
    joined = names.join(
        ages, lambda name, age: f"{name} {age + 1}", STRING, STRING, windows=windows, other_value_serde=long
    )
    joined.to("out", STRING, STRING)
    with TopologyTestDriver(builder, key_serde=STRING) as driver:
        driver.pipe_input("left", "k", "Ann", timestamp=1, value_serializer=STRING.serializer)
        driver.pipe_input("right", "k", 41, timestamp=1, value_serializer=long.serializer)
        record = driver.read_output("out", value_deserializer=STRING.deserializer)
        assert record is not None
        assert record.value == "Ann 42"


@pytest.mark.parametrize(
    ("kind", "this", "other"),
    [("inner", "JOINTHIS", "JOINOTHER"), ("left", "JOINTHIS", "OUTEROTHER"), ("outer", "OUTERTHIS", "OUTEROTHER")],
)
def test_names_of_processors_are_those_of_kafka(kind: str, this: str, other: str) -> None:
    builder = KStreamBuilder()
    joined = JOINS[kind](builder.stream("left"), builder.stream("right"), JoinWindows.of(5))
    assert joined.name == "KSTREAM-MERGE-0000000006"
    text = str(builder.describe())
    names = ["WINDOWED-0000000002", "WINDOWED-0000000003", f"{this}-0000000004", f"{other}-0000000005"]
    for name in names:
        assert f"Processor: KSTREAM-{name} " in text


def test_a_stream_can_be_joined_with_itself() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    stream.join(stream, both, windows=JoinWindows.of(5)).to("out")
    with TopologyTestDriver(builder, application_id="app", key_serde=STRING, value_serde=STRING) as driver:
        driver.pipe_input("in", "k", "1", timestamp=1)
        driver.pipe_input("in", "k", "2", timestamp=2)
        found: list[Any] = []
        while record := driver.read_output("out"):
            found.append(record.value)
    assert found == ["1+1", "2+1", "1+2", "2+2"]


def test_joins_that_make_no_sense_are_refused() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    table: KTable[str, str] = builder.table("table", "Table")
    with pytest.raises(TypeError, match="a join of two streams needs windows"):
        stream.join(stream, both)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="a join with a table has neither windows"):
        stream.left_join(table, both, windows=JoinWindows.of(5))  # type: ignore[call-overload]
    with pytest.raises(TopologyBuilderError, match="must be no smaller than its window size: 10 < 11"):
        stream.join(stream, both, windows=JoinWindows.of(5).until(10))
    with pytest.raises(TopologyBuilderError, match="JOINTHIS"):
        stream.join(stream, both, windows=JoinWindows.of(5 * 24 * 60 * 60 * 1000).until(10 * 24 * 60 * 60 * 1000))
