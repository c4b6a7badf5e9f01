"""Task 2: where the topic is."""

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.topology_test_driver import TopologyTestDriver


def swap(key, value):
    return value, key


@pytest.mark.points(7, task=2)
def test_grouping_by_key(internal):
    """A topic only after an operator that may change the key"""
    builder = KStreamBuilder()
    builder.stream("in").map_values(len).group_by_key().count("Plain")
    assert internal(builder) == [], f"the key is the topic's: no repartition topic; yours are {internal(builder)}"
    builder.stream("other").map(swap).map(swap).group_by_key().count("Marked")
    assert internal(builder) == ["app-Marked-repartition"], (
        f"one topic for the count, named after its store, however often the key changed; yours are {internal(builder)}"
    )


@pytest.mark.points(6, task=2)
def test_grouping_by_another_key(internal):
    """Always a topic"""
    builder = KStreamBuilder()
    builder.stream("in").group_by(lambda _key, value: value).count("Counts")
    assert internal(builder) == ["app-Counts-repartition"], (
        f"group_by always needs a topic; yours are {internal(builder)}"
    )


@pytest.mark.points(6, task=2)
def test_a_mark_alone(internal):
    """Nothing needs all records of a key"""
    builder = KStreamBuilder()
    builder.stream("in").map(swap).filter(lambda key, value: key != value).to("out")
    assert internal(builder) == [], "map, filter and to need no topic: only grouping and joining do"


@pytest.mark.points(8, task=2)
def test_joins(internal):
    """A marked stream goes through a topic, another one does not"""
    builder = KStreamBuilder()
    users = builder.table("users", "Users")
    plain = builder.stream("plain")
    plain.join(users, max)
    assert plain._repartitioned_to_join(None, None) is plain, "without a mark the stream itself is joined"
    assert internal(builder) == [], f"its keys are unchanged: no internal topic is needed; yours {internal(builder)}"
    marked = builder.stream("marked").map(swap)
    joined = marked.join(users, max)
    assert internal(builder) == [f"app-{marked.name}-repartition"], (
        f"a marked stream is joined through a topic that is named after its node; yours are {internal(builder)}"
    )
    assert not any(name in joined.source_nodes for name in marked.source_nodes), (
        "behind the topic the records come from its source, and no more from the first one"
    )


@pytest.mark.points(8, task=2)
def test_what_goes_through():
    """Records with a key, and only those"""
    builder = KStreamBuilder()
    counts = builder.stream("in").map(swap).group_by_key().count("Counts")
    counts.to_stream().map_values(str).to("out")
    nodes = {node for group in builder.set_application_id("app").node_groups().values() for node in group}
    named = {"KSTREAM-AGGREGATE-0000000002", "KSTREAM-SINK-0000000003", "KSTREAM-FILTER-0000000004"}
    assert named <= nodes, f"Kafka's names: sink 3, filter 4, source 5; yours are {sorted(nodes)}"
    with TopologyTestDriver(
        builder, application_id="app", key_serde=Serdes.string(), value_serde=Serdes.string()
    ) as driver:
        for value in ("a", None, "b", "a"):
            driver.pipe_input("in", "k", value, timestamp=1)
        found = [record.key for record in iter(lambda: driver.read_output("app-Counts-repartition"), None)]
        counts = [(record.key, record.value) for record in iter(lambda: driver.read_output("out"), None)]
    assert found == ["a", "b", "a"], f"a record without a key is filtered out before the topic; through it went {found}"
    assert counts == [("a", "1"), ("b", "1"), ("a", "2")], (
        f"what comes back through the topic is counted by its new key: a 1, b 1, a 2; yours: {counts}"
    )
