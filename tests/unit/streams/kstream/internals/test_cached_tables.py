"""Tables whose stores have a cache: what is passed on, logged and read before and after a commit."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.serdes import Serde, Serdes
from kafka_lite.streams.errors import ProcessorStateError
from kafka_lite.streams.kstream.internals.change import Change
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.windowed_serde import SessionKeySerde, WindowedSerde
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

STRING, LONG = Serdes.string(), Serdes.long()
Found = list[tuple[Any, Any, int | None]]


def driver_of(builder: KStreamBuilder, cache_bytes: int = 100_000) -> TopologyTestDriver:
    return TopologyTestDriver(
        builder, application_id="app", key_serde=STRING, value_serde=STRING, cache_max_bytes_buffering=cache_bytes
    )


def sent(driver: TopologyTestDriver, topic: str, key_serde: Serde[Any], value_serde: Serde[Any]) -> Found:
    """Keys, values and timestamps of the records of a topic that have not been read yet."""
    found: Found = []
    while record := driver.read_output(topic, key_serde.deserializer, value_serde.deserializer):
        found.append((record.key, record.value, record.timestamp))
    return found


def counting() -> KStreamBuilder:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    stream.group_by_key().count("Counts").to("out", STRING, LONG)
    return builder


def test_a_commit_passes_on_and_logs_the_last_value_of_each_key() -> None:
    with driver_of(counting()) as driver:
        for number, key in enumerate("abaab"):
            driver.pipe_input("in", key, "v", timestamp=number)
        assert sent(driver, "out", STRING, LONG) == []
        assert sent(driver, "app-Counts-changelog", STRING, LONG) == []
        assert list(driver.key_value_store("Counts").all()) == [("a", 3), ("b", 2)], "readers see the cache"
        assert not driver.committed
        driver.commit()
        expected = [("a", 3, 3), ("b", 2, 4)]
        assert sent(driver, "out", STRING, LONG) == expected, "with the time of the last record of each key"
        assert sent(driver, "app-Counts-changelog", STRING, LONG) == expected
        driver.commit()
        assert sent(driver, "out", STRING, LONG) == []
        driver.pipe_input("in", "b", "v", timestamp=9)
        assert driver.key_value_store("Counts").get("b") == 3
        assert list(driver.key_value_store("Counts").range("b", "z")) == [("b", 3)]


def test_processors_get_what_is_in_the_caches_before_they_are_closed() -> None:
    calls: list[str] = []

    class Closing(Processor[str, Any]):
        """Notes what it gets, and when it is closed."""

        def process(self, key: str, value: Any) -> None:
            calls.append(f"{key} {value}")

        def close(self) -> None:
            calls.append("close")

    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    builder.add_processor("closing", Closing, stream.group_by_key().count("Counts").to_stream().name)
    with driver_of(builder) as driver:
        driver.pipe_input("in", "a", "v", timestamp=1)
        assert calls == []
    assert calls == ["a 1", "close"]


@pytest.mark.parametrize("cache_bytes", [0, 100_000])
@pytest.mark.parametrize(("is_grouped", "old"), [(False, None), (True, "x")])
def test_changes_have_old_values_only_if_somebody_needs_them(
    is_grouped: bool, old: str | None, cache_bytes: int
) -> None:
    changes: list[Change[str]] = []

    class Noting(Processor[str, Change[str]]):
        """Notes the changes."""

        def process(self, key: str, value: Change[str]) -> None:
            changes.append(value)

    builder = KStreamBuilder()
    table: KTable[str, str] = builder.table("in", "Table")
    builder.add_processor("noting", Noting, table.name)
    if is_grouped:
        table.group_by(lambda key, value: (value, key)).count("Counts")
    with driver_of(builder, cache_bytes) as driver:
        for value in ("x", "y"):
            driver.pipe_input("in", "a", value, timestamp=1)
            driver.commit()
    assert changes == [Change("x", None), Change("y", old)]


def test_a_query_of_another_thread_does_not_flush_a_full_cache() -> None:
    threads: list[int] = []
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    stream.group_by_key().count("Counts").foreach(lambda *_: threads.append(threading.get_ident()))
    with driver_of(builder, 60) as driver, ThreadPoolExecutor(1) as other:
        for key in "baa":  # the cache has room for one of them
            driver.pipe_input("in", key, "v", timestamp=1)
        assert len(threads) == 2, "a is counted a second time only in the cache"
        assert other.submit(driver.key_value_store("Counts").get, "b").result() == 1
        assert len(threads) == 2
        driver.commit()
    assert threads == [threading.get_ident()] * 3


def test_old_values_are_those_that_were_passed_on_last() -> None:
    builder = KStreamBuilder()
    table: KTable[str, str] = builder.table("in", "Table")
    lengths = table.group_by(lambda _, value: (value[:1], value), STRING, STRING)
    lengths.reduce(lambda old, new: old + new, lambda old, gone: old.replace(gone, "-"), "Groups").to("out")
    with driver_of(builder) as driver:
        for value in ["x1", "x2", "y3"]:
            driver.pipe_input("in", "k", value, timestamp=1)
        driver.commit()
        assert sent(driver, "out", STRING, STRING) == [("y", "y3", 1)], "x1 and x2 have never been anywhere"
        driver.pipe_input("in", "k", "x4", timestamp=2)
        driver.pipe_input("in", "k", "x5", timestamp=3)
        driver.commit()
        assert sent(driver, "out", STRING, STRING) == [("y", "-", 3), ("x", "x5", 3)]


def test_a_deletion_is_passed_on() -> None:
    builder = KStreamBuilder()
    table: KTable[str, str] = builder.table("in", "Table")
    table.to("out")
    with driver_of(builder) as driver:
        driver.pipe_input("in", "a", "1", timestamp=1)
        driver.commit()
        driver.pipe_input("in", "a", None, timestamp=2)
        driver.pipe_input("in", "b", "1", timestamp=3)
        assert list(driver.key_value_store("Table").all()) == [("b", "1")]
        assert driver.key_value_store("Table").get("a") is None
        driver.commit()
        assert sent(driver, "out", STRING, STRING) == [("a", "1", 1), ("a", None, 2), ("b", "1", 3)]


def test_a_join_finds_what_is_still_in_the_cache_of_the_other_table() -> None:
    builder = KStreamBuilder()
    left: KTable[str, str] = builder.table("left", "Left")
    right: KTable[str, str] = builder.table("right", "Right")
    left.join(right, lambda a, b: f"{a}+{b}").to("out")
    with driver_of(builder) as driver:
        driver.pipe_input("left", "k", "1", timestamp=1)
        driver.pipe_input("right", "k", "2", timestamp=2)
        driver.commit()
        assert sent(driver, "out", STRING, STRING) == [("k", "1+2", 1), ("k", "1+2", 2)]


@pytest.mark.parametrize("cache_bytes", [0, 100_000])
def test_a_window_is_sent_with_its_start_as_time(cache_bytes: int) -> None:
    builder, windowed = KStreamBuilder(), WindowedSerde(STRING)
    stream: KStream[str, str] = builder.stream("in")
    stream.group_by_key().count("Counts", TimeWindows.of(10)).to("out", windowed, LONG)
    with driver_of(builder, cache_bytes) as driver:
        for timestamp in (14, 25, 12):
            driver.pipe_input("in", "a", "v", timestamp=timestamp)
        driver.commit()
        found = [(key.window.start, count, time) for key, count, time in sent(driver, "out", windowed, LONG)]
        logged = [time for _, _, time in sent(driver, "app-Counts-changelog", Serdes.byte_array(), LONG)]
    if cache_bytes:
        assert found == [(20, 1, 20), (10, 2, 10)]
        assert logged == [12, 12], "the changelog has the time of the record that is current at the flush"
    else:
        assert found == [(10, 1, 10), (20, 1, 20), (10, 2, 10)]
        assert logged == [14, 25, 12]


def test_a_session_is_sent_and_logged_with_its_end_as_time() -> None:
    builder, sessions = KStreamBuilder(), SessionKeySerde(STRING)
    stream: KStream[str, str] = builder.stream("in")
    counts = stream.group_by_key().count("Counts", SessionWindows.with_gap(5))
    counts.to("out", sessions, LONG)
    with driver_of(builder) as driver:

        def found(topic: str) -> Found:
            records = sent(driver, topic, sessions, LONG)
            return [((each.window.start, each.window.end), count, time) for each, count, time in records]

        driver.pipe_input("in", "a", "v", timestamp=10)
        driver.commit()
        assert found("out") == found("app-Counts-changelog") == [((10, 10), 1, 10)]
        for timestamp in (18, 14):
            driver.pipe_input("in", "a", "v", timestamp=timestamp)
        driver.commit()
        assert found("app-Counts-changelog") == [((10, 10), None, 10), ((18, 18), None, 18), ((10, 18), 3, 18)]
        assert found("out") == [((10, 10), None, 10), ((10, 18), 3, 18)], "nobody has seen the session at 18"


def test_an_error_behind_a_cache_names_the_store() -> None:
    def fail(_key: Any, _value: Any) -> None:
        raise ValueError("no")

    builder = KStreamBuilder()
    table: KTable[str, str] = builder.table("in", "Table")
    table.foreach(fail)
    with driver_of(builder) as driver:
        driver.pipe_input("in", "a", "1", timestamp=1)
        with pytest.raises(ProcessorStateError, match="Failed to flush state store Table"):
            driver.commit()
        assert not driver.committed


def test_a_store_with_duplicates_has_no_cache() -> None:
    with pytest.raises(ValueError, match="a store that keeps duplicates has nothing to cache"):
        Stores.in_memory_window("store", 1000, retain_duplicates=True, caching_enabled=True)


RECORDS = st.lists(st.tuples(st.sampled_from(["a", "b", "ab", "c"]), st.integers(0, 60)), max_size=25)


@given(records=RECORDS, cache_bytes=st.integers(0, 500), commits=st.sets(st.integers(0, 25)))
def test_caches_of_any_size_lead_to_the_same_tables(
    records: list[tuple[str, int]], cache_bytes: int, commits: set[int]
) -> None:
    def last_values(cache_bytes: int) -> dict[str, dict[Any, Any]]:
        builder = KStreamBuilder()
        stream: KStream[str, str] = builder.stream("in")
        stream.group_by_key().count("Counts").to("counts", STRING, LONG)
        stream.group_by_key().count("Windows", TimeWindows.of(10).advance_by(5)).to("windows", windowed, LONG)
        stream.group_by_key().count("Sessions", SessionWindows.with_gap(4)).to("sessions", sessions, LONG)
        with driver_of(builder, cache_bytes) as driver:
            for number, (key, timestamp) in enumerate(records):
                driver.pipe_input("in", key, "v", timestamp=timestamp)
                if number in commits:
                    driver.commit()
            driver.commit()
            found = {}
            for topic, serde in topics.items():
                values = {key: value for key, value, _ in sent(driver, topic, serde, LONG)}
                found[topic] = {key: value for key, value in values.items() if value is not None}
            return found

    windowed, sessions = WindowedSerde(STRING), SessionKeySerde(STRING)
    raw: Serde[Any] = Serdes.byte_array()
    topics: dict[str, Serde[Any]] = {
        "counts": STRING, "windows": windowed, "sessions": sessions,
        "app-Counts-changelog": raw, "app-Windows-changelog": raw, "app-Sessions-changelog": raw,
    }  # fmt: skip
    assert last_values(cache_bytes) == last_values(0)
