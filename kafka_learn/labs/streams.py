"""Feeds a learner's streaming query step by step, and keeps what it emits after each step."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kafka_learn.labs.rows import must_be_frame, rows_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

T = TypeVar("T")

SETTINGS = {"spark.sql.shuffle.partitions": "1"}
"""A lab's streams are small: each partition of their state would be a task in each batch."""


class FedStream:
    """A streaming DataFrame whose rows a test writes; one file of JSON for each step."""

    def __init__(self, spark: SparkSession, folder: Path, schema: str) -> None:
        self._folder = folder
        self._numbers = itertools.count()
        folder.mkdir(parents=True)
        self.frame: DataFrame = spark.readStream.schema(schema).json(str(folder))

    def feed(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows to the stream: all of them are in one batch."""
        lines = "\n".join(json.dumps(row, default=_as_text) for row in rows)
        name = f"{next(self._numbers):04d}.json"
        draft = self._folder / f"_{name}"  # Spark ignores names that begin like this
        draft.write_text(lines, encoding="utf-8")
        draft.rename(self._folder / name)


def _as_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not for JSON")


class RunningJob:
    """A query on a learner's streaming DataFrame. ``emitted`` has the rows of all steps so far."""

    def __init__(self, query: StreamingQuery, emitted: list[dict[str, Any]]) -> None:
        self.query = query
        self.emitted = emitted

    def step(self) -> list[dict[str, Any]]:
        """Let the query read all that there is, and emit all that is complete; returns the rows of this step."""
        before = len(self.emitted)
        self.query.processAllAvailable()
        return self.emitted[before:]

    def rows_of_state(self) -> int:
        """How many rows all stateful operators keep."""
        return sum(operator["numRowsTotal"] for operator in self._operators())

    def dropped_as_late(self) -> int:
        """How many rows operators have dropped as late since the start of the query."""
        progress = [json.loads(each.json) for each in self.query.recentProgress]
        return sum(int(op["numRowsDroppedByWatermark"]) for each in progress for op in each["stateOperators"])

    def _operators(self) -> list[dict[str, Any]]:
        progress = self.query.lastProgress
        return [] if progress is None else json.loads(progress.json)["stateOperators"]


def once(make: Callable[[], T]) -> Callable[[], T]:
    """A function that returns what ``make`` returned in its first call, or raises the same exception again.

    For a run that several tests look at: the first one that needs it makes it, under its own time limit.
    """
    results: list[T] = []
    failures: list[Exception] = []

    def result() -> T:
        if failures:
            raise failures[0]
        if not results:
            try:
                results.append(make())
            except Exception as error:
                failures.append(error)
                raise
        return results[0]

    return result


@contextmanager
def running(job: DataFrame, checkpoint: Path, **settings: str) -> Iterator[RunningJob]:
    """Run a streaming DataFrame in append mode within the block; ``settings`` are Spark's, for this query only.

    Fails with Spark's reason if it cannot run as a stream in append mode.
    """
    from pyspark.errors import AnalysisException

    emitted: list[dict[str, Any]] = []
    assert must_be_frame(job).isStreaming, "the events are a stream, but the DataFrame that you return is none"
    writer = job.writeStream.foreachBatch(_collector(emitted)).outputMode("append")
    with _configured(job.sparkSession, {**SETTINGS, **settings}):
        try:
            query = writer.option("checkpointLocation", str(checkpoint)).start()
        except AnalysisException as error:
            reason = str(error).partition("\n")[0]
            if "watermark" in reason:
                reason += ". Is the watermark on event_time, and does the operator work with that column?"
            raise AssertionError(f"Spark cannot run this as a stream in append mode: {reason}") from None
    try:
        yield RunningJob(query, emitted)
    finally:
        query.stop()


def _collector(emitted: list[dict[str, Any]]) -> Callable[[DataFrame, int], None]:
    def collect(rows: DataFrame, _batch_id: int) -> None:
        emitted.extend(rows_of(rows))

    return collect


@contextmanager
def _configured(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set Spark's settings within the block: a query keeps those that it is started with."""
    before: dict[str, str | None] = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, earlier)
