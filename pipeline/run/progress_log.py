"""Collects the progress of running queries without missing a batch, and keeps it in the run's folder.

Spark 4.2: sql/core/.../streaming/runtime/ProgressReporter.scala · book 4.4.2
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Protocol

from pipeline.run.run_folder import RunFolder
from pipeline.view.query_progress import Progress, QueryStatus, by_query, has_run, query_status


class ProgressReport(Protocol):
    """A ``StreamingQueryProgress`` of PySpark."""

    @property
    def json(self) -> str:
        """The whole report."""
        ...


class ReportingQuery(Protocol):
    """The part of a ``StreamingQuery`` that is used here. Method names are PySpark's."""

    @property
    def lastProgress(self) -> ProgressReport | None:  # noqa: N802
        """The newest report."""
        ...

    @property
    def recentProgress(self) -> Sequence[ProgressReport]:  # noqa: N802
        """The newest hundred, in order."""
        ...


class ProgressLog:
    """The batches of all queries of a run, including those that its earlier starts have left in the folder."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._batches: list[Progress] = []
        self._last: dict[str, int] = {}
        for progress in folder.rows(folder.progress):
            self._add(progress)

    def poll(self, queries: Iterable[ReportingQuery]) -> None:
        """Take over the batches that have run since. To be called at least every hundred batches."""
        new = [progress for query in queries for progress in self._reports(query) if self._add(progress)]
        self._folder.append(self._folder.progress, new)

    def batches(self) -> Sequence[Progress]:
        """The reports of all batches, in the order of their arrival."""
        return self._batches

    def statuses(self) -> dict[str, QueryStatus]:
        """The status of each query that has run a batch."""
        statuses = {name: query_status(reports) for name, reports in by_query(self._batches).items()}
        return {name: status for name, status in statuses.items() if status is not None}

    def _reports(self, query: ReportingQuery) -> Iterable[Progress]:
        """The newest report, which is cheap to ask for, if it continues the known ones; else the newest hundred."""
        if (newest := query.lastProgress) is None:
            return []
        progress: Progress = json.loads(newest.json)
        if progress["batchId"] <= self._last.get(progress["name"], -1) + 1:
            return [progress]
        return (json.loads(report.json) for report in query.recentProgress)

    def _add(self, progress: Progress) -> bool:
        """Add a batch; returns False if it is known, or if the report is of an idle interval."""
        name, batch_id = progress["name"], progress["batchId"]
        if not has_run(progress) or batch_id <= self._last.get(name, -1):
            return False
        self._last[name] = batch_id
        self._batches.append(progress)
        return True
