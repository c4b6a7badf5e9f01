"""Window stores: what they find, what expires, and their changelogs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.state.window_store import WindowStore
from kafka_lite.streams.state.windowed.in_memory_segment import InMemorySegment
from kafka_lite.streams.state.windowed.key_schema import MAX_TIME, WindowStoreKeySchema
from kafka_lite.streams.state.windowed.segmented_bytes_store import InMemorySegmentedBytesStore
from kafka_lite.streams.state.windowed.segments import MIN_SEGMENT_INTERVAL_MS, Segment, Segments
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

MINUTE = MIN_SEGMENT_INTERVAL_MS
CHANGELOG = "test-store-changelog"
each_kind = pytest.mark.parametrize("kind", ["in_memory", "persistent"])
Puts = list[tuple[str, int, int | None]]


class Writer(Processor[str, int]):
    """Puts each record into the store at the record's time."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.store: WindowStore[str, int] = context.get_state_store("store")  # type: ignore[assignment]

    def process(self, key: str, value: int) -> None:
        self.store.put(key, value)


def driver_of(retention_ms: int, kind: str = "in_memory", **options: Any) -> TopologyTestDriver:
    builder = TopologyBuilder().add_source("source", "in").add_processor("writer", Writer, "source")
    supplier = getattr(Stores, f"{kind}_window")("store", retention_ms, Serdes.string(), Serdes.long(), **options)
    builder.add_state_store(supplier, "writer")
    return TopologyTestDriver(builder, key_serde=Serdes.string(), value_serde=Serdes.long())


def store_of(driver: TopologyTestDriver) -> WindowStore[str, int]:
    store = driver.state_store("store")
    assert isinstance(store, WindowStore)
    return store


def put(driver: TopologyTestDriver, *records: tuple[str, int, int | None]) -> None:
    for key, timestamp, value in records:
        driver.pipe_input("in", key, value, timestamp=timestamp)


def logged(driver: TopologyTestDriver) -> list[tuple[bytes, int | None, int | None]]:
    found = []
    while record := driver.read_output(
        CHANGELOG, Serdes.byte_array().deserializer, value_deserializer=Serdes.long().deserializer
    ):
        found.append((record.key, record.value, record.timestamp))
    return found


@each_kind
def test_fetch_finds_the_values_of_a_key_in_order_of_time(kind: str) -> None:
    with driver_of(10 * MINUTE, kind) as driver:
        put(driver, ("a", 9 * MINUTE, 1), ("a", 10, 2), ("ab", 10, 3), ("a", 4 * MINUTE, 4), ("a", 10, 5))
        store = store_of(driver)
        assert list(store.fetch("a", 0, MAX_TIME)) == [(10, 5), (4 * MINUTE, 4), (9 * MINUTE, 1)]
        assert list(store.fetch("a", 10, 10)) == [(10, 5)]
        assert list(store.fetch("a", -5, 9)) == [] == list(store.fetch("b", 0, MAX_TIME))
        assert list(store.fetch("a", 20, 10)) == [] == list(store.fetch("a", -20, -10))
        assert list(store.fetch("a", 11, 9 * MINUTE)) == [(4 * MINUTE, 4), (9 * MINUTE, 1)]


@each_kind
def test_values_of_the_same_time_are_kept_beside_each_other_with_retain_duplicates(kind: str) -> None:
    with driver_of(MINUTE, kind, retain_duplicates=True) as driver:
        put(driver, ("a", 10, 1), ("a", 10, 1), ("b", 10, 2), ("a", 5, 3))
        assert list(store_of(driver).fetch("a", 0, 10)) == [(5, 3), (10, 1), (10, 1)]
        keys = [key for key, _, _ in logged(driver)]
        assert keys == [
            bytes([letter]) + time.to_bytes(8) + number.to_bytes(4)
            for letter, time, number in [(97, 10, 1), (97, 10, 2), (98, 10, 3), (97, 5, 4)]
        ]


def test_the_numbers_of_duplicates_begin_again_before_they_are_too_large() -> None:
    with driver_of(MINUTE, retain_duplicates=True) as driver:
        store: Any = store_of(driver)
        store._seqnum = (1 << 31) - 2
        put(driver, ("a", 5, 1), ("a", 5, 2), ("a", 6, 3))
        assert sorted(store.fetch("a", 5, 6)) == [(5, 1), (5, 2), (6, 3)]


@each_kind
def test_the_changelog_gets_binary_keys_and_deletions(kind: str) -> None:
    with driver_of(MINUTE, kind) as driver:
        put(driver, ("key", 77, 1), ("key", 77, None))
        binary = b"key" + (77).to_bytes(8) + bytes(4)
        assert logged(driver) == [(binary, 1, 77), (binary, None, 77)]
        assert list(store_of(driver).fetch("key", 0, 100)) == []


@each_kind
def test_a_store_without_logging_has_no_changelog(kind: str) -> None:
    with driver_of(MINUTE, kind, logging_enabled=False) as driver:
        put(driver, ("key", 1, 1))
        assert logged(driver) == []
        assert list(store_of(driver).fetch("key", 1, 1)) == [(1, 1)]


def test_the_changelog_is_compacted_and_old_segments_of_it_deleted() -> None:
    builder = TopologyBuilder().set_application_id("app").add_source("source", "in")
    builder.add_processor("writer", Writer, "source")
    builder.add_state_store(Stores.in_memory_window("store", 5000, log_config={"segment.ms": "7"}), "writer")
    [topics] = builder.topic_groups().values()
    [config] = topics.state_changelog_topics.values()
    assert config.to_properties(600) == {
        "cleanup.policy": "compact,delete",
        "retention.ms": "5600",
        "segment.ms": "7",
    }


