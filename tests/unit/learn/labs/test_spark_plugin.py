"""Tests of unwritten functions are red before a session starts; functions go to Spark's workers as code."""

from __future__ import annotations

import inspect
import pickle
import struct
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark import cloudpickle

from kafka_learn.labs import spark_plugin
from kafka_learn.labs.spark_plugin import UnwrittenBodies, ship_by_value

MESSAGES = ["your task 2: exchanges", "your task 12: joins"]


def item(task: int | None, *fixtures: str) -> Any:
    """A test as pytest has it: its mark with points, its fixtures."""
    marker = None if task is None else SimpleNamespace(kwargs={"task": task})
    return SimpleNamespace(get_closest_marker={"points": marker}.get, fixturenames=fixtures)


@pytest.mark.parametrize(("task", "message"), [(2, MESSAGES[0]), (12, MESSAGES[1])])
def test_a_test_on_spark_is_red_while_its_task_has_no_body(task: int, message: str) -> None:
    with pytest.raises(NotImplementedError, match=message):
        UnwrittenBodies(MESSAGES).pytest_runtest_setup(item(task, "files", "spark"))


@pytest.mark.parametrize("other", [item(1, "spark"), item(2, "plans"), item(None, "spark")])
def test_other_tests_run(other: Any) -> None:
    UnwrittenBodies(MESSAGES).pytest_runtest_setup(other)


def test_a_lab_may_override_settings_of_the_session() -> None:
    assert "spark_settings" in inspect.signature(inspect.unwrap(spark_plugin.spark)).parameters
    assert inspect.unwrap(spark_plugin.spark_settings)() == {}


def test_functions_of_a_learners_package_are_shipped_as_code() -> None:
    ship_by_value(["tests.unit.learn.labs.test_spark_plugin"])
    try:
        by_value: Any = cloudpickle
        shipped = by_value.dumps(item)
        assert b"SimpleNamespace" in shipped, "the code, and not only the function's name"
        copied = pickle.loads(shipped)
        assert copied is not item
        assert copied(3).get_closest_marker("points").kwargs == {"task": 3}
        layout = pickle.loads(by_value.dumps(struct.Struct(">ii")))
        assert layout.format == ">ii"
    finally:
        by_value.unregister_pickle_by_value(__import__("tests"))
