"""Task 4: instances of an application start and stop beside a real broker, with your code."""

import time
from contextlib import ExitStack

import pytest

from kafka_learn.labs.applications import Application
from kafka_learn.labs.clients import TIMEOUT_S, create_topic, publish
from kafka_lite.common.serdes import StringSerde
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder

SERDES = {"key.serde": StringSerde, "value.serde": StringSerde}
TASKS = {"0_0", "0_1", "0_2", "0_3"}


class Counting:
    """An application that counts keys in four partitions."""

    def __init__(self, broker, folder, name):
        self._broker, self._folder, self._name = broker, folder, name
        self._published = 0
        create_topic(broker, f"{name}-in", 4)
        create_topic(broker, f"{name}-out")

    def instance(self, name, **configs):
        """An instance with a folder of its own."""
        builder = KStreamBuilder()
        counts = builder.stream(f"{self._name}-in").group_by_key().count("Counts")
        counts.to_stream().map_values(str).to(f"{self._name}-out")
        return Application(self._broker, builder, self._folder / name, self._name, **SERDES, **configs)

    def wait_for_tasks(self, name, condition, what):
        """Wait until the tasks for which an instance has made folders meet a condition."""
        folder, deadline_s = self._folder / name / self._name, time.monotonic() + TIMEOUT_S
        while True:
            found = {path.name for path in folder.iterdir() if "_" in path.name} if folder.exists() else set()
            if condition(found):
                return
            assert time.monotonic() < deadline_s, f"{name} {what}; after {TIMEOUT_S} s it has had {sorted(found)}"
            time.sleep(0.05)

    def counts(self, application):
        """Publish a record of each of eight keys; returns the last counts, once all that was published is counted."""
        publish(
            self._broker,
            0,
            8,
            lambda n: {"key": f"k{n}", "value": "x", "timestamp": 1000, "partition": n % 4},
            topic=f"{self._name}-in",
        )
        self._published += 8
        found = application.output(f"{self._name}-out", self._published)
        return {key.decode(): int(value) for key, value in found}


@pytest.fixture
def counting(broker, tmp_path):
    """``counting("name")``: an application with its topics."""
    return lambda name: Counting(broker, tmp_path, name)


@pytest.mark.points(5, task=4)
def test_one_instance(counting):
    """It gets all tasks"""
    application = counting("alone")
    with application.instance("one", **{"num.stream.threads": 2}) as one:
        assert set(application.counts(one).values()) == {1}
        application.wait_for_tasks("one", lambda found: found == TASKS, f"gets the tasks {sorted(TASKS)}")


@pytest.mark.points(5, task=4)
def test_a_second_instance(counting):
    """It gets half of the tasks, with their state"""
    application = counting("pair")
    with application.instance("one") as one:
        assert set(application.counts(one).values()) == {1}
        with application.instance("two"):
            application.wait_for_tasks("two", lambda found: len(found) == 2, "gets two of four tasks")
            found = application.counts(one)
            assert set(found.values()) == {2}, f"each key came twice, whoever counts it; yours: {found}"


@pytest.mark.points(5, task=4)
def test_an_instance_leaves(counting):
    """The other one takes its tasks over"""
    application = counting("left")
    with ExitStack() as first:
        one = first.enter_context(application.instance("one"))
        with application.instance("two") as two:
            application.wait_for_tasks("two", lambda found: len(found) >= 2, "gets two of four tasks")
            assert set(application.counts(one).values()) == {1}
            first.close()
            application.wait_for_tasks("two", lambda found: found == TASKS, "gets all tasks once it is alone")
            found = application.counts(two)
            assert set(found.values()) == {2}, f"each key came twice; yours: {found}"
