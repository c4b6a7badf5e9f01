"""Task 2: where the topic is."""

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import SerializationError
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

LONG, TEXT = Serdes.long(), Serdes.string()


def swap(key, value):
    return value, key


@pytest.mark.points(6, task=2)
def test_grouping_by_key(internal):
    """A topic only after an operator that may change the key"""
    builder = KStreamBuilder()
    builder.stream("in").map_values(len).group_by_key().count("Plain")
    assert internal(builder) == [], f"the key is the topic's: no repartition topic; yours are {internal(builder)}"
    builder.stream("other").map(swap).map(swap).group_by_key().count("Marked")
    assert internal(builder) == ["app-Marked-repartition"], (
        f"one topic for the count, named after its store, however often the key changed; yours are {internal(builder)}"
    )


@pytest.mark.points(5, task=2)
def test_grouping_by_another_key(internal):
    """Always a topic"""
    builder = KStreamBuilder()
    builder.stream("in").group_by(lambda _key, value: value).count("Counts")
    assert internal(builder) == ["app-Counts-repartition"], (
        f"group_by always needs a topic; yours are {internal(builder)}"
    )


@pytest.mark.points(5, task=2)
def test_a_mark_alone(internal):
    """Nothing needs all records of a key"""
    builder = KStreamBuilder()
    builder.stream("in").map(swap).filter(lambda key, value: key != value).to("out")
    assert internal(builder) == [], "map, filter and to need no topic: only grouping and joining do"


@pytest.mark.points(7, task=2)
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


@pytest.mark.points(7, task=2)
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


def through_the_topic(builder, *records, key=LONG, value=TEXT):
    """Keys and values that went through the topic of the store Counts, of these types."""
    try:
        with TopologyTestDriver(
            builder, application_id="app", key_serde=Serdes.string(), value_serde=Serdes.string()
        ) as driver:
            for record in records:
                driver.pipe_input("in", *record, timestamp=1)
            types = key.deserializer, value.deserializer
            sent = iter(lambda: driver.read_output("app-Counts-repartition", *types), None)
            return [(record.key, record.value) for record in sent]
    except (StreamsError, SerializationError) as error:
        pytest.fail(f"the repartition topic has the serdes that were given, first that of keys: {error}")


def length_of_key(key, _value):
    return len(key)


@pytest.mark.points(3, task=2)
def test_the_serdes_and_the_new_key():
    """Keys of another type go through the topic"""
    builder = KStreamBuilder()
    builder.stream("in").select_key(length_of_key).group_by_key(Serdes.long(), Serdes.string()).count("Counts")
    found = through_the_topic(builder, ("", "x"), ("ab", ""))
    assert found == [(0, "x"), (2, "")], f"only None is no key: 0 goes through, and so does an empty value; not {found}"
    builder = KStreamBuilder()
    builder.stream("in").group_by(length_of_key, Serdes.long(), Serdes.string()).count("Counts")
    found = through_the_topic(builder, ("abc", "x"), ("ab", None))
    assert found == [(3, "x"), (2, None)], (
        f"group_by groups by what the selector returns, 3 and 2, and keeps a record without a value; yours: {found}"
    )
    for grouped in (
        lambda lengths: lengths.map(swap).map(swap).group_by_key(Serdes.string(), Serdes.long()),
        lambda lengths: lengths.group_by(lambda key, _length: key, Serdes.string(), Serdes.long()),
    ):
        builder = KStreamBuilder()
        grouped(builder.stream("in").map_values(len)).count("Counts")
        found = through_the_topic(builder, ("a", "xyz"), key=TEXT, value=LONG)
        assert found == [("a", 3)], f"keys are text and values numbers, each with its serde: a 3; yours: {found}"


@pytest.mark.points(2, task=2)
def test_the_serdes_of_a_join():
    """As for a group"""
    builder = KStreamBuilder()
    stream = builder.stream("in").select_key(length_of_key)
    joined = stream._repartitioned_to_join(Serdes.long(), Serdes.string())
    assert not joined._repartition_required, (
        "behind the topic the keys are where they belong: the mark is gone, or the next join makes one more topic"
    )
    joined.map(lambda key, value: (str(key), value)).to("out")
    try:
        with TopologyTestDriver(
            builder, application_id="app", key_serde=Serdes.string(), value_serde=Serdes.string()
        ) as driver:
            driver.pipe_input("in", "abc", "x", timestamp=1)
            record = driver.read_output("out")
    except (StreamsError, SerializationError) as error:
        pytest.fail(f"the repartition topic has the serdes that were given, first that of keys: {error}")
    assert record is not None, "the record comes back from the repartition topic"
    assert (record.key, record.value) == ("3", "x"), f"the key 3 and its value go through the topic; yours: {record}"