@pytest.mark.parametrize(
    ("retention_ms", "configs", "expected"),
    [(MAX_TIME, {}, str(MAX_TIME)), (5000, {"retention.ms": "99"}, "99"), (5000, {}, "5600")],
)
def test_the_retention_of_a_changelog_has_a_limit_and_can_be_configured(
    retention_ms: int, configs: dict[str, str], expected: str
) -> None:
    builder = TopologyBuilder().set_application_id("app").add_source("source", "in")
    builder.add_processor("writer", Writer, "source")
    builder.add_state_store(Stores.in_memory_window("store", retention_ms, log_config=configs), "writer")
    [topics] = builder.topic_groups().values()
    [config] = topics.state_changelog_topics.values()
    assert config.to_properties(600)["retention.ms"] == expected


@each_kind
def test_a_late_value_whose_retention_is_over_is_logged_but_not_kept(kind: str) -> None:
    with driver_of(2 * MINUTE, kind) as driver:
        put(driver, ("a", 0, 1), ("a", 3 * MINUTE, 2), ("a", 5, 3))
        assert list(store_of(driver).fetch("a", 0, MAX_TIME)) == [(3 * MINUTE, 2)]
        assert len(logged(driver)) == 3


@each_kind
def test_a_closed_store_is_not_usable(kind: str) -> None:
    with driver_of(MINUTE, kind) as driver:
        store = store_of(driver)
    for use in (lambda: list(store.fetch("a", 0, 1)), lambda: store.put("a", 1, 1)):
        with pytest.raises(InvalidStateStoreError, match="Store store is currently closed"):
            use()
    bytes_store = InMemorySegmentedBytesStore("closed", MINUTE, 3, WindowStoreKeySchema())
    with pytest.raises(InvalidStateStoreError, match="Store closed is currently closed"):
        bytes_store.get(bytes(13))


def test_a_key_of_none_is_refused() -> None:
    with driver_of(MINUTE) as driver, pytest.raises(TypeError, match="store store: a key cannot be None"):
        list(store_of(driver).fetch(None, 0, 1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: Stores.in_memory_window("w", 5, num_segments=1), "store w: the number of segments must be at least 2"),
        (lambda: Stores.in_memory_window("w", 5, logging_enabled=False, log_config={"a": "b"}), "logging is disabled"),
        (lambda: Segments(5, 1, lambda _: InMemorySegment(12)), "at least 2, not 1"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(declare: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        declare()


# ── against models ────────────────────────────────────────────────────────────────────────────────────────────────────


class Named(Segment):
    """A segment that only shows whether it exists."""

    def __init__(self, segment_id: int, existing: set[int]) -> None:
        self.segment_id, self.existing = segment_id, existing
        existing.add(segment_id)
        self.closed = False

    def put(self, key: bytes, value: bytes | None) -> None:
        raise NotImplementedError

    def get(self, key: bytes) -> bytes | None:
        raise NotImplementedError

    def fetch(self, key: bytes, lower: bytes, upper: bytes) -> Any:
        raise NotImplementedError

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def destroy(self) -> None:
        assert self.closed
        self.existing.remove(self.segment_id)


@given(
    st.integers(2, 5),
    st.lists(st.integers(0, 40), max_size=30),
    st.tuples(st.integers(0, 40 * MINUTE), st.integers(0, 40 * MINUTE)),
)
@example(3, [5, 4, 2], (0, 0))  # a late segment does not turn time back
def test_the_newest_segments_are_kept(num_segments: int, minutes: list[int], searched: tuple[int, int]) -> None:
    existing: set[int] = set()
    segments = Segments((num_segments - 1) * MINUTE, num_segments, lambda each: Named(each, existing))
    expected: set[int] = set()
    for number, minute in enumerate(minutes):
        newest = max(minutes[: number + 1])
        got = segments.get_or_create(minute * MINUTE + 7)
        assert (got is None) == (minute <= newest - num_segments)
        expected = {each for each in {*expected, minute} if each > newest - num_segments}
        assert existing == expected
    first, last = sorted(searched)
    found = [segment.segment_id for segment in segments.segments(first, last)]
    assert found == [each for each in sorted(expected) if first // MINUTE <= each <= last // MINUTE]
    assert {each for each in range(41) if segments.segment_for(each * MINUTE)} == expected


@given(
    st.lists(
        st.tuples(st.sampled_from([b"", b"a", b"ab"]), st.integers(0, 6), st.one_of(st.none(), st.binary(max_size=2))),
        max_size=40,
    ),
    st.sampled_from([b"", b"a", b"ab", b"b"]),
    st.integers(0, 7),
    st.integers(0, 7),
)
def test_a_segment_in_memory_is_a_sorted_map(
    puts: list[tuple[bytes, int, bytes | None]], key: bytes, lower: int, upper: int
) -> None:
    segment, model = InMemorySegment(12), dict[tuple[bytes, bytes], bytes | None]()
    for record_key, time, value in puts:
        suffix = time.to_bytes(8) + bytes(4)
        segment.put(record_key + suffix, value)
        model[record_key, suffix] = value
    for (record_key, suffix), value in model.items():
        assert segment.get(record_key + suffix) == value
    assert segment.get(b"unknown" + bytes(12)) is None
    found = list(segment.fetch(key, lower.to_bytes(8), upper.to_bytes(8)))
    assert found == sorted(
        (suffix, value)
        for (record_key, suffix), value in model.items()
        if record_key == key and value is not None and lower <= int.from_bytes(suffix[:8]) < upper
    )
