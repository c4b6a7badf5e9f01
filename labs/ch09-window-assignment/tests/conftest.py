"""Topologies that count in windows, and what comes out of them."""

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.topology_test_driver import TopologyTestDriver


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def counting():
    """``counting(windows)``: each new count goes from source to sink, as ``key@start`` and the count as text."""

    def build(windows, source="in", sink="out"):
        builder = KStreamBuilder()
        counts = builder.stream(source).group_by_key().count("Counts", windows)
        named = counts.to_stream(lambda windowed, _: f"{windowed.key}@{windowed.window.start}")
        named.map_values(str).to(sink)
        return builder

    return build


@pytest.fixture
def counted(counting):
    """``counted(windows, ("k", 3), …)``: for each record, a key and a time, the counts that it changes."""

    def run(windows, *records):
        with TopologyTestDriver(counting(windows), key_serde=Serdes.string(), value_serde=Serdes.string()) as driver:
            found = []
            for key, timestamp, *value in records:
                driver.pipe_input("in", key, value[0] if value else "x", timestamp=timestamp)
                sent = iter(lambda: driver.read_output("out"), None)
                found.append([f"{record.key}={record.value}" for record in sent])
            return found

    return run
