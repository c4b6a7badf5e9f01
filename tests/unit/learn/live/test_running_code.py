"""The code that watched threads run: where they stand, and the lines of a step."""

from __future__ import annotations

import textwrap
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_learn.live.running_code import MOST_FUNCTIONS, RunningCode
from kafka_lite.testing.simulation.event_log import EventLog
from kafka_lite.testing.simulation.scheduler import Owner, Scheduler

SOURCE = textwrap.dedent("""
    class Log:
        def append(self, touch):
            touch()
            return self._write(touch)

        def _write(self, touch):
            touch()

    def serve(log, pause, touch):
        for number in range(1000):
            pause()
            log.append(touch)
            all(touch() for _ in range(2))
""").lstrip()
APPEND, WRITE, SERVE = 2, 6, 9
"""The lines in which the functions begin."""


class Toy:
    """A process with one thread, which appends at every second."""

    def __init__(self, root: Path, file: str = "kafka_lite/log/toy.py") -> None:
        self.scheduler = Scheduler(Random(1), EventLog())
        names: dict[str, Any] = {"__name__": "toy"}
        exec(compile(SOURCE, f"{root}/{file}", "exec"), names)
        owner = Owner("broker-0")
        self.scheduler.spawn(owner, "request-handler", lambda: names["serve"](names["Log"](), self._pause, self._touch))
        self.process = SimpleNamespace(name="broker-0", is_running=True, owner=owner)
        self.code = RunningCode(SimpleNamespace(processes=[self.process], scheduler=self.scheduler), root)  # type: ignore[arg-type]

    def _pause(self) -> None:
        self.scheduler.park(self.scheduler.now_ns + 10**9)

    def _touch(self) -> None:
        self.scheduler.touch()

    def run(self, until_s: float) -> None:
        self.scheduler.run(round(until_s * 1e9))


def test_a_waiting_thread_stands_in_its_functions_with_their_lines(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    toy.code.watch("broker-0")
    assert toy.code.as_json()["threads"][0]["stack"] == []  # type: ignore[index]  # it has not begun
    toy.run(0.5)
    shown = toy.code.as_json()
    assert shown is not None
    [thread] = shown["threads"]
    assert thread["name"] == "request-handler"
    [place] = thread["stack"]
    assert place == {
        "name": "serve", "module": "kafka_lite.log.toy", "file": "kafka_lite/log/toy.py", "first": SERVE,
        "last": SERVE + 4, "lines": [SERVE + 2],
    }  # fmt: skip
    assert (shown["processes"], shown["ran"]) == (["broker-0"], [])


def test_a_step_shows_the_functions_that_touched_locks_and_their_lines(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    toy.run(0.5)
    toy.code.watch("broker-0")
    with toy.code.noted():
        toy.run(1.5)
    ran = toy.code.as_json()["ran"]  # type: ignore[index]
    assert [(entry["depth"], entry["place"]["name"], entry["place"]["lines"]) for entry in ran] == [
        (0, "serve", [SERVE + 3, SERVE + 4]),
        (1, "Log.append", [APPEND + 1, APPEND + 2]),
        (2, "Log._write", [WRITE + 1]),
    ]
    with toy.code.noted():
        pass
    assert toy.code.as_json()["ran"] == []  # type: ignore[index]
    assert "touch" not in vars(toy.scheduler)


def test_a_step_keeps_no_more_functions_than_one_can_read(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    toy.code.watch("broker-0")
    with toy.code.noted():
        toy.run(MOST_FUNCTIONS + 10.5)
    assert len(toy.code.as_json()["ran"]) == MOST_FUNCTIONS  # type: ignore[index]


@pytest.mark.parametrize("file", ["kafka_lite/testing/simulation/toy.py", "tests/toy.py"])
def test_the_simulator_and_foreign_code_are_not_shown(tmp_path: Path, file: str) -> None:
    toy = Toy(tmp_path, file)
    toy.code.watch("broker-0")
    with toy.code.noted():
        toy.run(1.5)
    shown = toy.code.as_json()
    assert shown is not None
    assert (shown["threads"][0]["stack"], shown["ran"]) == ([], [])


def test_only_a_process_that_runs_can_be_watched_and_one_that_ended_has_no_threads(tmp_path: Path) -> None:
    toy = Toy(tmp_path)
    with pytest.raises(ValueError, match="no process 'broker-7' runs"):
        toy.code.watch("broker-7")
    assert toy.code.as_json() is None
    toy.code.watch("broker-0")
    toy.process.is_running = False
    assert toy.code.as_json()["threads"] == []  # type: ignore[index]
    with toy.code.noted():
        toy.run(1.5)
    toy.code.watch("")
    assert toy.code.as_json() is None


def test_watching_changes_nothing_of_a_run(tmp_path: Path) -> None:
    watched, other = Toy(tmp_path), Toy(tmp_path)
    watched.code.watch("broker-0")
    with watched.code.noted():
        watched.run(9.5)
    other.run(9.5)
    assert watched.scheduler.events.digest == other.scheduler.events.digest
