"""Topologies of one operator from topic in to topic out, and what they make of records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.common.serdes import Serde, Serdes
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

STRING, LONG = Serdes.string(), Serdes.long()
Input = list[tuple[Any, Any]]


def driver_of(builder: KStreamBuilder) -> TopologyTestDriver:
    """A driver whose default serdes are of strings."""
    return TopologyTestDriver(builder, application_id="app", key_serde=STRING, value_serde=STRING)


def outputs(driver: TopologyTestDriver, topic: str, value_serde: Serde[Any] = STRING) -> Input:
    """The keys and values of a topic that have not been read yet."""
    result = []
    while (record := driver.read_output(topic, value_deserializer=value_serde.deserializer)) is not None:
        result.append((record.key, record.value))
    return result


def run(builder: KStreamBuilder, records: Input, value_serde: Serde[Any] = STRING) -> Input:
    """Send records to topic in; returns those of topic out."""
    with driver_of(builder) as driver:
        for number, (key, value) in enumerate(records):
            driver.pipe_input("in", key, value, timestamp=number)
        return outputs(driver, "out", value_serde)


def stream_of(operator: Callable[[KStream[str, str]], KStream[Any, Any]]) -> KStreamBuilder:
    """An operator on a stream."""
    builder = KStreamBuilder()
    operator(builder.stream("in", key_serde=STRING, value_serde=STRING)).to("out")
    return builder


def table_of(
    operator: Callable[[KTable[str, str]], KTable[Any, Any]], value_serde: Serde[Any] = STRING
) -> KStreamBuilder:
    """An operator on a table."""
    builder = KStreamBuilder()
    operator(builder.table("in", "store", STRING, STRING)).to("out", STRING, value_serde)
    return builder
