"""Global tables: their joins, and what of the topology belongs to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.errors import StreamsError, TopologyBuilderError
from kafka_lite.streams.kstream.global_ktable import GlobalKTable
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.threads.global_stream_thread import (
    VALID_PREVIOUS_STATES,
    GlobalStreamThreadState,
)
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

STRING = Serdes.string()


def driver_of(builder: KStreamBuilder) -> TopologyTestDriver:
    return TopologyTestDriver(builder, application_id="app", key_serde=STRING, value_serde=STRING)


def outputs(driver: TopologyTestDriver, topic: str) -> list[tuple[str, str]]:
    found = []
    while record := driver.read_output(topic):
        found.append((record.key, record.value))
    return found


def both(value: str, other: str | None) -> str:
    return f"{value}+{other}"


def joining() -> KStreamBuilder:
    builder = KStreamBuilder()
    cities: GlobalKTable[str, str] = builder.global_table("cities", "Cities", STRING, STRING)
    people: KStream[str, str] = builder.stream("people")
    people.join(cities, both, key_mapper=lambda _, city: city).to("inner")
    people.left_join(cities, both, key_mapper=lambda _, city: city if city != "none" else None).to("left")  # type: ignore[arg-type, return-value]
    return builder


def test_records_are_joined_by_any_key_with_what_the_table_has_at_that_moment() -> None:
    with driver_of(joining()) as driver:
        driver.pipe_input("people", "ann", "b", timestamp=1)
        driver.pipe_input("cities", "b", "Berlin", timestamp=2)
        driver.pipe_input("people", "ann", "b", timestamp=1)
        driver.pipe_input("people", "eve", "none", timestamp=3)
        driver.pipe_input("people", None, "b", timestamp=3)
        driver.pipe_input("cities", "b", None, timestamp=4)
        driver.pipe_input("cities", None, "nowhere", timestamp=4)
        driver.pipe_input("people", "bob", "b", timestamp=5)
        assert outputs(driver, "inner") == [("ann", "b+Berlin")]
        assert outputs(driver, "left") == [
            ("ann", "b+None"), ("ann", "b+Berlin"), ("eve", "none+None"), ("bob", "b+None"),
        ]  # fmt: skip
        store = driver.state_store("Cities")
    assert not store.is_open


def test_a_global_table_makes_no_tasks_and_no_topics() -> None:
    builder = joining().set_application_id("app")
    [topics] = builder.topic_groups().values()
    assert topics.source_topics == {"people"}
    assert not topics.state_changelog_topics
    assert builder.source_topic_pattern().pattern == "people"
    topology = builder.build_global_state_topology()
    assert topology is not None
    assert topology.store_to_changelog_topic == {"Cities": "cities"}
    assert [node.name for node in topology.processors] == ["KSTREAM-SOURCE-0000000000", "KTABLE-SOURCE-0000000001"]
    assert "Sub-topology: 0 for global store (will not generate tasks)\n" in str(builder.describe())
    assert KStreamBuilder().build_global_state_topology() is None


def test_names_of_joins_are_those_of_kafka_and_changed_keys_are_still_repartitioned() -> None:
    builder = KStreamBuilder().set_application_id("app")
    cities: GlobalKTable[str, str] = builder.global_table("cities", "Cities")
    people: KStream[str, str] = builder.stream("people")
    joined = people.select_key(lambda _, city: city).join(cities, both, key_mapper=lambda key, _: key)
    assert joined.name == "KSTREAM-LEFTJOIN-0000000004"
    joined.group_by_key().count("Counts")
    assert any("app-Counts-repartition" in group.source_topics for group in builder.topic_groups().values())


def test_what_is_sent_to_a_global_topic_is_in_the_table() -> None:
    builder = KStreamBuilder()
    builder.global_table("cities", "Cities", STRING, STRING)
    stream: KStream[str, str] = builder.stream("in")
    stream.to("cities")
    with driver_of(builder) as driver:
        driver.pipe_input("in", "b", "Berlin", timestamp=1)
        assert driver.key_value_store("Cities").get("b") == "Berlin"


class Reader(Processor[str, str]):
    """Reads a global store without being connected to it."""

    def process(self, key: str, value: str) -> None:
        store = self.context.get_state_store("Cities")
        assert isinstance(store, KeyValueStore)
        self.context.forward(key, store.get(value))


def test_every_processor_may_read_a_global_store() -> None:
    builder = KStreamBuilder()
    builder.global_table("cities", "Cities", STRING, STRING)
    builder.add_source("source", "in").add_processor("reader", Reader, "source").add_sink("sink", "out", "reader")
    with driver_of(builder) as driver:
        driver.pipe_input("cities", "b", "Berlin", timestamp=1)
        driver.pipe_input("in", "ann", "b", timestamp=1)
        assert outputs(driver, "out") == [("ann", "Berlin")]


class Sender(Processor[str, str]):
    """Does what a global processor cannot do."""

    def __init__(self, act: Callable[[Any], object]) -> None:
        self.act = act

    def process(self, key: str, value: str) -> None:
        self.act(self.context)


@pytest.mark.parametrize("act", [lambda context: context.commit(), lambda context: context.schedule(5)])
def test_a_global_processor_neither_commits_nor_schedules(act: Callable[[Any], object]) -> None:
    builder = KStreamBuilder()
    supplier = Stores.in_memory_key_value("Cities", STRING, STRING, logging_enabled=False)
    builder.add_global_store(supplier, "source", "cities", "sender", lambda: Sender(act))
    with driver_of(builder) as driver, pytest.raises(StreamsError, match="can neither send, nor schedule, nor commit"):
        driver.pipe_input("cities", "b", "Berlin", timestamp=1)


def test_declarations_that_make_no_sense_are_refused() -> None:
    builder = KStreamBuilder()
    cities: GlobalKTable[str, str] = builder.global_table("cities", "Cities")
    people: KStream[str, str] = builder.stream("people")
    with pytest.raises(TypeError, match="needs a key_mapper"):
        people.join(cities, both)  # type: ignore[call-overload]
    with pytest.raises(TopologyBuilderError, match="StateStore Cities is already added"):
        builder.global_table("other", "Cities")
    with pytest.raises(TopologyBuilderError, match="StateStore Cities is already added"):
        builder.add_state_store(Stores.in_memory_key_value("Cities"))
    with pytest.raises(TopologyBuilderError, match="Topic cities has already been registered"):
        builder.global_table("cities", "Others")
    with pytest.raises(TopologyBuilderError, match="Global StateStore Logged cannot have a changelog"):
        builder.add_global_store(Stores.in_memory_key_value("Logged"), "s", "topic", "p", Reader)
    table: KTable[str, str] = builder.table("table", "Table")
    with pytest.raises(TypeError, match="a key_mapper is only for global tables"):
        people.join(people, both, key_mapper=lambda key, _: key)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="a key_mapper is only for global tables"):
        people.left_join(table, both, key_mapper=lambda key, _: key)  # type: ignore[call-overload]


def test_a_thread_goes_from_created_to_running_to_dead() -> None:
    states = GlobalStreamThreadState
    assert {state for state in states if states.DEAD in VALID_PREVIOUS_STATES[state]} == set()
    assert VALID_PREVIOUS_STATES[states.RUNNING] == {states.CREATED}
    assert VALID_PREVIOUS_STATES[states.DEAD] == {states.PENDING_SHUTDOWN}
