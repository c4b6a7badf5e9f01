"""Whole topologies in the driver: forwarding, contexts, punctuation, commits, and topics inside of a topology."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import LongSerializer
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.errors import StreamsError, TopologyBuilderError
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.topology_test_driver import TopologyTestDriver


class Calling(Processor[str, str]):
    """Calls a function with itself, key and value, for each record."""

    def __init__(self, function: Callable[[Calling, str, str], None], interval_ms: int = 0) -> None:
        self.function = function
        self.interval_ms = interval_ms
        self.closed = False

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        if self.interval_ms:
            context.schedule(self.interval_ms)

    def process(self, key: str, value: str) -> None:
        self.function(self, key, value)

    def punctuate(self, timestamp: int) -> None:
        context = self.context
        assert (context.topic, context.partition, context.offset) == (None, -1, -1)
        assert context.timestamp == timestamp
        context.forward("punctuated", str(timestamp))

    def close(self) -> None:
        self.closed = True


def driver_of(builder: TopologyBuilder, **options: Any) -> TopologyTestDriver:
    return TopologyTestDriver(builder, key_serde=Serdes.string(), value_serde=Serdes.string(), **options)


def single(function: Callable[[Calling, str, str], None], interval_ms: int = 0) -> TopologyBuilder:
    builder = TopologyBuilder().add_source("source", "in")
    builder.add_processor("processor", lambda: Calling(function, interval_ms), "source")
    return builder.add_sink("sink", "out", "processor").add_sink("other-sink", "other", "processor")


def outputs(driver: TopologyTestDriver, topic: str) -> list[tuple[Any, Any, int | None]]:
    result = []
    while (record := driver.read_output(topic)) is not None:
        result.append((record.key, record.value, record.timestamp))
    return result


def test_a_record_is_forwarded_with_its_time() -> None:
    with driver_of(single(lambda self, key, value: self.context.forward(key, value.upper()))) as driver:
        driver.pipe_input("in", "k", "v", timestamp=42)
        assert outputs(driver, "out") == [("k", "V", 42)]
        assert outputs(driver, "other") == [("k", "V", 42)]
        assert outputs(driver, "unknown") == []
        assert driver.committed == {TopicPartition("in", 0): 1}


@pytest.mark.parametrize(("child", "reached"), [(0, "out"), (1, "other"), ("other-sink", "other"), ("unknown", "")])
def test_a_record_can_be_forwarded_to_one_child(child: int | str, reached: str) -> None:
    with driver_of(single(lambda self, key, value: self.context.forward(key, value, child))) as driver:
        driver.pipe_input("in", "k", "v", timestamp=1)
        assert [topic for topic in ("out", "other") if outputs(driver, topic)] == ([reached] if reached else [])


def test_the_context_knows_the_record() -> None:
    def describe(self: Calling, key: str, value: str) -> None:
        context = self.context
        where = f"{context.topic}-{context.partition}@{context.offset} {context.application_id} {context.task_id}"
        context.forward(key, f"{value} {where} {context.headers}")

    with driver_of(single(describe), application_id="app") as driver:
        driver.pipe_input("in", "k", "a", timestamp=1)
        driver.pipe_input("in", "k", "b", timestamp=0)
        values = [value for _, value, _ in outputs(driver, "out")]
        assert values == ["a in-0@0 app 0_0 ()", "b in-0@1 app 0_0 ()"]


def test_children_process_a_record_depth_first() -> None:
    order: list[str] = []

    def at(name: str) -> Callable[[], Calling]:
        def process(self: Calling, key: str, value: str) -> None:
            order.append(f"{name}>")
            self.context.forward(key, value)
            order.append(f"<{name}")

        return lambda: Calling(process)

    builder = TopologyBuilder().add_source("source", "in").add_processor("a", at("a"), "source")
    builder.add_processor("b", at("b"), "a").add_processor("c", at("c"), "a").add_processor("d", at("d"), "b")
    with driver_of(builder) as driver:
        driver.pipe_input("in", "k", "v", timestamp=1)
    assert " ".join(order) == "a> b> d> <d <b c> <c <a"


def test_punctuation_follows_stream_time() -> None:
    with driver_of(single(lambda *_: None, interval_ms=100)) as driver:
        for timestamp in (1000, 1050, 1099, 1100, 1080, 1350):
            driver.pipe_input("in", "k", "v", timestamp=timestamp)
        assert [timestamp for _, _, timestamp in outputs(driver, "out")] == [1000, 1100, 1350, 1350]


def test_outside_of_a_record_there_is_no_current_record() -> None:
    kept: list[Calling] = []
    with driver_of(single(lambda self, *_: kept.append(self))) as driver:
        driver.pipe_input("in", "k", "v", timestamp=1)
        with pytest.raises(RuntimeError, match="forward may be called only while a processor is running"):
            kept[0].context.forward("k", "v")
        with pytest.raises(TopologyBuilderError, match="Accessing from an unknown node"):
            kept[0].context.get_state_store("store")
    assert kept[0].closed


def test_only_connected_processors_have_access_to_a_store() -> None:
    builder = single(lambda self, *_: self.context.get_state_store("store") and None)
    builder.add_processor("user", lambda: Calling(lambda *_: None), "source")
    builder.add_state_store(Stores.in_memory_key_value("store"), "user")
    with driver_of(builder) as driver, pytest.raises(StreamsError, match="Exception caught in process") as caught:
        driver.pipe_input("in", "k", "v", timestamp=1)
    assert "Processor processor has no access to StateStore store" in str(caught.value.__cause__)


def test_an_error_of_a_processor_is_raised_as_it_is() -> None:
    def divide(self: Calling, key: str, value: str) -> None:
        self.context.forward(key, str(1 // int(value)))

    with driver_of(single(divide)) as driver, pytest.raises(ZeroDivisionError):
        driver.pipe_input("in", "k", "0", timestamp=1)


def test_a_processor_that_cannot_start_is_named() -> None:
    class Failing(Calling):
        def init(self, context: ProcessorContext) -> None:
            raise OSError("no such database")

    builder = TopologyBuilder().add_source("source", "in")
    builder.add_processor("processor", lambda: Failing(lambda *_: None), "source")
    with pytest.raises(StreamsError, match="failed to initialize processor processor") as caught:
        driver_of(builder)
    assert "no such database" in str(caught.value.__cause__)


def test_a_serializer_that_does_not_fit_is_named() -> None:
    builder = TopologyBuilder().add_source("source", "in")
    builder.add_sink("sink", "out", "source", value_serializer=LongSerializer())
    with driver_of(builder) as driver, pytest.raises(StreamsError) as caught:
        driver.pipe_input("in", "k", "v", timestamp=1)
    assert "serializer (key: StringSerializer / value: LongSerializer) is not compatible" in str(caught.value.__cause__)


def test_a_topic_inside_of_the_topology_begins_another_task() -> None:
    """Counts words: the first task splits lines, the second one counts, as the DSL does with a repartition topic."""

    def split(self: Calling, _: str, line: str) -> None:
        for word in line.split():
            self.context.forward(word, "")

    def count(self: Calling, word: str, _: str) -> None:
        store: KeyValueStore[str, int] = self.context.get_state_store("counts")  # type: ignore[assignment]
        number = (store.get(word) or 0) + 1
        store.put(word, number)
        assert (self.context.topic, self.context.task_id.topic_group_id) == ("app-words", 1)
        self.context.forward(word, f"{number}@{self.context.offset}")

    builder = TopologyBuilder().add_internal_topic("words").add_source("lines", "text")
    builder.add_processor("split", lambda: Calling(split), "lines").add_sink("to-words", "words", "split")
    builder.add_source("words", "words").add_processor("count", lambda: Calling(count), "words")
    builder.add_state_store(Stores.in_memory_key_value("counts", Serdes.string(), Serdes.long()), "count")
    builder.add_sink("counted", "counts", "count")
    with driver_of(builder, application_id="app") as driver:
        driver.pipe_input("text", "1", "to be or not to be", timestamp=7)
        counts = [("to", "1@0"), ("be", "1@1"), ("or", "1@2"), ("not", "1@3"), ("to", "2@4"), ("be", "2@5")]
        assert outputs(driver, "counts") == [(word, number, 7) for word, number in counts]
        assert dict(driver.key_value_store("counts").all()) == {"to": 2, "be": 2, "or": 1, "not": 1}
        assert driver.committed == {TopicPartition("text", 0): 1, TopicPartition("app-words", 0): 6}
        assert len(outputs(driver, "app-words")) == 6


def test_what_a_processor_sends_at_its_start_can_be_read_at_once() -> None:
    class Greeting(Calling):
        def init(self, context: ProcessorContext) -> None:
            super().init(context)
            serializer = context.key_serde.serializer
            context.record_collector.send("out", "k", "hello", None, 3, serializer, serializer)

    builder = TopologyBuilder().add_source("source", "in")
    builder.add_processor("processor", lambda: Greeting(lambda *_: None), "source")
    with driver_of(builder) as driver:
        assert outputs(driver, "out") == [("k", "hello", 3)]


def test_closing_the_driver_closes_stores_and_deletes_their_files() -> None:
    paths: list[Path] = []
    builder = single(lambda self, *_: paths.append(self.context.state_dir))
    builder.add_state_store(Stores.in_memory_key_value("store"), "processor")
    with driver_of(builder, time=MockTime(5000)) as driver:
        driver.pipe_input("in", "k", "v", timestamp=0)
        store = driver.state_store("store")
        assert store.is_open
        assert paths[0].is_dir()
    assert not store.is_open
    assert not paths[0].exists()


def test_patterns_and_the_clock_of_the_driver() -> None:
    builder = TopologyBuilder().add_source("logs", pattern="log-.*").add_sink("sink", "out", "logs")
    with driver_of(builder, topics=["log-1", "other"], time=MockTime(5000)) as driver:
        driver.pipe_input("log-1", "k", "v")
        driver.pipe_input("log-1", "k", "v", timestamp=0)
        assert outputs(driver, "out") == [("k", "v", 5000), ("k", "v", 0)]
        with pytest.raises(ValueError, match=r"no source reads topic 'other'; sources read \['log-1'\]"):
            driver.pipe_input("other", "k", "v")


def test_a_partitioner_chooses_the_partition() -> None:
    builder = TopologyBuilder().add_source("source", "in")
    builder.add_sink("sink", "out", "source", partitioner=lambda key, _, partitions: len(key) + partitions)
    with driver_of(builder) as driver:
        driver.pipe_input("in", "k", "v", timestamp=1)
        record = driver.read_output("out")
        assert record is not None
        assert record.partition == 2


def test_names_of_missing_stores() -> None:
    with driver_of(single(lambda *_: None)) as driver, pytest.raises(KeyError, match="counts"):
        driver.key_value_store("counts")
