"""The pytest plugin for labs on Spark: one session serves all tests of a check.

A test that takes the fixture ``spark`` or a fixture made of it is red at once while a function of its task has no body:
the session, which takes seconds to start, starts when there is something to run.
"""

from __future__ import annotations

import copyreg
import importlib
import struct
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from kafka_learn.labs.spark_jvm import LOCAL_DIR, is_shared, stop_session_of_an_earlier_check
from kafka_learn.labs.starter import UNWRITTEN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIXTURE = "spark"
MASTER = "local[2]"
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "512m",
    # A lab's tables are small: Spark's own broadcasts and adaptive plans would take longer than the work.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
    # As in the pipeline: times that pandas reads with their zone.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


class UnwrittenBodies:
    """Turns tests of unwritten functions red before the session is started for them."""

    def __init__(self, messages: Iterable[str]) -> None:
        self._messages = {_task_of(message): message for message in messages}

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Raise what the unwritten body would raise."""
        marker = item.get_closest_marker("points")
        task = 0 if marker is None else marker.kwargs["task"]
        if task in self._messages and FIXTURE in getattr(item, "fixturenames", ()):
            raise NotImplementedError(self._messages[task])


def _task_of(message: str) -> int:
    """The number in "your task 3: …"."""
    return int(message.removeprefix(UNWRITTEN).partition(":")[0])


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that the grader passes."""
    parser.addoption("--lab-unwritten", action="append", default=[], help='"your task N: FUNCTION", for each such task')


def pytest_configure(config: pytest.Config) -> None:
    """Register the check for unwritten bodies."""
    config.pluginmanager.register(UnwrittenBodies(config.getoption("--lab-unwritten")), "kafka-lite-lab-unwritten")


@pytest.fixture(scope="session")
def spark_settings() -> dict[str, str]:
    """Settings of the session beside ``SETTINGS``: a lab's ``conftest.py`` overrides this fixture."""
    return {}


@pytest.fixture(scope="session")
def spark(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory, spark_settings: dict[str, str]
) -> Iterator[SparkSession]:
    """The session of this check: two cores, UTC, ``format("kafka_lite")`` registered, the learner's functions in it."""
    from kafka_lite.spark.session import SHORT_LIVED_CHECKPOINTS, session

    lab: Any = pytestconfig.pluginmanager.get_plugin("kafka-lite-lab")
    ship_by_value(lab.files)
    stop_session_of_an_earlier_check()
    folder = tmp_path_factory.mktemp("spark")
    # Everything in the check's own folder, which is removed even if this process and its JVM are killed.
    places = {"spark.sql.warehouse.dir": str(folder / "warehouse")}
    if not is_shared():
        places[LOCAL_DIR] = str(folder)
    settings = SETTINGS | SHORT_LIVED_CHECKPOINTS | places | spark_settings
    running = session("labs", master=MASTER, config=settings, log_file=folder / "spark.log")
    yield running
    for query in running.streams.active:
        query.stop()
    running.stop()


def ship_by_value(modules: Iterable[str]) -> None:
    """Send functions of these modules' packages to Spark's Python workers as code instead of by name.

    A worker that gets a name imports the shipped module, and the learner's function would never run.
    """
    # A module's constants go with its functions, and of those that labs have only this kind cannot be pickled.
    copyreg.pickle(struct.Struct, lambda layout: (struct.Struct, (layout.format,)))
    cloudpickle: Any = importlib.import_module("pyspark.cloudpickle")
    for package in {module.partition(".")[0] for module in modules}:
        cloudpickle.register_pickle_by_value(importlib.import_module(package))
