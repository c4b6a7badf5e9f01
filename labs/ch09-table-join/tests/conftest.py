"""Drivers with joins, and what comes out of them."""

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.topology_test_driver import TopologyTestDriver


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


def pair(value, other):
    """A joined value that shows both sides."""
    return f"{value}+{other}"


@pytest.fixture
def stream_join():
    """``stream_join("join")`` or ``"left_join"``: clicks, joined with the table users, go to out."""

    def build(kind):
        builder = KStreamBuilder()
        users = builder.table("users", "Users")
        getattr(builder.stream("clicks"), kind)(users, pair).to("out")
        return builder

    return build


@pytest.fixture
def table_join():
    """``table_join("outer_join")``: the tables left and right, joined, go to out, and changes to ``changes``."""

    def build(kind, changes=None, *, left_sends_old=False):
        builder = KStreamBuilder()
        left, right = builder.table("left", "Left"), builder.table("right", "Right")
        if left_sends_old:
            left.supplier.enable_sending_old_values()
        joined = getattr(left, kind)(right, pair)
        if changes is not None:
            joined.supplier.enable_sending_old_values()
            builder.add_processor("changes", changes, joined.name)
        joined.to("out")
        return builder

    return build


@pytest.fixture
def outputs():
    """``outputs(builder, ("left", "k", "1"), …)``: for each input the list of (key, value) that came out."""

    def run(builder, *inputs):
        with TopologyTestDriver(builder, key_serde=Serdes.string(), value_serde=Serdes.string()) as driver:
            found = []
            for time, (topic, key, value) in enumerate(inputs):
                driver.pipe_input(topic, key, value, timestamp=time)
                found.append([(each.key, each.value) for each in iter(lambda: driver.read_output("out"), None)])
            return found

    return run
