"""A session store, and topologies that count sessions."""

from types import SimpleNamespace

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.state.windowed.key_schema import SessionKeySchema
from kafka_lite.streams.state.windowed.segmented_bytes_store import InMemorySegmentedBytesStore
from kafka_lite.streams.state.windowed.serializing_session_store import SerializingSessionStore
from kafka_lite.streams.topology_test_driver import TopologyTestDriver


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def bytes_store():
    """The inner store, with a segment for each minute."""
    return InMemorySegmentedBytesStore("sessions", 120_000, 3, SessionKeySchema())


@pytest.fixture
def store(bytes_store):
    """A store of sessions with texts as keys and numbers as values."""
    store = SerializingSessionStore(bytes_store, Serdes.string(), Serdes.long())
    context = SimpleNamespace(application_id="app", register=lambda *_: None)
    store.init(context, store)
    return store


def named(session):
    """``a[0,3]``."""
    return f"{session.key}[{session.window.start},{session.window.end}]"


@pytest.fixture
def counting():
    """``counting(windows)``: each change goes from source to sink, as ``key[start,end]`` and the count as text."""

    def build(windows, source="in", sink="out"):
        builder = KStreamBuilder()
        # a store without a cache: a cache would forward by itself what the processor puts and removes
        store = Stores.in_memory_session("Counts", windows.maintain_ms, Serdes.string(), Serdes.long())
        counts = builder.stream(source).group_by_key().count(store, windows)
        counts.to_stream(lambda session, _: named(session)).map_values(str).to(sink)
        return builder

    return build


@pytest.fixture
def changes():
    """``changes(builder, ("k", 3), …)``: for each record, a key and a time, what the topology sends to ``out``."""

    def run(builder, *records):
        with TopologyTestDriver(builder, key_serde=Serdes.string(), value_serde=Serdes.string()) as driver:
            found = []
            for number, (key, timestamp, *value) in enumerate(records):
                driver.pipe_input("in", key, value[0] if value else str(number), timestamp=timestamp)
                sent = iter(lambda: driver.read_output("out"), None)
                found.append([f"{record.key}={record.value}" for record in sent])
            return found

    return run
