"""Both topologies count the same. A test of a topology needs no broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from examples.word_count.topology import TEXT, WORD_COUNTS, five_lines, node_by_node
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import LongDeserializer
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.topology_test_driver import TopologyTestDriver


@pytest.mark.parametrize("topology", [five_lines, node_by_node])
def test_each_word_gets_its_new_count(topology: Callable[[], TopologyBuilder]) -> None:
    """Every record of the output is a word with its count so far."""
    with TopologyTestDriver(topology(), key_serde=Serdes.string(), value_serde=Serdes.string()) as driver:
        driver.pipe_input(TEXT, None, "To be or not to be")
        records = iter(lambda: driver.read_output(WORD_COUNTS, value_deserializer=LongDeserializer()), None)
        counts = [(record.key, record.value) for record in records]
    assert counts == [("to", 1), ("be", 1), ("or", 1), ("not", 1), ("to", 2), ("be", 2)]
