"""Drops events that were sent twice.

Spark 4.2: sql/core/.../streaming/operators/stateful/statefulOperators.scala
(StreamingDeduplicateWithinWatermarkExec) · book 2.1
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from pipeline.events import LATENESS


def deduplicated(events: DataFrame, lateness: str = LATENESS) -> DataFrame:
    """The first of all events with the same ``event_id``; sets the watermark on ``event_time``.

    In a batch query, ids are compared with all others. A stream keeps an id until the watermark has passed its event
    time by ``lateness``. A double that comes later is behind the watermark and dropped as late, so it is never
    counted.
    """
    if not events.isStreaming:
        return events.dropDuplicates(["event_id"])
    return events.withWatermark("event_time", lateness).dropDuplicatesWithinWatermark(["event_id"])
