"""Operators with a user's transformers, and those that print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.errors import StreamsError, TopologyBuilderError
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.transformer import Transformer, ValueTransformer
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

STRING, LONG = Serdes.string(), Serdes.long()


def run(builder: KStreamBuilder, records: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Send records to topic in, at 0, 10, 20 ms; returns those of topic out."""
    with TopologyTestDriver(builder, application_id="app", key_serde=STRING, value_serde=STRING) as driver:
        for number, (key, value) in enumerate(records):
            driver.pipe_input("in", key, value, timestamp=10 * number)
        found = []
        while record := driver.read_output("out"):
            found.append((record.key, record.value))
        return found


class Numbered(Transformer[str, str, tuple[str, str]]):
    """Numbers the values of each key, drops empty ones, and reports the time."""

    closed = 0

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        context.schedule(15)
        store = context.get_state_store("Numbers")
        assert isinstance(store, KeyValueStore)
        self.store: KeyValueStore[str, int] = store

    def transform(self, key: str, value: str) -> tuple[str, str] | None:
        number = (self.store.get(key) or 0) + 1
        self.store.put(key, number)
        return (f"{key}{number}", value) if value else None

    def punctuate(self, timestamp: int) -> tuple[str, str]:
        return "time", str(timestamp)

    def close(self) -> None:
        Numbered.closed += 1


class Where(ValueTransformer[str, str]):
    """Appends where the record was read."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        context.schedule(10_000)
        self.task_id = context.task_id

    def transform(self, value: str) -> str:
        context = self.context
        context.commit()
        place = f"{context.topic}-{context.partition}-{context.offset} at {context.timestamp}"
        return f"{value} {place} {len(context.headers)} {self.task_id} {context.application_id}"


class Forwarding(ValueTransformer[str, str]):
    """Does what it must not do."""

    def transform(self, value: str) -> str:
        self.context.forward("other", value)
        return value


def test_a_transformer_makes_a_record_or_none_and_has_state_and_time() -> None:
    builder = KStreamBuilder()
    builder.add_state_store(Stores.in_memory_key_value("Numbers", STRING, LONG))
    stream: KStream[str, str] = builder.stream("in")
    transformed = stream.transform(Numbered, "Numbers")
    assert transformed.name == "KSTREAM-TRANSFORM-0000000001"
    transformed.to("out")
    closed = Numbered.closed
    assert run(builder, [("a", "x"), ("a", ""), ("b", "y"), ("a", "z")]) == [
        ("a1", "x"), ("time", "0"), ("b1", "y"), ("time", "20"), ("a3", "z"), ("time", "30"),
    ]  # fmt: skip
    assert Numbered.closed == closed + 1


def test_a_transformed_stream_is_repartitioned_before_it_is_grouped_but_not_with_new_values_only() -> None:
    builder = KStreamBuilder().set_application_id("app")
    builder.add_state_store(Stores.in_memory_key_value("Numbers", STRING, LONG))
    stream: KStream[str, str] = builder.stream("in")
    values = stream.transform_values(Where)
    assert values.name == "KSTREAM-TRANSFORMVALUES-0000000001"
    values.group_by_key().count("Values")
    stream.transform(Numbered, "Numbers").group_by_key().count("Records")
    groups = builder.topic_groups().values()
    assert [topic for group in groups for topic in group.repartition_source_topics] == ["app-Records-repartition"]


def test_a_value_transformer_sees_where_the_record_was_read() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    stream.transform_values(Where).to("out")
    assert run(builder, [("a", "x"), ("b", "y")]) == [
        ("a", "x in-0-0 at 0 0 0_0 app"), ("b", "y in-0-1 at 10 0 0_0 app"),
    ]  # fmt: skip


def test_a_value_transformer_may_use_stores_but_not_forward() -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    stream.transform_values(Forwarding).to("out")
    with pytest.raises(StreamsError) as raised:
        run(builder, [("a", "x")])
    assert "must not be called within transform_values" in str(raised.value.__cause__)


def test_the_records_of_a_stream_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    stream.print()
    stream.map_values(str.encode).print(value_serde=Serdes.byte_array(), stream_name="raw")
    run(builder, [("a", "x"), ("b", None)][:1])
    assert capsys.readouterr().out == "[KSTREAM-SOURCE-0000000000]: a , x\n[raw]: a , b'x'\n"


def test_bytes_are_deserialized_before_they_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    builder = KStreamBuilder()
    stream: KStream[bytes, bytes] = builder.stream("in")
    stream.print(Serdes.string(), Serdes.long(), "numbers")  # type: ignore[arg-type]
    with TopologyTestDriver(builder) as driver:
        driver.pipe_input("in", b"key", (7).to_bytes(8))
        driver.pipe_input("in", b"key", None)
    assert capsys.readouterr().out == "[numbers]: key , 7\n[numbers]: key , None\n"


def test_a_table_prints_its_changes(capsys: pytest.CaptureFixture[str]) -> None:
    builder = KStreamBuilder()
    table: KTable[str, str] = builder.table("in", "Table")
    table.print(stream_name="table")
    table.group_by(lambda key, value: (value, key), STRING, STRING).count("Counts")  # asks for old values
    run(builder, [("a", "x"), ("a", "y"), ("a", None)])
    assert capsys.readouterr().out == ("[table]: a , (x<-None)\n[table]: a , (y<-x)\n[table]: a , (None<-y)\n")


def test_records_are_written_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "records.txt"
    path.write_text("old")
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream("in")
    stream.write_as_text(path)
    table: KTable[str, str] = builder.table("other", "Table")
    table.write_as_text(str(tmp_path / "changes.txt"), "changes")
    run(builder, [("a", "é"), ("b", "y")])
    assert path.read_text(encoding="utf-8") == (
        "[KSTREAM-SOURCE-0000000000]: a , é\n[KSTREAM-SOURCE-0000000000]: b , y\n"
    )
    assert (tmp_path / "changes.txt").read_text() == ""


def test_a_file_that_cannot_be_written_is_an_error_at_once(tmp_path: Path) -> None:
    stream: KStream[str, str] = KStreamBuilder().stream("in")
    with pytest.raises(TopologyBuilderError, match="Unable to write stream to file at"):
        stream.write_as_text(tmp_path / "missing" / "file.txt")


def test_a_table_becomes_a_stream_with_other_keys() -> None:
    builder = KStreamBuilder()
    table: KTable[str, str] = builder.table("in", "Table")
    stream = table.to_stream(lambda key, value: key + value)
    assert stream.name == "KSTREAM-KEY-SELECT-0000000003"
    stream.to("out")
    assert run(builder, [("a", "x"), ("b", "y")]) == [("ax", "x"), ("by", "y")]
