"""Task 4: applications join topics on a real broker, with your code."""

import pytest

from kafka_learn.labs.applications import Application
from kafka_learn.labs.clients import create_topic, publish
from kafka_lite.common.serdes import StringSerde
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder

SERDES = {"key.serde": StringSerde, "value.serde": StringSerde}


@pytest.fixture
def topics(broker):
    """``topics("a", "b")`` creates topics."""

    def create(*names):
        for name in names:
            create_topic(broker, name)

    return create


def put(broker, topic, first, *pairs):
    """Publish keys with values; None is a deletion. ``first`` is the first timestamp."""
    publish(
        broker, 0, len(pairs), lambda n: {"key": pairs[n][0], "value": pairs[n][1], "timestamp": first + n}, topic=topic
    )


def last(records):
    """The records as a table: the last value of each key."""
    table = dict(records)
    return {key.decode(): value.decode() for key, value in sorted(table.items()) if value is not None}


@pytest.mark.points(5, task=4)
def test_clicks_meet_users(broker, topics, tmp_path):
    """A stream and a table whose records are older"""
    topics("users", "users-read", "clicks", "named")
    put(broker, "users", 1000, ("u", "Ann"), ("v", "Bob"))
    builder = KStreamBuilder()
    users = builder.table("users", "Users")
    users.to("users-read")
    builder.stream("clicks").left_join(users, lambda click, user: f"{click}+{user}").to("named")
    with Application(broker, builder, tmp_path, "clicks", **SERDES) as application:
        application.output("users-read", 2)
        put(broker, "clicks", 2000, ("nobody", "0"), ("u", "1"), ("v", "2"))
        found = [(key, value) for key, value in application.output("named", 3)]
    assert found[1:] == [(b"u", b"1+Ann"), (b"v", b"2+Bob")], f"1+Ann and 2+Bob; yours are {found[1:]}"


@pytest.mark.points(5, task=4)
@pytest.mark.parametrize("kind", ["join", "outer_join"])
def test_two_tables(broker, topics, tmp_path, kind):
    """Both sides change while the application runs"""
    left, right, out = (f"{kind}-{name}" for name in ("left", "right", "out"))
    topics(left, right, out)
    builder = KStreamBuilder()
    one, other = builder.table(left, "Left"), builder.table(right, "Right")
    getattr(one, kind)(other, lambda a, b: f"{a}+{b}").to(out)
    with Application(broker, builder, tmp_path, kind, **SERDES) as application:
        put(broker, left, 1000, ("a", "1"), ("b", "1"))
        if kind == "outer_join":
            application.output(out, 2)
        put(broker, right, 2000, ("b", "2"), ("c", "2"))
        found = last(application.output(out, 1 if kind == "join" else 4))
    wanted = {"b": "1+2"} if kind == "join" else {"a": "1+None", "b": "1+2", "c": "None+2"}
    assert found == wanted, f"{kind}: {wanted}; yours is {found}"
