"""Sessions: which records belong together, what a merge sends, and their store."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.errors import ProcessorStateError, StreamsError
from kafka_lite.streams.kstream.internals.kstream_session_window_aggregate import KStreamSessionWindowAggregate
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.state.session_store import SessionStore
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.topology_test_driver import TopologyTestDriver
from kafka_lite.streams.windowed import SessionWindow, Windowed

STRING, LONG = Serdes.string(), Serdes.long()
MINUTE, DAY_MS = 60_000, 24 * 60 * 60 * 1000
Session = tuple[str, int, int]
"""Key, start, end."""
Timed = list[tuple[str | None, str, int]]


def driver_of(builder: KStreamBuilder) -> TopologyTestDriver:
    return TopologyTestDriver(builder, application_id="app", key_serde=STRING, value_serde=STRING)


def changes_of(
    builder: KStreamBuilder, changes: list[tuple[Session, Any]], records: Timed
) -> list[tuple[Session, Any]]:
    with driver_of(builder) as driver:
        for key, value, timestamp in records:
            driver.pipe_input("in", key, value, timestamp=timestamp)
    return changes


def counted(records: Timed, windows: SessionWindows) -> list[tuple[Session, int | None]]:
    """The changes of the table of counts."""
    changes: list[tuple[Session, int | None]] = []
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    table = stream.group_by_key().count("Counts", windows)
    table.foreach(lambda key, count: changes.append(((key.key, key.window.start, key.window.end), count)))
    return changes_of(builder, changes, records)


def test_a_record_between_two_sessions_merges_them() -> None:
    records: Timed = [("a", "x", 0), ("a", "x", 3), ("b", "x", 5), ("a", "x", 9), (None, "x", 6), ("a", "x", 6)]
    assert counted(records, SessionWindows.with_gap(5)) == [
        (("a", 0, 0), 1),
        (("a", 0, 0), None), (("a", 0, 3), 2),
        (("b", 5, 5), 1),
        (("a", 9, 9), 1),
        (("a", 0, 3), None), (("a", 9, 9), None), (("a", 0, 9), 4),
    ]  # fmt: skip


def test_a_record_of_the_same_time_stays_in_its_session_of_one_moment() -> None:
    records: Timed = [("a", "x", 7), ("a", "x", 7)]
    assert counted(records, SessionWindows.with_gap(5)) == [(("a", 7, 7), 1), (("a", 7, 7), 2)]


@given(
    records=st.lists(st.tuples(st.sampled_from("ab"), st.just("x"), st.integers(0, 80)), max_size=30),
    gap=st.integers(1, 12),
)
def test_sessions_are_the_records_without_long_gaps(records: list[tuple[str, str, int]], gap: int) -> None:
    table: dict[Session, int] = {}
    for session, count in counted([*records], SessionWindows.with_gap(gap)):
        if count is None:
            del table[session]
        else:
            table[session] = count
    expected: dict[Session, int] = {}
    for key in "ab":
        session: list[int] = []
        for timestamp in sorted(stamp for each, _, stamp in records if each == key):
            if session and timestamp - session[-1] > gap:
                expected[key, session[0], session[-1]] = len(session)
                session = []
            session.append(timestamp)
        if session:
            expected[key, session[0], session[-1]] = len(session)
    assert table == expected


def test_reduce_combines_the_sessions_that_become_one() -> None:
    changes: list[tuple[Session, Any]] = []
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    table = stream.group_by_key().reduce(lambda old, new: old + new, "Reduced", SessionWindows.with_gap(5))
    table.foreach(lambda key, value: changes.append(((key.key, key.window.start, key.window.end), value)))
    changes_of(builder, changes, [("a", "1", 0), ("a", "2", 10), ("a", "3", 5)])
    assert changes[-1] == (("a", 0, 10), "123"), "the sessions first, oldest first, then the record"


def test_aggregates_are_merged_by_a_function() -> None:
    changes: list[tuple[Session, Any]] = []
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    table = stream.group_by_key().aggregate(
        lambda: 100,
        lambda key, value, total: total + len(key) + len(value),
        LONG,
        "Lengths",
        SessionWindows.with_gap(5),
        lambda key, total, other: total + other + 10 * len(key),
    )
    table.foreach(lambda key, value: changes.append(((key.key, key.window.start, key.window.end), value)))
    changes_of(builder, changes, [("a", "1", 0), ("a", "22", 3)])
    assert changes == [(("a", 0, 0), 102), (("a", 0, 0), None), (("a", 0, 3), 100 + 102 + 10 + 3)]


def test_old_values_of_merged_sessions_are_subtracted_downstream() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    counts = stream.group_by_key().count("Counts", SessionWindows.with_gap(5))
    by_key = counts.group_by(lambda session, count: (session.key, count), STRING, LONG)
    totals = by_key.aggregate(
        lambda: 0, lambda _, new, total: total + new, lambda _, old, total: total - old, LONG, "Totals"
    )
    totals.to("out", STRING, LONG)
    with driver_of(builder) as driver:
        for timestamp in (0, 10, 5, 20):
            driver.pipe_input("in", "a", "x", timestamp=timestamp)
        totals_seen: list[Any] = []
        while record := driver.read_output("out", value_deserializer=LONG.deserializer):
            totals_seen.append(record.value)
    assert totals_seen == [1, 2, 1, 0, 3, 4]


def test_a_session_expires() -> None:
    windows = SessionWindows.with_gap(5).until(2 * MINUTE)
    records: Timed = [("a", "x", 0), ("a", "x", 10 * MINUTE), ("a", "x", 1), ("a", "x", 2)]
    assert counted(records, windows)[2:] == [(("a", 1, 1), 1), (("a", 2, 2), 1)], "neither is kept"


def test_the_store_and_the_changelog_have_keys_with_end_and_start() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    stream.group_by_key().count("Counts", SessionWindows.with_gap(5))
    with driver_of(builder) as driver:
        for timestamp in (3, 7, 100):
            driver.pipe_input("in", "key", "x", timestamp=timestamp)
        keys = []
        while record := driver.read_output("app-Counts-changelog", Serdes.byte_array().deserializer):
            keys.append((record.key, record.value is None))
        store = driver.state_store("Counts")
        assert isinstance(store, SessionStore)
        sessions = [Windowed("key", SessionWindow(3, 7)), Windowed("key", SessionWindow(100, 100))]
        assert list(store.fetch("key")) == [(sessions[0], 2), (sessions[1], 1)]
        assert list(store.find_sessions("key", 7, 7)) == [(sessions[0], 2)] == list(store.find_sessions("key", 4, 5))
        assert list(store.find_sessions("key", 8, 99)) == [] == list(store.fetch("ke"))
        store.remove(sessions[0])
        assert list(store.fetch("key")) == [(sessions[1], 1)]

    def binary(start: int, end: int) -> bytes:
        return b"key" + end.to_bytes(8) + start.to_bytes(8)

    assert keys == [(binary(3, 3), False), (binary(3, 3), True), (binary(3, 7), False), (binary(100, 100), False)]


def test_the_changelog_is_kept_as_long_as_sessions() -> None:
    builder = KStreamBuilder().set_application_id("app")
    stream: KStream[str, str] = builder.stream("in")
    table = stream.group_by_key().count("Counts", SessionWindows.with_gap(5))
    assert table.name == "KSTREAM-AGGREGATE-0000000001"
    [topics] = builder.topic_groups().values()
    [config] = topics.state_changelog_topics.values()
    assert (config.name, config.cleanup_policy, config.retention_ms) == (
        "app-Counts-changelog",
        "compact,delete",
        DAY_MS,
    )


class Lookup(Processor[str, str]):
    """Looks a session of the table up, and passes its value on."""

    def __init__(self, supplier: KStreamSessionWindowAggregate) -> None:
        self.supplier = supplier

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.value_of = self.supplier.value_getter(context)
        store = context.get_state_store("store")
        assert isinstance(store, SessionStore)
        self.store = store

    def process(self, key: str, value: str) -> None:
        start, end = (int(bound) for bound in value.split("-"))
        if key == "put":
            self.store.put(Windowed("k", SessionWindow(start, end)), 1)
        else:
            self.context.forward(key, str(self.value_of(Windowed("k", SessionWindow(start, end)))))


def test_values_of_sessions_can_be_looked_up() -> None:
    supplier = KStreamSessionWindowAggregate(
        "store", SessionWindows.with_gap(5), int, lambda _, __, total: total, lambda _, total, __: total
    )
    builder = KStreamBuilder()
    builder.add_source("source", "in").add_processor("lookup", lambda: Lookup(supplier), "source")
    builder.add_state_store(Stores.in_memory_session("store", DAY_MS, STRING, LONG), "lookup")
    builder.add_sink("sink", "out", "lookup")
    with driver_of(builder) as driver:
        for key, value in [("put", "1-5"), ("get", "1-5"), ("get", "7-9"), ("put", "3-8")]:
            driver.pipe_input("in", key, value, timestamp=0)
        found: list[Any] = []
        while record := driver.read_output("out"):
            found.append(record.value)
        assert found == ["1", "None"]
        with pytest.raises(StreamsError) as raised:
            driver.pipe_input("in", "get", "1-5", timestamp=0)
    assert isinstance(raised.value.__cause__, ProcessorStateError)
    assert "Store store has 2 sessions of key k at 5" in str(raised.value.__cause__)


def test_a_store_of_another_kind_is_reported() -> None:
    supplier = KStreamSessionWindowAggregate(
        "store", SessionWindows.with_gap(5), int, lambda _, __, total: total, lambda _, total, __: total
    )
    builder = KStreamBuilder()
    builder.add_source("source", "in").add_processor("count", supplier, "source")
    builder.add_state_store(Stores.in_memory_key_value("store"), "count")
    with pytest.raises(StreamsError, match="failed to initialize processor count") as raised:
        driver_of(builder)
    assert "not a SessionStore" in str(raised.value.__cause__)


def test_declarations_that_make_no_sense_are_refused() -> None:
    stream: KStream[str, str] = KStreamBuilder().stream("in")
    grouped = stream.group_by_key()
    with pytest.raises(TypeError, match="aggregation Store: sessions need a merger"):
        grouped.aggregate(int, lambda _, __, total: total, LONG, "Store", SessionWindows.with_gap(5))  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="a merger is only for SessionWindows"):
        grouped.aggregate(  # type: ignore[call-overload]
            int, lambda _, __, total: total, LONG, "Store", TimeWindows.of(5), lambda _, total, __: total
        )
    with pytest.raises(ValueError, match="cannot be zero or negative: 0"):
        SessionWindows.with_gap(0)
    with pytest.raises(ValueError, match="4 cannot be smaller than window gap 5"):
        SessionWindows.with_gap(5).until(4)
    assert SessionWindows.with_gap(2 * DAY_MS).maintain_ms == 2 * DAY_MS
