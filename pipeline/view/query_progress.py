"""Reads the progress of streaming queries: rates, lag, watermark, state and dropped rows, from Spark's JSON.

Spark 4.2: sql/api/.../streaming/progress.scala (StreamingQueryProgress) · book 4.4.2

Everything here is a pure function of recorded progress: one JSON object for each batch and, while nothing arrives, for
each idle interval.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kafka_lite.common.topic_partition import TopicPartition

Progress = Mapping[str, Any]
"""The JSON object of one StreamingQueryProgress."""

Offsets = Mapping[TopicPartition, int]

EPOCH_WATERMARK_MS = 0
"""Spark's watermark before the first event."""


@dataclass(frozen=True)
class QueryStatus:
    """The state of one query after some of its batches.

    Rates are rows per second of the last batch; ``duration_ms`` is how long it took; ``consumed`` is the offset of each
    partition at which it ended. ``dropped_by_watermark`` and ``total_rows_in`` sum all batches.
    """

    name: str
    batch_id: int
    timestamp_ms: int
    duration_ms: int
    rows_in: int
    total_rows_in: int
    input_rate: float
    processing_rate: float
    watermark_ms: int | None
    state_rows: int
    state_bytes: int
    dropped_by_watermark: int
    consumed: Offsets = field(default_factory=dict)


def query_status(progresses: Iterable[Progress]) -> QueryStatus | None:
    """The status of one query after its progress objects, oldest first; None if no batch has run."""
    batches = executed_batches(progresses)
    if not batches:
        return None
    last = batches[-1]
    return QueryStatus(
        name=last.get("name") or "",
        batch_id=last["batchId"],
        timestamp_ms=instant_ms(last["timestamp"]),
        duration_ms=batch_duration_ms(last),
        rows_in=rows_in(last),
        total_rows_in=sum(rows_in(batch) for batch in batches),
        input_rate=last.get("inputRowsPerSecond", 0.0),
        processing_rate=last.get("processedRowsPerSecond", 0.0),
        watermark_ms=watermark_ms(last),
        state_rows=state_rows(last),
        state_bytes=sum(operator.get("memoryUsedBytes", 0) for operator in last.get("stateOperators", [])),
        dropped_by_watermark=sum(dropped_by_watermark(batch) for batch in batches),
        consumed=consumed(last),
    )


def executed_batches(progresses: Iterable[Progress]) -> list[Progress]:
    """The progress objects of batches that ran, in their order, without those of idle intervals.

    A batch that was repeated after a restart counts once.
    """
    by_batch = {progress["batchId"]: progress for progress in progresses if has_run(progress)}
    return [by_batch[batch_id] for batch_id in sorted(by_batch)]


def has_run(progress: Progress) -> bool:
    """Whether this is the report of a batch, and not of an interval in which nothing arrived."""
    return "addBatch" in progress["durationMs"]


def by_query(progresses: Iterable[Progress]) -> dict[str, list[Progress]]:
    """The progress objects of each query, by its name, in the order of first appearance."""
    queries: dict[str, list[Progress]] = {}
    for progress in progresses:
        queries.setdefault(progress.get("name") or progress["id"], []).append(progress)
    return queries


def rows_in(progress: Progress) -> int:
    """How many rows a batch read."""
    return int(progress.get("numInputRows", 0))


def batch_duration_ms(progress: Progress) -> int:
    """How long a batch took, planning and commit included."""
    return int(progress.get("durationMs", {}).get("triggerExecution", progress.get("batchDuration", 0)))


def watermark_ms(progress: Progress) -> int | None:
    """The watermark of a batch, ms since the epoch; None if the query has none yet."""
    text = progress.get("eventTime", {}).get("watermark")
    watermark = None if text is None else instant_ms(text)
    return None if watermark == EPOCH_WATERMARK_MS else watermark


def dropped_by_watermark(progress: Progress) -> int:
    """How many rows the stateful operators of a batch dropped because they were older than the watermark."""
    return sum(operator.get("numRowsDroppedByWatermark", 0) for operator in progress.get("stateOperators", []))


def state_rows(progress: Progress) -> int:
    """How many rows the stateful operators of a query kept after a batch."""
    return sum(operator.get("numRowsTotal", 0) for operator in progress.get("stateOperators", []))


def consumed(progress: Progress) -> dict[TopicPartition, int]:
    """Up to which offset a query has read each partition; of several sources, the one that is furthest behind."""
    offsets: dict[TopicPartition, int] = {}
    for source in progress.get("sources", []):
        for partition, offset in _offsets(source.get("endOffset")).items():
            offsets[partition] = min(offsets.get(partition, offset), offset)
    return offsets


def lag(ends: Offsets, read: Offsets) -> dict[TopicPartition, int]:
    """How many records of each partition lie between what a query has read and the end.

    ``ends`` may have partitions of other topics; a query has no lag in those.
    """
    topics = {topic for topic, _ in read}
    return {
        partition: max(end - read.get(partition, 0), 0) for partition, end in ends.items() if partition.topic in topics
    }


def _offsets(value: Any) -> Offsets:
    """Offsets as the source reports them, ``{"flights": {"0": 23}}``: an object, or its JSON as text."""
    if isinstance(value, str):
        value = json.loads(value)
    return {
        TopicPartition(topic, int(partition)): offset
        for topic, partitions in (value or {}).items()
        for partition, offset in partitions.items()
    }


def instant_ms(text: str) -> int:
    """``2013-01-01T12:30:00.000Z`` in ms since the epoch."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)
