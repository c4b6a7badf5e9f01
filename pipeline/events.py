"""Events of the pipeline, flights and weather: topics, schemas, event time, keys and headers, in one place.

Spark 4.2: docs/streaming/apis-on-dataframes-and-datasets.md (event time, watermarks) · book 1.1

A record on the wire:

    key         flights: UA1545 (carrier and number)      weather: EWR (the airport)
    timestamp   event time in ms: flights: the scheduled departure, weather: the full hour of the observation
    headers     event-id: UA1545/2013-01-01T10:00:00Z     schema-version: 1
    value       the row of the data set as JSON; missing values are null

Each event has one id, so a record that was sent twice is recognised. Hours are those of UTC: the
local year, month, day and hour, which the rows also have, occur twice at the end of daylight saving time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from pipeline.nycflights import to_json_lines

EVENT_ID = "event-id"
"""The header with the id of the event. Records with equal ids are doubles."""

SCHEMA_VERSION = "schema-version"
"""The header with the version of the value's schema."""

CURRENT_VERSION = "1"

LATENESS = "2 hours"
"""How late, in event time, a record may arrive and still be counted: the watermark's delay."""

CLOCK_ORIGIN = "CLK"
"""The airport of the flights' clock event, which only advance the watermark. See ``clock_events``."""

DELAYS = "delays"
"""The topic with the results of the job ``delays``."""

DEAD_LETTERS = "dead-letters"
"""The topic of records that cannot be parsed, with the reason."""


class Event(NamedTuple):
    """One record to send."""

    topic: str
    key: str
    value: str | bytes
    timestamp_ms: int
    headers: list[tuple[str, bytes]]


@dataclass(frozen=True)
class EventType:
    """The events of one topic: the columns of their values, as Spark's DDL, and how keys and times come from them."""

    topic: str
    partitions: int
    schema: str
    key_columns: tuple[str, ...]
    has_minutes: bool = False

    @property
    def required(self) -> tuple[str, ...]:
        """Columns that are never null: an event without them has neither key nor time."""
        minutes = ("minute",) if self.has_minutes else ()
        return tuple(dict.fromkeys((*self.key_columns, "origin", "time_hour", *minutes)))


FLIGHTS = EventType(
    "flights",
    partitions=4,
    schema=(
        "year int, month int, day int, dep_time int, sched_dep_time int, dep_delay int, arr_time int, "
        "sched_arr_time int, arr_delay int, carrier string, flight int, tailnum string, origin string, dest string, "
        "air_time int, distance int, hour int, minute int, time_hour timestamp"
    ),
    key_columns=("carrier", "flight"),
    has_minutes=True,
)
"""One event per flight. ``time_hour`` is the full hour before its scheduled departure, ``minute`` the rest."""

WEATHER = EventType(
    "weather",
    partitions=2,
    schema=(
        "origin string, year int, month int, day int, hour int, temp double, dewp double, humid double, wind_dir int, "
        "wind_speed double, wind_gust double, precip double, pressure double, visib double, time_hour timestamp"
    ),
    key_columns=("origin",),
)
"""One event per airport and hour."""

SOURCES = (FLIGHTS, WEATHER)

PARTITIONS = {**{source.topic: source.partitions for source in SOURCES}, DELAYS: 2, DEAD_LETTERS: 1}
"""The number of partitions of every topic of the pipeline."""

TOPIC_CONFIG = {"retention.ms": "-1"}
"""For every topic: the events are from 2013, and the default time retention would delete them within minutes."""


def event_times(event_type: EventType, frame: pd.DataFrame) -> pd.Series[pd.Timestamp]:
    """The event time of every row, in UTC."""
    hours = pd.to_datetime(frame["time_hour"], utc=True)
    return hours + pd.to_timedelta(frame["minute"], unit="min") if event_type.has_minutes else hours


def keys(event_type: EventType, frame: pd.DataFrame) -> pd.Series[str]:
    """The key of every row."""
    first, *others = (frame[column].astype(str) for column in event_type.key_columns)
    return first.str.cat(others) if others else first


def event_ids(event_type: EventType, frame: pd.DataFrame) -> pd.Series[str]:
    """The id of every row's event, such as ``UA1545/2013-01-01T10:00:00Z``: its key and its ``time_hour``.

    No two rows of the data set share both. Other columns may be corrected and sent again: it is still the same event.
    """
    return keys(event_type, frame) + "/" + frame["time_hour"]


def encode(event_type: EventType, frame: pd.DataFrame) -> Iterator[Event]:
    """The records of the rows of a table of ``nycflights``, in its order."""
    version = (SCHEMA_VERSION, CURRENT_VERSION.encode())
    rows = zip(
        keys(event_type, frame),
        to_json_lines(frame),
        event_times(event_type, frame).dt.as_unit("ms").astype("int64"),
        event_ids(event_type, frame),
        strict=True,
    )
    for key, value, timestamp_ms, event_id in rows:
        yield Event(event_type.topic, key, value, timestamp_ms, [(EVENT_ID, event_id.encode()), version])


def clock_events(time: pd.Timestamp) -> list[Event]:
    """An event at ``time`` (with a zone) for each source: sent after the last real ones, they close all open windows.

    A watermark only advances with later events. At the end of a finite stream none follow, so a window of the last two
    hours would stay open. The events are at airports of their own (the flight at ``CLOCK_ORIGIN``), so their windows
    never close, and the flight has no weather. ``time`` must be later than the last event by a day, which is more than
    any job waits.
    """
    hour = time.tz_convert("UTC").floor("h").strftime("%Y-%m-%dT%H:%M:%SZ")
    flight = {"carrier": "CLK", "flight": 0, "origin": CLOCK_ORIGIN, "minute": 0, "time_hour": hour}
    weather = {"origin": "CLW", "time_hour": hour}
    return [*encode(FLIGHTS, pd.DataFrame([flight])), *encode(WEATHER, pd.DataFrame([weather]))]
