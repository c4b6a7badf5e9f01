"""Task 4: an application counts, with your code and a real broker."""

import pytest

from kafka_learn.labs.applications import Application
from kafka_learn.labs.clients import create_topic, publish
from kafka_lite.common.serdes import StringSerde
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder

SERDES = {"key.serde": StringSerde, "value.serde": StringSerde}


@pytest.fixture
def counted(broker, tmp_path):
    """``counted("name", keys, so_many)``: start an application, publish keys, return its last counts, stop it."""
    created = set()

    def run(name, keys, so_many, folder="state"):
        if name not in created:
            created.add(name)
            create_topic(broker, f"{name}-in")
            create_topic(broker, f"{name}-out")
        builder = KStreamBuilder()
        counts = builder.stream(f"{name}-in").group_by_key().count("Counts")
        counts.to_stream().map_values(str).to(f"{name}-out")
        with Application(broker, builder, tmp_path / folder, f"count-{name}", **SERDES) as application:
            publish(
                broker, 0, len(keys), lambda n: {"key": keys[n], "value": "v", "timestamp": 1000}, topic=f"{name}-in"
            )
            found = application.output(f"{name}-out", so_many)
        return {key.decode(): int(value) for key, value in found}

    return run


@pytest.mark.points(5, task=4)
def test_a_restart(counted):
    """Closed and started again, it goes on counting"""
    assert counted("restart", "aab", 3) == {"a": 2, "b": 1}
    found = counted("restart", "ab", 5)
    assert found == {"a": 3, "b": 2}, f"a came three times in all, b twice; after a restart your counts are {found}"


@pytest.mark.points(5, task=4)
def test_another_machine(counted):
    """The next instance has an empty folder"""
    assert counted("moved", "aab", 3, "one") == {"a": 2, "b": 1}
    found = counted("moved", "ab", 5, "other")
    assert found == {"a": 3, "b": 2}, f"the counts come from the changelog, not from the folder; yours are {found}"


@pytest.mark.points(5, task=4)
def test_many(counted):
    """Five hundred changes of twenty keys"""
    keys = [f"k{number % 20}" for number in range(500)]
    assert counted("many", keys, 500) == {f"k{number}": 25 for number in range(20)}
    found = counted("many", keys[:20], 520)
    assert found == {f"k{number}": 26 for number in range(20)}, f"25 of each key were restored, and one came; {found}"
