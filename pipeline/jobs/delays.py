"""Delays of departure by airport and window of event time.

Spark 4.2: python/pyspark/sql/functions (window) · book 1.1
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from pipeline.events import CURRENT_VERSION, EVENT_ID, LATENESS, SCHEMA_VERSION
from pipeline.jobs.deduplication import deduplicated
from pipeline.jobs.record_headers import headers

LATE_FROM_MINUTES = 15
"""A departure counts as late from this delay on."""


def delay_figures() -> tuple[Column, ...]:
    """The figures of a group of flights: the aggregates ``flights``, ``departed``, ``late`` and ``mean_delay``.

    ``flights`` counts all of them, ``departed`` those not cancelled, whose ``dep_delay`` is not null; ``late`` counts
    those that left 15 minutes late or more; ``mean_delay`` is in minutes, over those that departed, null if none did.
    """
    delay = F.col("dep_delay")
    return (
        F.count("*").alias("flights"),
        F.count(delay).alias("departed"),
        F.count_if(delay >= LATE_FROM_MINUTES).alias("late"),
        F.avg(delay).alias("mean_delay"),
    )


def delays_by_window(
    flights: DataFrame, length: str = "1 hour", slide: str | None = None, lateness: str = LATENESS
) -> DataFrame:
    """One row per airport and window ``[window_start, window_end)`` of the scheduled departure.

    The columns are ``window_start``, ``window_end``, ``origin`` and ``delay_figures``. A flight at the very end of a
    window belongs to the next one; with ``slide`` it belongs to each window that it is in. An event that was sent twice
    counts once. A stream emits a window when the watermark, ``lateness`` behind the latest event, has reached its end.
    """
    window = F.window("event_time", length, slide)
    of_windows = deduplicated(flights, lateness).groupBy(window, "origin").agg(*delay_figures())
    return of_windows.selectExpr("window.start AS window_start", "window.end AS window_end", *of_windows.columns[1:])


def delay_records(delays: DataFrame) -> DataFrame:
    """The rows of ``delays_by_window`` as records: ``key``, ``value``, ``timestamp``, ``headers``.

    The key is the airport, the value the row as JSON, and the timestamp the window's end. The headers are ``event-id``,
    such as ``EWR/2013-07-01T10:00:00Z`` (airport and start of the window in UTC), and ``schema-version``. A result that
    is written again has the same id, so a reader recognises it as a double.
    """
    start = F.date_format("window_start", "yyyy-MM-dd'T'HH:mm:ss'Z'")
    ids = {EVENT_ID: F.concat_ws("/", "origin", start), SCHEMA_VERSION: F.lit(CURRENT_VERSION)}
    return delays.select(
        F.col("origin").alias("key"),
        F.to_json(F.struct("*")).alias("value"),
        F.col("window_end").alias("timestamp"),
        headers(ids).alias("headers"),
    )
