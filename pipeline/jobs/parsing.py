"""Parses records into typed events, and says of every other record why it is none.

Spark 4.2: python/pyspark/sql/functions (from_json) · book 4.1.5
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from pipeline.events import CURRENT_VERSION, EVENT_ID, SCHEMA_VERSION, EventType
from pipeline.jobs.record_headers import header

_CORRUPT = "_corrupt"


def parse(records: DataFrame, event_type: EventType) -> DataFrame:
    """Records, read with their headers, and beside them the columns of the event.

    Adds the columns of the type's schema, ``event_id``, ``event_time`` and ``error``: null, or why this is no event.
    """
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    value = F.from_json(F.col("value").cast("string"), f"{event_type.schema}, {_CORRUPT} string", options)
    # Not select(value).select("row.*"): Spark would parse the JSON once per column.
    columns = records.select("*", header(EVENT_ID).alias("event_id"), F.inline(F.array(value)))
    return (
        columns.withColumn("error", _error(event_type))
        .withColumn("event_time", _event_time(event_type))
        .drop(_CORRUPT)
    )  # fmt: skip


def events_of(parsed: DataFrame) -> DataFrame:
    """The events of ``parse``, without the columns of the records that carried them."""
    return parsed.where("error IS NULL").drop(
        "error", "key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers"
    )


def _event_time(event_type: EventType) -> Column:
    """The time of an event: ``time_hour``, and for a type that has minutes the column ``minute`` added to it."""
    minutes = "minute" if event_type.has_minutes else "0"
    return F.expr(f"time_hour + make_dt_interval(0, 0, {minutes})")


def _error(event_type: EventType) -> Column:
    """Why a record is no event: the first reason that holds; null if none does.

    ``no value`` · ``no header event-id`` · ``schema-version is not 1: 2`` (``none`` if there is no such header) ·
    ``not JSON of the schema``, if the column _CORRUPT is not null · ``missing: carrier, flight``, the required columns
    of the type that are null, in their order.
    """
    version = F.coalesce(header(SCHEMA_VERSION), F.lit("none"))
    missing = F.concat_ws(", ", *(F.when(F.col(name).isNull(), name) for name in event_type.required))
    return (
        F.when(F.col("value").isNull(), "no value")
        .when(F.col("event_id").isNull(), f"no header {EVENT_ID}")
        .when(version != CURRENT_VERSION, F.concat(F.lit(f"{SCHEMA_VERSION} is not {CURRENT_VERSION}: "), version))
        .when(F.col(_CORRUPT).isNotNull(), F.lit("not JSON of the schema"))
        .when(missing != "", F.concat(F.lit("missing: "), missing))
    )
