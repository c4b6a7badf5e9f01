"""Aggregates of the records of a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.kstream.kgrouped_stream import KGroupedStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from tests.support.dsl_topologies import LONG, STRING, Input, driver_of, outputs, run

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
