"""Task 1: the mark of a stream."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.kstream import merged
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.topology_test_driver import TopologyTestDriver


def swap(key, value):
    return value, key


NEW_KEY = {
    "map": lambda stream: stream.map(swap),
    "flat_map": lambda stream: stream.flat_map(lambda key, value: [(value, key)]),
    "select_key": lambda stream: stream.select_key(lambda _key, value: value),
}
SAME_KEY = {
    "map_values": lambda stream: stream.map_values(len),
    "flat_map_values": lambda stream: stream.flat_map_values(str.split),
    "filter": lambda stream: stream.filter(lambda key, value: key == value),
    "branch": lambda stream: stream.branch(lambda key, value: key == value)[0],
}


@pytest.mark.points(2, task=1)
@pytest.mark.parametrize("operator", NEW_KEY)
def test_operators_that_may_change_the_key(operator):
    """Their result is marked"""
    parent = KStreamBuilder().stream("in")
    stream = NEW_KEY[operator](parent)
    assert stream._repartition_required, f"{operator} may change the key: its result must be marked"
    assert stream.source_nodes == parent.source_nodes, f"{operator}: the records come from the same sources"


@pytest.mark.points(3, task=1)
@pytest.mark.parametrize("operator", SAME_KEY)
def test_operators_that_keep_the_key(operator):
    """Their result has the mark of what it was made of"""
    builder = KStreamBuilder()
    stream = builder.stream("in")
    made = SAME_KEY[operator](stream)
    assert not made._repartition_required, f"{operator} cannot change the key: no mark"
    assert made.source_nodes == stream.source_nodes, f"{operator}: the records come from the same sources"
    other = builder.stream("other")
    marked = SAME_KEY[operator](other.map(swap))
    assert marked._repartition_required, f"{operator} of a marked stream: the key is still new, so is the mark"


@pytest.mark.points(5, task=1)
def test_merged():
    """One marked stream is enough"""
    builder = KStreamBuilder()
    plain, other, marked = builder.stream("a"), builder.stream("b"), builder.stream("c").map(swap)
    assert not merged(builder, [plain, other])._repartition_required, "no stream is marked, so the merged one is not"
    found = merged(builder, [plain, marked])
    assert found._repartition_required, "some records have a new key: one marked stream marks the merged one"
    assert found.source_nodes == plain.source_nodes | marked.source_nodes, "the sources are those of all streams"
    found = merged(builder, iter([marked, plain]))
    assert found.source_nodes == plain.source_nodes | marked.source_nodes, "an iterator can be read only once"
    must_raise(ValueError, "no stream can be merged out of none", merged, builder, [])


@pytest.mark.points(2, task=1)
def test_the_records_of_merged_streams():
    """All of them arrive"""
    builder = KStreamBuilder()
    merged(builder, [builder.stream("a"), builder.stream("b")]).to("out")
    with TopologyTestDriver(builder, key_serde=Serdes.string(), value_serde=Serdes.string()) as driver:
        for topic in ("a", "b"):
            driver.pipe_input(topic, "k", topic, timestamp=1)
        found = [record.value for record in iter(lambda: driver.read_output("out"), None)]
    assert found == ["a", "b"], f"the merged stream has the records of all its parents, a and b; yours has {found}"
