"""Joins every flight with the weather of its hour: two streams, bounded by event time.

Spark 4.2: sql/core/.../streaming/operators/stateful/join/StreamingSymmetricHashJoinExec.scala · book 1.1
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from pipeline.events import LATENESS
from pipeline.jobs.deduplication import deduplicated

FLIGHT = ("event_id", "event_time", "origin", "dest", "carrier", "flight", "tailnum", "dep_delay")
"""The columns that a flight keeps."""

READINGS = ("temp", "precip", "visib", "wind_speed")
"""The columns of the weather that a flight gets: °F, inches per hour, miles, miles per hour."""


def in_its_hour() -> Column:
    """Whether an observation belongs to a flight: it is of its airport and of the full hour before its departure.

    The columns are ``origin`` and ``event_time`` of the flight, and ``airport`` and ``observed`` of the weather. An
    observation at 10:00 belongs to the departures of ``[10:00, 11:00)``. The bounds are comparisons of the two times,
    so that Spark can tell how long each side may still find a partner, and its state stays small.
    """
    return F.expr("origin = airport AND event_time >= observed AND event_time < observed + INTERVAL 1 HOUR")


def observations(weather: DataFrame, lateness: str = LATENESS) -> DataFrame:
    """The side of the weather: ``airport``, ``observed`` and the READINGS, each observation once, with a watermark.

    ``airport`` and ``observed`` are ``origin`` and ``event_time`` of the events.
    """
    return deduplicated(weather, lateness).select(
        F.col("origin").alias("airport"), F.col("event_time").alias("observed"), *READINGS
    )


def flights_with_weather(flights: DataFrame, weather: DataFrame, lateness: str = LATENESS) -> DataFrame:
    """One row per flight, with the observation of its hour; ``observed`` and READINGS are null if there is none.

    The columns are FLIGHT, ``observed`` and READINGS. An event that was sent twice counts once. A stream emits a flight
    without weather when the watermark, which is that of the slower stream, is so late that none can follow.
    """
    left = deduplicated(flights, lateness).select(*FLIGHT)
    return left.join(observations(weather, lateness), in_its_hour(), "left_outer").drop("airport")
