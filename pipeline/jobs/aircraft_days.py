"""The days of an aircraft: its departures from New York up to its next long rest, with state and timers.

Spark 4.2: python/pyspark/sql/streaming/stateful_processor.py · book 9.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from pipeline.events import LATENESS
from pipeline.jobs.deduplication import deduplicated

REST_HOURS = 8
"""A new day begins with a departure that is scheduled this long or longer after the one before."""

LATE_FROM_MINUTES = 15

_MS_PER_HOUR = 3_600_000
_LEG = "time_ms long, event_id string, origin string, dest string, dep_delay int"
_DAY = (
    "tailnum string, first_ms long, last_ms long, flights int, departed int, worst_delay int, knock_on int, "
    "route string"
)


class Leg(NamedTuple):
    """One flight of an aircraft: scheduled departure in ms, id, airports, delay in minutes (``None`` if cancelled)."""

    time_ms: int
    event_id: str
    origin: str
    dest: str
    dep_delay: int | None


def aircraft_days(flights: DataFrame, rest_hours: int = REST_HOURS, lateness: str = LATENESS) -> DataFrame:
    """One row per aircraft and day, emitted once the watermark is ``rest_hours`` past its last departure.

    ``first_departure`` and ``last_departure`` as scheduled; ``flights``, ``departed`` (not cancelled), ``worst_delay``
    in minutes; ``knock_on``: late departures directly after a late one; ``route``: ``EWR-ORD LGA-MIA``.
    """
    legs = deduplicated(flights, lateness).where("tailnum IS NOT NULL")
    days = (
        legs.select("tailnum", "event_time", F.unix_millis("event_time").alias("time_ms"), *Leg._fields[1:])
        .groupBy("tailnum")
        .transformWithState(AircraftDays(rest_hours * _MS_PER_HOUR), _DAY, "Append", "EventTime")
    )
    return days.select(
        "tailnum",
        F.timestamp_millis("first_ms").alias("first_departure"),
        F.timestamp_millis("last_ms").alias("last_departure"),
        *("flights", "departed", "worst_delay", "knock_on", "route"),
    )


class AircraftDays(StatefulProcessor):
    """Keeps the legs of every aircraft's open days; a timer closes a day. Method names are PySpark's.

    Events come in any order within the lateness. A day is therefore only computed when it is over: when the watermark
    has passed its last leg by the rest, no leg of it can follow.
    """

    def __init__(self, rest_ms: int) -> None:
        self._rest_ms = rest_ms

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state of a partition."""
        self._handle = handle
        self._legs = handle.getListState("legs", _LEG)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803
        """Append the legs to the state. If it was empty, register a timer at the last of them plus the rest.

        Returns an iterator without rows: nothing is emitted before a timer expires.
        """
        new = [tuple(row[field] for field in Leg._fields) for row in rows]
        if not self._legs.exists():
            self._handle.registerTimer(max(leg[0] for leg in new) + self._rest_ms)
        self._legs.appendList(new)
        return iter(())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803
        """Emit the days that are over, keep the legs of the others, and register a timer for what is kept.

        A day is over if the watermark is at or after its last leg plus the rest: late legs may have made it longer
        since the timer was registered. Returns an iterator of ``summary``; a day is emitted once, and its legs are
        cleared.
        """
        watermark_ms = timerValues.getCurrentWatermarkInMs()
        days = split_days((Leg(*leg) for leg in self._legs.get()), self._rest_ms)
        is_open = [day[-1].time_ms + self._rest_ms > watermark_ms for day in days]
        kept = [leg for day, stays in zip(days, is_open, strict=True) if stays for leg in day]
        self._legs.clear()
        if kept:
            self._legs.put([tuple(leg) for leg in kept])
            self._handle.registerTimer(kept[-1].time_ms + self._rest_ms)
        return (summary(key[0], day) for day, stays in zip(days, is_open, strict=True) if not stays)


def split_days(legs: Iterable[Leg], rest_ms: int) -> list[list[Leg]]:
    """The legs of one aircraft in the order of their departures, cut where it rests for ``rest_ms`` or longer.

    ``legs`` come in any order. A rest is the time between two departures that follow each other.
    """
    days: list[list[Leg]] = []
    for leg in sorted(legs, key=lambda each: each[:2]):
        if days and leg.time_ms - days[-1][-1].time_ms < rest_ms:
            days[-1].append(leg)
        else:
            days.append([leg])
    return days


def summary(tailnum: str, day: list[Leg]) -> Row:
    """The row of one day."""
    delays = [leg.dep_delay for leg in day if leg.dep_delay is not None]
    late = [leg.dep_delay is not None and leg.dep_delay >= LATE_FROM_MINUTES for leg in day]
    return Row(
        tailnum=tailnum,
        first_ms=day[0].time_ms,
        last_ms=day[-1].time_ms,
        flights=len(day),
        departed=len(delays),
        worst_delay=max(delays, default=None),
        knock_on=sum(before and after for before, after in pairwise(late)),
        route=" ".join(f"{leg.origin}-{leg.dest}" for leg in day),
    )
