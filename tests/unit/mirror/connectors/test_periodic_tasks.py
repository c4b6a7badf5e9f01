"""Tasks run when they are due, and again after an error."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.mirror.connectors.periodic_tasks import PeriodicTasks


def test_each_task_has_its_time() -> None:
    time, ran = MockTime(), list[str]()
    tasks = PeriodicTasks("mirror", time)
    tasks.add("a", lambda: ran.append("a"), 10)
    tasks.add("b", lambda: ran.append("b"), 25, at_once=True)
    tasks.add("never", lambda: ran.append("never"), None)
    for _ in range(4):
        tasks.run_due()
        time.sleep(10)
    assert ran == ["b", "a", "a", "a", "b"]


@pytest.mark.parametrize(
    ("error", "text"),
    [(ConnectError("no answer"), "a failed, and is tried again: no answer"), (ValueError("x"), "error in a")],
)
def test_an_error_is_logged_and_the_task_runs_again(
    error: Exception, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    time, runs = MockTime(), list[int]()

    def fail() -> None:
        runs.append(1)
        raise error

    tasks = PeriodicTasks("mirror", time)
    tasks.add("a", fail, 10)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            time.sleep(10)
            tasks.run_due()
    assert len(runs) == 2
    assert text in caplog.text


def test_it_ends_although_nothing_is_due() -> None:
    tasks = PeriodicTasks("mirror")
    tasks.start()
    tasks.shutdown()
    assert not tasks.is_alive()
