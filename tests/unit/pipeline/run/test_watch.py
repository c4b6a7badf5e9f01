"""What a watched run shows and writes down, and how often: on a clock that jumps."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaException
from rich.console import Console

from kafka_lite.common.topic_partition import TopicPartition
from pipeline.events import DEAD_LETTERS
from pipeline.replay import ReplayStatus
from pipeline.run import watch
from pipeline.run.run_folder import RunFolder
from pipeline.run.watch import Watch
from pipeline.view.query_progress import query_status
from tests.support.recorded_progress import FLIGHT_ENDS, recorded_delays

JOBS = ("delays", "aircraft_days")


class Clock:
    """In place of the module ``time``."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return int(self.now * 1e9)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Run:
    """The parts that a watch looks at."""

    def __init__(self, folder: Path, console: Console) -> None:
        self.folder = RunFolder(folder)
        self.statuses: dict[str, Any] = {}
        self.ends: Any = FLIGHT_ENDS
        self.polled = 0
        self.queries: Any = SimpleNamespace(running=[], restarts=Counter({"delays": 2, "aircraft_days": 1}))
        log: Any = SimpleNamespace(poll=self._poll, statuses=lambda: self.statuses)
        ends: Any = SimpleNamespace(ends=self._ends)
        self.watch = Watch(console, 5.0, self.folder, log, ends, JOBS, start_number=3)

    def _poll(self, _running: object) -> None:
        self.polled += 1

    def _ends(self, _topics: object) -> Any:
        if isinstance(self.ends, Exception):
            raise self.ends
        return self.ends

    def samples(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.folder.samples.read_text().splitlines() if line]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(watch, "time", clock)
    return clock


@pytest.fixture
def output() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def run(tmp_path: Path, clock: Clock, output: io.StringIO) -> Run:
    return Run(tmp_path, Console(file=output, width=200))


def replay(sent: int) -> ReplayStatus:
    return ReplayStatus(sent=sent, total=1000, clock_ms=7, faults={})


def test_it_is_shown_once_per_interval(run: Run, clock: Clock, output: io.StringIO) -> None:
    for _ in range(60):
        run.watch.look("replaying", run.queries, replay(0))
    assert clock.now == 15
    assert len(run.samples()) == run.polled == 3
    assert len(output.getvalue().splitlines()) == 3


def test_the_rate_is_that_of_the_last_seconds(run: Run, clock: Clock) -> None:
    for sent in (0, 500, 1000, 1000, 1000):
        clock.now += 5
        run.watch.show("replaying", run.queries, replay(sent))
    assert [sample["send_rate"] for sample in run.samples()] == [0, 100, 100, 50, 0]


def test_a_sample_has_the_start_the_clock_and_the_lag_of_each_query(run: Run, clock: Clock) -> None:
    status = query_status(list(recorded_delays(batches=3)))
    assert status is not None
    run.statuses = {"delays": status}
    run.ends = {**FLIGHT_ENDS, TopicPartition(DEAD_LETTERS, 0): 4, TopicPartition(DEAD_LETTERS, 1): 3}
    clock.now = 2.5
    run.watch.show("draining", run.queries, replay(10))
    (sample,) = run.samples()
    lag = sum(
        end - status.consumed[partition] for partition, end in FLIGHT_ENDS.items() if partition in status.consumed
    )
    assert sample == {
        "start": 3, "time_ms": 2500, "clock_ms": 7, "sent": 10, "send_rate": 0.0, "lag": {status.name: lag},
        "dead_letters": 7,
    }  # fmt: skip


def test_lag_and_dead_letters_are_unknown_while_the_broker_is_away(run: Run, clock: Clock, output: io.StringIO) -> None:
    """At the start, too, where no ends have been seen: a lag of 0 would say that all is read."""
    status = query_status(list(recorded_delays(batches=3)))
    assert status is not None
    run.statuses = {"delays": status}
    there = {**FLIGHT_ENDS, TopicPartition(DEAD_LETTERS, 0): 4}
    for ends in (KafkaException("no broker"), there, KafkaException("no broker")):
        run.ends = ends
        run.watch.show("replaying", run.queries, replay(0))
    assert [sample["dead_letters"] for sample in run.samples()] == [None, 4, None]
    assert [sample["lag"] for sample in run.samples()] == [{"delays": None}, {"delays": 1}, {"delays": None}]
    before, between, after = output.getvalue().splitlines()
    for line in (before, after):
        assert "lag ?" in line
        assert "dead letters ?" in line
    assert "lag 1 " in between


def test_queries_without_a_batch_are_waited_for(run: Run, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(watch, "status_line", lambda status: shown.append(status) or "")
    status = query_status(list(recorded_delays(batches=1)))
    run.statuses = {"aircraft_days": status}
    run.watch.show("replaying", run.queries, replay(0))
    (seen,) = shown
    assert (seen.queries, seen.waiting, seen.restarts) == ([status], ["delays"], 3)


def test_a_terminal_has_a_view_that_ends_with_the_run(tmp_path: Path, clock: Clock, output: io.StringIO) -> None:
    run = Run(tmp_path, Console(file=output, width=80, force_terminal=True, color_system=None))
    with run.watch:
        run.watch.show("replaying", run.queries, replay(10))
        assert run.watch._live is not None
        assert run.watch._live.is_started
    assert not run.watch._live.is_started
    assert "replaying" in output.getvalue()
