"""Flights and hours of weather by hand, as the data set's tables have them, and as records that Spark has read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession

from kafka_lite.spark.schema import spark_schema
from pipeline.events import Event

_numbers = count(1)


def flight(at: str, dep_delay: int | None = 0, tailnum: str | None = "N1", route: str = "EWR-ORD", **more: Any) -> dict:
    """A row of the table of flights; ``at`` is its scheduled departure (``2013-07-01T10:15``, UTC)."""
    origin, dest = route.split("-")
    hour, minute = at.split(":")
    return {
        "carrier": "UA", "flight": next(_numbers), "tailnum": tailnum, "origin": origin, "dest": dest,
        "dep_delay": dep_delay, "minute": int(minute), "time_hour": f"{hour}:00:00Z", **more,
    }  # fmt: skip


def flights(*rows: dict) -> pd.DataFrame:
    return pd.DataFrame(list(rows)).astype({"dep_delay": "Int64"})


def weather(*rows: tuple[str, str, float]) -> pd.DataFrame:
    """Airport, hour (``2013-07-01T10``) and temperature; the other readings are constant."""
    table = pd.DataFrame(rows, columns=["origin", "time_hour", "temp"])
    return table.assign(time_hour=table["time_hour"] + ":00:00Z", precip=0.0, visib=10.0, wind_speed=None)


def records(spark: SparkSession, events: Iterable[Event]) -> DataFrame:
    """The events as the source reads them, all in one partition."""
    rows: Sequence[tuple] = [
        (
            event.key.encode(),
            event.value.encode() if isinstance(event.value, str) else event.value,
            event.topic,
            0,
            offset,
            datetime.fromtimestamp(event.timestamp_ms / 1000, UTC),
            0,
            event.headers or None,
        )
        for offset, event in enumerate(events)
    ]
    return spark.createDataFrame(rows, spark_schema(include_headers=True))
