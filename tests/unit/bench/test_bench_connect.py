"""The parts of Connect's bench that need no worker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bench.connect import workloads
from bench.connect.workers import KAFKA_CONNECT, command
from bench.connect.workloads import Generations, config_records, measured
from bench.measure import MESSAGES
from bench.streams.workloads import PER_CORE
from kafka_lite.connect.runtime.storage.config_topic import ConfigTopic


def test_the_records_make_connectors_of_one_task() -> None:
    topic = ConfigTopic()
    for offset, (key, value) in enumerate(config_records(3, {"file": "f", "topic": "t"})):
        topic.apply(key.decode(), json.loads(value), offset)
    found = topic.snapshot()
    assert found.connectors == ["c000", "c001", "c002"]
    assert [str(task) for name in found.connectors for task in found.tasks(name)] == ["c000-0", "c001-0", "c002-0"]


def test_a_rebalance_lasts_from_the_first_stop_to_the_last_start() -> None:
    generations = Generations()
    rows = [
        ("a", "RUNNING", 1, 0), ("b", "RUNNING", 1, 100), ("b", "UNASSIGNED", 1, 5_000), ("a", "UNASSIGNED", 1, 5_400),
        ("a", "RUNNING", 2, 6_000), ("b", "RUNNING", 2, 7_500),
    ]  # fmt: skip
    for key, state, generation, time_ms in rows[:-1]:
        generations.add(key, {"state": state, "generation": generation}, time_ms)
    generations.add("a", None, 6_500)
    assert (generations.complete(2, after=-1), generations.complete(2, after=1)) == (1, None)
    key, state, generation, time_ms = rows[-1]
    generations.add(key, {"state": state, "generation": generation}, time_ms)
    assert generations.complete(2, after=1) == 2
    assert generations.seconds_of(2) == 2.5
    assert str(generations) == "{1: 2, 2: 2}"


class _Worker:
    """A worker whose processor time grows by a second with each look."""

    system = "ours"

    def __init__(self) -> None:
        self._cpu_s: Iterator[float] = iter((1.0, 3.0))

    def ensure_alive(self) -> None:
        pass

    def cpu_s(self) -> float:
        return next(self._cpu_s)

    def peak_mb(self) -> float:
        return 50.0


def test_the_warm_up_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "POLL_S", 0)
    progress, worker = iter((0, 150, 250, 700, 1_000)), _Worker()
    ours: Any = worker
    sample = measured(ours, lambda: next(progress), 1_000)
    assert sample[PER_CORE] == (1_000 - 250) / 2.0
    assert sample[MESSAGES] > 0


def test_too_few_lines_are_no_measurement() -> None:
    ours: Any = _Worker()
    with pytest.raises(RuntimeError, match="too few"):
        measured(ours, lambda: 10, 10)


def test_ours_is_the_shipped_command() -> None:
    assert command("kafka_lite")[-2:] == ["kafka_lite.tools.main", "connect-distributed"]
    assert KAFKA_CONNECT != "kafka_lite"
