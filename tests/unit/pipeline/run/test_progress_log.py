"""The log of progress misses no batch, whatever is asked for when, and goes on after a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.run.progress_log import ProgressLog
from pipeline.run.run_folder import RunFolder
from pipeline.run.run_options import ReplayOptions


class Report:
    def __init__(self, progress: dict[str, Any]) -> None:
        self.json = json.dumps(progress)


class Query:
    """A query that has reported these batches; counts how often all recent reports were asked for."""

    def __init__(self, name: str = "delays") -> None:
        self.name = name
        self.reports: list[Report] = []
        self.asked_for_recent = 0

    def runs(self, batch_id: int) -> None:
        self._report(batch_id, {"addBatch": 5, "triggerExecution": 9})

    def idles(self, next_batch_id: int) -> None:
        self._report(next_batch_id, {"latestOffset": 1, "triggerExecution": 1})

    def _report(self, batch_id: int, durations: dict[str, int]) -> None:
        common = {"name": self.name, "timestamp": f"2026-01-01T00:00:{len(self.reports):02}.000Z", "runId": "r"}
        self.reports.append(Report({**common, "batchId": batch_id, "durationMs": durations}))

    @property
    def lastProgress(self) -> Report | None:
        return self.reports[-1] if self.reports else None

    @property
    def recentProgress(self) -> list[Report]:
        self.asked_for_recent += 1
        return self.reports[-100:]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.begin(ReplayOptions(), None)
    return folder


def batch_ids(log: ProgressLog) -> list[int]:
    return [batch["batchId"] for batch in log.batches()]


def test_every_batch_is_taken_once_and_idle_intervals_are_not(folder: RunFolder) -> None:
    log, query = ProgressLog(folder), Query()
    log.poll([query])
    query.runs(0)
    log.poll([query])
    log.poll([query])
    query.idles(1)
    log.poll([query])
    query.runs(1)
    query.idles(2)
    query.runs(2)
    query.runs(3)
    query.idles(4)
    log.poll([query])
    log.poll([query])
    assert batch_ids(log) == [0, 1, 2, 3]


def test_all_recent_reports_are_asked_for_only_if_one_was_missed(folder: RunFolder) -> None:
    log, query = ProgressLog(folder), Query()
    for batch_id in range(5):
        query.runs(batch_id)
        log.poll([query])
        query.idles(batch_id + 1)
        log.poll([query])
    assert query.asked_for_recent == 0
    query.runs(5)
    query.idles(6)
    log.poll([query])
    assert query.asked_for_recent == 1
    assert batch_ids(log) == [0, 1, 2, 3, 4, 5]


def test_a_restarted_run_knows_the_batches_of_the_one_before(folder: RunFolder) -> None:
    query = Query()
    query.runs(0)
    query.runs(1)
    ProgressLog(folder).poll([query])
    log, resumed = ProgressLog(folder), Query()
    resumed.runs(1)  # once more, after a kill before its commit
    resumed.runs(2)
    log.poll([resumed])
    assert batch_ids(log) == [0, 1, 2]
    assert batch_ids(ProgressLog(folder)) == [0, 1, 2]


def test_queries_are_told_apart(folder: RunFolder) -> None:
    log, first, second = ProgressLog(folder), Query("delays"), Query("flights")
    first.runs(0)
    first.runs(1)
    second.runs(0)
    log.poll([first, second])
    assert [(batch["name"], batch["batchId"]) for batch in log.batches()] == [
        ("delays", 0),
        ("delays", 1),
        ("flights", 0),
    ]
