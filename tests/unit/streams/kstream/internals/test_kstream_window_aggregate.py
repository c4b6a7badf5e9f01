"""Aggregations in windows: results, late records, and the topics around them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.serdes import Serde, Serdes
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.kstream.internals.change import Change
from kafka_lite.streams.kstream.internals.kstream_window_aggregate import KStreamWindowReduce
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.windowed_serde import WindowedSerde
from kafka_lite.streams.kstream.windows import TimeWindows, UnlimitedWindows, Windows
from kafka_lite.streams.processor.state_store import StateStoreSupplier
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.topology_test_driver import TopologyTestDriver
from kafka_lite.streams.windowed import Windowed

STRING, LONG = Serdes.string(), Serdes.long()
WINDOWED: Serde[Windowed[str]] = WindowedSerde(STRING)
MINUTE, DAY_MS = 60_000, 24 * 60 * 60 * 1000
Timed = list[tuple[str | None, str | None, int]]
Result = tuple[str, int, Any]


def outputs(driver: TopologyTestDriver, topic: str, value_serde: Serde[Any]) -> list[Result]:
    found = []
    while record := driver.read_output(topic, WINDOWED.deserializer, value_serde.deserializer):
        found.append((record.key.key, record.key.window.start, record.value))
    return found


def run(builder: KStreamBuilder, records: Timed, value_serde: Serde[Any] = LONG) -> list[Result]:
    """Send records to topic in; returns key, start of the window and value of those of topic out."""
    with TopologyTestDriver(builder, application_id="app", key_serde=STRING, value_serde=STRING) as driver:
        for key, value, timestamp in records:
            driver.pipe_input("in", key, value, timestamp=timestamp)
        return outputs(driver, "out", value_serde)


def counting(windows: Windows) -> KStreamBuilder:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    counts: KTable[Windowed[str], int] = stream.group_by_key().count("Counts", windows)
    counts.to("out", WINDOWED, LONG)
    return builder


def test_each_window_of_a_key_has_its_count() -> None:
    records: Timed = [("a", "x", 1), ("b", "x", 2), ("a", "x", 9), ("a", "x", 10), (None, "x", 11), ("a", None, 5)]
    assert run(counting(TimeWindows.of(10)), records) == [
        ("a", 0, 1), ("b", 0, 1), ("a", 0, 2), ("a", 10, 1), ("a", 0, 3),
    ]  # fmt: skip


def test_a_record_changes_the_known_windows_first_and_then_begins_new_ones() -> None:
    windows = TimeWindows.of(10).advance_by(5)
    assert run(counting(windows), [("a", "x", 6), ("a", "x", 12), ("a", "x", 3)]) == [
        ("a", 0, 1), ("a", 5, 1), ("a", 5, 2), ("a", 10, 1), ("a", 0, 2),
    ]  # fmt: skip


def test_a_joined_window_meets_the_one_of_the_same_start_and_not_its_neighbor() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    counts: KTable[Windowed[str], int] = stream.group_by_key().count("Counts", TimeWindows.of(2).advance_by(1))
    counts.join(counts.map_values(lambda count: 10 * count), lambda one, ten: one + ten).to("out", WINDOWED, LONG)
    assert set(run(builder, [("a", "x", 0), ("a", "x", 1)])) == {("a", 0, 11), ("a", 0, 22), ("a", 1, 11)}


def test_an_aggregate_of_0_does_not_begin_its_window_again() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    sums: KTable[Windowed[str], int] = stream.group_by_key().aggregate(
        lambda: 100, lambda _, value, total: total + int(value), LONG, "Sums", TimeWindows.of(10)
    )
    sums.to("out", WINDOWED, LONG)
    records: Timed = [("a", "-100", 1), ("a", "1", 9), ("a", "1", 10)]
    assert run(builder, records) == [("a", 0, 0), ("a", 0, 1), ("a", 10, 101)]


@given(
    records=st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 60)), max_size=30),
    size=st.integers(1, 30),
    part=st.floats(0, 1),
)
def test_counts_are_those_of_the_records_in_each_window(records: list[tuple[str, int]], size: int, part: float) -> None:
    windows = TimeWindows.of(size).advance_by(max(1, int(size * part)))
    results = run(counting(windows), [(key, "x", timestamp) for key, timestamp in records])
    model: dict[tuple[str, int], int] = {}
    for key, timestamp in records:
        for start in windows.windows_for(timestamp):
            model[key, start] = model.get((key, start), 0) + 1
    assert {(key, start): value for key, start, value in results} == model
    assert len(results) == sum(model.values())


def test_records_before_an_unlimited_window_are_dropped() -> None:
    windows = UnlimitedWindows.of().start_on(100)
    assert run(counting(windows), [("a", "x", 99), ("a", "x", 100), ("a", "x", 10**15)]) == [
        ("a", 100, 1), ("a", 100, 2),
    ]  # fmt: skip


def test_a_late_record_whose_window_has_expired_begins_it_anew_and_is_not_kept() -> None:
    late = [("a", "x", timestamp) for timestamp in (0, 10 * MINUTE, 5, 6)]
    assert run(counting(TimeWindows.of(MINUTE).until(2 * MINUTE)), [*late]) == [
        ("a", 0, 1), ("a", 10 * MINUTE, 1), ("a", 0, 1), ("a", 0, 1),
    ]  # fmt: skip


def test_reduce_begins_with_the_first_value_of_each_window() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    stream.group_by_key().reduce(lambda old, new: old + new, "Reduced", TimeWindows.of(10)).to("out", WINDOWED)
    assert run(builder, [("a", "x", 0), ("a", "y", 10), ("a", "z", 9)], STRING) == [
        ("a", 0, "x"), ("a", 10, "y"), ("a", 0, "xz"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "store",
    ["Lengths", Stores.in_memory_window("Lengths", DAY_MS, STRING, LONG)],
    ids=["with a cache", "without one"],
)
def test_aggregates_of_windows_can_be_grouped_again_since_they_send_old_values(
    store: str | StateStoreSupplier[Any],
) -> None:
    """The first aggregate has none. (In 0.10.2, without a cache, it is the initial one: the sums are 6 and 1 there.)"""
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    lengths = stream.group_by_key().aggregate(
        lambda: 100, lambda _, value, total: total + len(value), LONG, store, TimeWindows.of(10)
    )
    by_window = lengths.group_by(lambda key, length: (str(key.window.start), length), STRING, LONG)
    sums = by_window.aggregate(
        lambda: 0, lambda _, new, total: total + new, lambda _, old, total: total - old, LONG, "Sums"
    )
    sums.to("sums", STRING, LONG)
    with TopologyTestDriver(builder, application_id="app", key_serde=STRING, value_serde=STRING) as driver:
        for key, value, timestamp in [("a", "12", 0), ("b", "1", 5), ("a", "123", 7), ("b", "1", 12)]:
            driver.pipe_input("in", key, value, timestamp=timestamp)
        found = {}
        while record := driver.read_output("sums", value_deserializer=LONG.deserializer):
            found[record.key] = record.value
    assert found == {"0": 206, "10": 101}, "each old value has been subtracted"


def test_values_of_windowed_tables_can_be_looked_up() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    counts = stream.group_by_key().count("Counts", TimeWindows.of(10))
    doubled = counts.map_values(lambda count: count * 2)
    counts.join(doubled, lambda one, two: one + two).to("out", WINDOWED, LONG)
    results = run(builder, [("a", "x", 0), ("a", "x", 3), ("a", "x", 10)])
    assert results[-1] == ("a", 10, 3)
    assert ("a", 0, 6) in results


def test_names_of_processors_and_topics_are_those_of_kafka() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    grouped = stream.group_by(lambda _, value: value)
    assert grouped.count("Counts", TimeWindows.of(10)).name == "KSTREAM-AGGREGATE-0000000002"
    assert grouped.reduce(max, "Last", TimeWindows.of(10)).name == "KSTREAM-REDUCE-0000000006"
    builder.set_application_id("app")
    groups = builder.topic_groups().values()
    assert {topic for group in groups for topic in group.repartition_source_topics} == {
        "app-Counts-repartition", "app-Last-repartition",
    }  # fmt: skip
    changelogs = {topic: config for group in groups for topic, config in group.state_changelog_topics.items()}
    assert sorted(changelogs) == ["app-Counts-changelog", "app-Last-changelog"]
    assert changelogs["app-Counts-changelog"].retention_ms == DAY_MS


def test_a_store_of_another_kind_is_reported() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    supplier = KStreamWindowReduce("store", TimeWindows.of(10), lambda old, _: old)
    builder.add_processor("reduce", supplier, stream.name)
    builder.add_state_store(Stores.in_memory_key_value("store"), "reduce")
    with pytest.raises(StreamsError, match="failed to initialize processor reduce") as raised:
        TopologyTestDriver(builder)
    assert "not a WindowStore" in str(raised.value.__cause__)


def test_changes_have_old_values_only_if_they_are_asked_for() -> None:
    changes: list[tuple[Windowed[str], Change[str]]] = []
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    table = stream.group_by_key().reduce(lambda old, new: old + new, "Reduced", TimeWindows.of(10))
    table.foreach(lambda key, value: changes.append((key, Change(value, None))))
    run(builder, [("a", "x", 0), ("a", "y", 1)])
    assert [change for _, change in changes] == [("x", None), ("xy", None)]
