"""Task 4: an application merges two topics, with your code and a real broker."""

import pytest

from kafka_learn.labs.applications import Application
from kafka_learn.labs.clients import create_topic, publish
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder


@pytest.fixture
def merge(broker, tmp_path):
    """``merge("name", **configs)``: an application that copies the topics name-left and name-right to name-out."""
    created = set()

    def make(name, **configs):
        if name not in created:
            created.add(name)
            for topic in ("left", "right", "out"):
                create_topic(broker, f"{name}-{topic}")
        builder = KStreamBuilder()
        left, right = builder.stream(f"{name}-left"), builder.stream(f"{name}-right")
        builder.merge(left, right).to(f"{name}-out")
        builder.copartition_sources(left.source_nodes | right.source_nodes)
        return Application(broker, builder, tmp_path, f"merge-{name}", **configs)

    return make


def numbers(records, side):
    """The numbers of one side's records, in their order."""
    return [int(value[1:]) for _, value in records if value[:1] == side]


def send(broker, topic, side, first, count):
    publish(broker, first, count, lambda n: {"value": side + b"%d" % n, "timestamp": 1000 + n}, topic=topic)


def check(records, count):
    for side in (b"l", b"r"):
        found = numbers(records, side)
        assert found == list(range(count)), f"{count} records of a topic go in, and come out once and in order: {found}"


@pytest.mark.points(5, task=4)
def test_everything_comes_out(broker, merge):
    """200 records in two topics"""
    with merge("all") as application:
        send(broker, "all-left", b"l", 0, 100)
        send(broker, "all-right", b"r", 0, 100)
        check(application.output("all-out", 200), 100)


@pytest.mark.points(5, task=4)
def test_little_room(broker, merge):
    """Room for five records of each partition: fetching pauses and goes on"""
    with merge("small", **{"buffered.records.per.partition": 5}) as application:
        send(broker, "small-left", b"l", 0, 150)
        send(broker, "small-right", b"r", 0, 150)
        check(application.output("small-out", 300), 150)


@pytest.mark.points(5, task=4)
def test_a_restart(broker, merge):
    """Closed and started again: it goes on where it was"""
    for first in (0, 50):
        with merge("again") as application:
            send(broker, "again-left", b"l", first, 50)
            send(broker, "again-right", b"r", first, 50)
            check(application.output("again-out", 2 * (first + 50)), first + 50)
