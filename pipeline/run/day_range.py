"""The days of a replay: New York's, from midnight to midnight, and the rows of the data set that belong to them.

Kafka 0.10.2: core/.../tools/ReplayLogProducer.scala · book 1.1
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import pandas as pd

from pipeline.events import FLIGHTS, WEATHER, Event, EventType, clock_events, encode, event_times
from pipeline.nycflights import load_flights, load_weather

ZONE = "America/New_York"


@dataclass(frozen=True)
class DayRange:
    """The rows of some days: tables in the form of ``pipeline.nycflights``, and the instants they lie between."""

    start: pd.Timestamp
    end: pd.Timestamp
    flights: pd.DataFrame
    weather: pd.DataFrame

    def events(self) -> Iterator[Event]:
        """All events, weather first."""
        yield from encode(WEATHER, self.weather)
        yield from encode(FLIGHTS, self.flights)

    def closing_events(self) -> list[Event]:
        """Events that close what is open at the end. To be sent once all others are processed."""
        return clock_events(self.end + pd.Timedelta(days=2))


def load_days(first_day: date, days: int) -> DayRange:
    """Read the data set and take the rows whose event time lies in these days."""
    start = pd.Timestamp(first_day, tz=ZONE)
    end = start + pd.DateOffset(days=days)
    return DayRange(start, end, _rows(FLIGHTS, load_flights(), start, end), _rows(WEATHER, load_weather(), start, end))


def _rows(event_type: EventType, frame: pd.DataFrame, start: pd.Timestamp, end: pd.Timestamp) -> pd.DataFrame:
    times = event_times(event_type, frame)
    return frame[(times >= start) & (times < end)].reset_index(drop=True)
