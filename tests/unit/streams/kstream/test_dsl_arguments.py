"""What is passed to the operators by mistake is refused where the topology is declared, with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import SerializationError
from kafka_lite.streams.errors import StreamsError, TopologyBuilderError
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

STRING = Serdes.string()
CONFIGS = {"application.id": "a", "bootstrap.servers": "127.0.0.1:1"}


def stream(builder: Any = None) -> Any:
    return (builder or KStreamBuilder()).stream("a", key_serde=STRING, value_serde=STRING)


def join(*arguments: Any, **keywords: Any) -> Any:
    builder = KStreamBuilder()
    return stream(builder).join(builder.table("t", "T", STRING, STRING), *arguments, **keywords)


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: stream().group_by_key().count("Counts", 60_000),
        "windows must be of Windows or SessionWindows, not 6",
    ),
    (lambda: stream().group_by_key().count(STRING), "a store must be of str or StateStoreSupplier, not <"),
    (lambda: stream().group_by_key(str).count("Counts"), "a serde must be a Serde, such as Serdes.string\\(\\), not <"),
    (lambda: stream().group_by_key().reduce("max", "Max"), "a reducer must be a function, not 'max'"),
    (lambda: stream().group_by_key().aggregate(0, max, None, "Max"), "an initializer must be a function, not 0"),
    (lambda: KStreamBuilder().stream("a", key_serde=str), "a serde must be a Serde"),  # type: ignore[arg-type]
    (lambda: KStreamBuilder().stream(["a", "b"]), "several topics are several arguments"),  # type: ignore[arg-type]
    (lambda: KStreamBuilder().table(3, "T"), "a topic must be a str, not 3"),  # type: ignore[arg-type]
    (lambda: KStreamBuilder().global_table("g", "G", str), "a serde must be a Serde"),  # type: ignore[arg-type]
    (lambda: stream().to(None), "a topic must be a str, not None"),
    (lambda: stream().to("b", STRING.serializer), "a serde must be a Serde"),
    (lambda: join(JoinWindows.of(1)), "a joiner must be a function, not JoinWindows"),
    (lambda: stream().join("t", max), "what a stream is joined with must be of KStream or KTable or GlobalKTable"),
    (lambda: stream().join(stream(), max, windows=5), "windows of a join must be of JoinWindows, not 5"),
    (lambda: TimeWindows.of("5m"), "the size of a window must be a number of milliseconds"),  # type: ignore[arg-type]
    (lambda: JoinWindows.of(None), "the difference in time must be a number of milli"),  # type: ignore[arg-type]
    (lambda: SessionWindows.with_gap(1.5), "the gap between sessions must be a number of"),  # type: ignore[arg-type]
    (lambda: KafkaStreams("text", CONFIGS), "a KStreamBuilder or TopologyBuilder is needed"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=lambda each: each if isinstance(each, str) else "")
def test_an_argument_of_another_kind_is_refused_at_once(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        mistake()


def test_streams_of_two_builders_cannot_be_joined() -> None:
    table = KStreamBuilder().table("t", "T", STRING, STRING)
    with pytest.raises(TopologyBuilderError, match="must be of one builder"):
        stream().join(table, max)


def test_an_application_that_reads_nothing_is_refused() -> None:
    with (
        KafkaStreams(KStreamBuilder(), CONFIGS) as streams,
        pytest.raises(TopologyBuilderError, match="the topology has no stream or table that reads a topic"),
    ):
        streams.start()


def test_the_driver_says_which_serdes_do_not_fit_what_is_piped() -> None:
    with (
        TopologyTestDriver(stream().filter(bool)._builder) as driver,
        pytest.raises(SerializationError, match="driver's key_serde and value_serde"),
    ):
        driver.pipe_input("a", "k", "v")


def test_an_error_in_a_node_has_its_reason() -> None:
    builder = KStreamBuilder()
    stream(builder).map_values(len).to("b", STRING, STRING)
    with (
        TopologyTestDriver(builder, key_serde=STRING, value_serde=STRING) as driver,
        pytest.raises(StreamsError, match=r"offset=0: A serializer .* is not compatible"),
    ):
        driver.pipe_input("a", "k", "v")
