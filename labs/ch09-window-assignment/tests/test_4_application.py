"""Task 4: applications count in windows on a real broker, with your code."""

import pytest

from kafka_learn.labs.applications import Application
from kafka_learn.labs.clients import create_topic, publish
from kafka_lite.common.serdes import StringSerde
from kafka_lite.streams.kstream.windows import TimeWindows

SERDES = {"key.serde": StringSerde, "value.serde": StringSerde}


@pytest.fixture
def counts(broker, counting, tmp_path):
    """``counts("name", windows, times, so_many)``: start, publish, return all counts so far by their windows, stop."""
    created = set()

    def run(name, windows, times, so_many):
        if name not in created:
            created.add(name)
            create_topic(broker, f"{name}-in")
            create_topic(broker, f"{name}-out")
        builder = counting(windows, f"{name}-in", f"{name}-out")
        with Application(broker, builder, tmp_path, f"windows-{name}", **SERDES) as application:
            publish(
                broker, 0, len(times), lambda n: {"key": "a", "value": "x", "timestamp": times[n]}, topic=f"{name}-in"
            )
            found = application.output(f"{name}-out", so_many)
        return {key.decode(): int(value) for key, value in found}

    return run


@pytest.mark.points(5, task=4)
def test_tumbling(counts):
    """A hundred records in ten windows"""
    found = counts("tumbling", TimeWindows.of(100), range(1000, 2000, 10), 100)
    assert found == {f"a@{start}": 10 for start in range(1000, 2000, 100)}, f"ten in each window; yours: {found}"


@pytest.mark.points(5, task=4)
def test_hopping_and_late(counts):
    """Each record in two windows, in the wrong order"""
    found = counts("hopping", TimeWindows.of(10).advance_by(5), [12, 27, 3, 14, 6], 9)
    wanted = {"a@0": 2, "a@5": 3, "a@10": 2, "a@20": 1, "a@25": 1}
    assert found == wanted, f"{wanted}; yours: {found}"


@pytest.mark.points(5, task=4)
def test_a_restart(counts):
    """A late record finds its window in the restored store"""
    assert counts("restart", TimeWindows.of(10), [1, 12, 5], 3) == {"a@0": 2, "a@10": 1}
    found = counts("restart", TimeWindows.of(10), [9, 25], 5)
    assert found == {"a@0": 3, "a@10": 1, "a@20": 1}, f"after a restart, the window from 0 has three; yours: {found}"
