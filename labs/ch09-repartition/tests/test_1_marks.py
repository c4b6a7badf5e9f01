"""Task 1: the mark of a stream."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.streams.kstream.kstream import merged
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder


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
    stream = NEW_KEY[operator](KStreamBuilder().stream("in"))
    assert stream._repartition_required, f"{operator} may change the key: its result must be marked"


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


@pytest.mark.points(7, task=1)
def test_merged():
    """One marked stream is enough"""
    builder = KStreamBuilder()
    plain, other, marked = builder.stream("a"), builder.stream("b"), builder.stream("c").map(swap)
    assert not merged(builder, [plain, other])._repartition_required, "no stream is marked, so the merged one is not"
    found = merged(builder, [plain, marked])
    assert found._repartition_required, "some records have a new key: one marked stream marks the merged one"
    assert found.source_nodes == plain.source_nodes | marked.source_nodes, "the sources are those of all streams"
    must_raise(ValueError, "no stream can be merged out of none", merged, builder, [])
