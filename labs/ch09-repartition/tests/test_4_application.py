"""Task 4: applications on a real broker, over several partitions."""

from collections import Counter

import pytest

from kafka_learn.labs.applications import Application
from kafka_learn.labs.clients import create_topic, publish, read_all
from kafka_lite.common.serdes import StringSerde
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder

SERDES = {"key.serde": StringSerde, "value.serde": StringSerde}
LINES = ["to be or not to be", "that is the question", "to sleep", "to dream"]


def publish_lines(broker, topic, partitions):
    publish(
        broker,
        0,
        len(LINES),
        lambda n: {"value": LINES[n], "partition": n % partitions, "timestamp": 1000},
        topic=topic,
    )


def words_to(builder, source):
    return builder.stream(source).flat_map(lambda _, line: [(word, word) for word in line.split()])


@pytest.mark.points(5, task=4)
@pytest.mark.parametrize("partitions", [2, 3])
def test_words_of_several_partitions(broker, tmp_path, partitions):
    """A word is counted by one task, wherever its lines are"""
    source, out = f"lines-{partitions}", f"counts-{partitions}"
    create_topic(broker, source, partitions)
    create_topic(broker, out)
    builder = KStreamBuilder()
    words_to(builder, source).group_by_key().count("Counts").to_stream().map_values(str).to(out)
    wanted = Counter(word for line in LINES for word in line.split())
    with Application(broker, builder, tmp_path, f"words-{partitions}", **SERDES) as application:
        publish_lines(broker, source, partitions)
        found = application.output(out, wanted.total())
    counts = {key.decode(): int(value) for key, value in found}
    assert counts == wanted, f"the counts are {dict(wanted)}; yours are {counts}"
    topic = f"words-{partitions}-Counts-repartition"
    went = read_all(broker, partitions, topic)
    assert sum(map(len, went.values())) == wanted.total(), f"{topic} has {partitions} partitions, and every word"


@pytest.mark.points(5, task=4)
def test_a_marked_stream_meets_a_table(broker, tmp_path):
    """The stream has 2 partitions, the table 3"""
    create_topic(broker, "join-lines", 2)
    create_topic(broker, "kinds", 3)
    create_topic(broker, "kinds-read")
    create_topic(broker, "join-out")
    known = [("to", "word"), ("be", "verb")]

    def kind(number):
        return {"key": known[number][0], "value": known[number][1], "timestamp": 1}

    # librdkafka's own partitioner is another one: the words would lie in other partitions than those of the stream.
    publish(broker, 0, 2, kind, topic="kinds", partitioner="murmur2_random")
    builder = KStreamBuilder()
    kinds = builder.table("kinds", "Kinds")
    kinds.to("kinds-read")
    words_to(builder, "join-lines").left_join(kinds, lambda word, kind: f"{word} {kind}").to("join-out")
    total = sum(len(line.split()) for line in LINES)
    with Application(broker, builder, tmp_path, "kinds", **SERDES) as application:
        application.output("kinds-read", 2)
        publish_lines(broker, "join-lines", 2)
        found = application.output("join-out", total)
    values = {value.decode() for _, value in found}
    wanted = {"to word", "be verb", "or None"}
    assert wanted <= values, f"to is a word, be a verb, or nothing; yours are {sorted(values)}"
