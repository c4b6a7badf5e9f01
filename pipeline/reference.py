"""The results of all jobs computed in pandas, from the original tables: an independent check of what Spark found.

Spark 4.2: sql/core/.../streaming/ (none of it is used here) · book 1.1
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from pipeline.events import FLIGHTS, LATENESS, event_ids, event_times
from pipeline.jobs.weather_join import READINGS

REST = pd.Timedelta(hours=8)
LATE_FROM_MINUTES = 15

KEYS = {
    "flights": ["event_id"],
    "delays": ["origin", "window_start"],
    "flights_with_weather": ["event_id"],
    "aircraft_days": ["tailnum", "first_departure"],
}
"""The columns that identify a row of each table."""


def distinct_flights(flights: pd.DataFrame) -> pd.DataFrame:
    """The table ``flights``: all columns, and ``event_id`` and ``event_time``."""
    ids = event_ids(FLIGHTS, flights)
    hours = pd.to_datetime(flights["time_hour"], utc=True)
    return flights.assign(event_id=ids, event_time=event_times(FLIGHTS, flights), time_hour=hours).drop_duplicates(
        "event_id"
    )


def delays_by_window(flights: pd.DataFrame) -> pd.DataFrame:
    """The table ``delays``. Windows of an hour are the rows' ``time_hour``, so nothing is computed from event times."""
    rows = flights.assign(is_late=flights["dep_delay"] >= LATE_FROM_MINUTES)
    start = pd.to_datetime(rows["time_hour"], utc=True).rename("window_start")
    result = rows.groupby([rows["origin"], start]).agg(
        flights=("flight", "size"), departed=("dep_delay", "count"), late=("is_late", "sum"),
        mean_delay=("dep_delay", "mean"),
    ).reset_index()  # fmt: skip
    return result.assign(window_end=result["window_start"] + pd.Timedelta(hours=1))


def flights_with_weather(flights: pd.DataFrame, weather: pd.DataFrame) -> pd.DataFrame:
    """The table ``flights_with_weather``: joined by airport and ``time_hour``."""
    columns = ["event_id", "event_time", "origin", "dest", "carrier", "flight", "tailnum", "dep_delay", "time_hour"]
    left = distinct_flights(flights)[columns]
    hours = pd.to_datetime(weather["time_hour"], utc=True)
    right = weather[["origin", *READINGS]].assign(time_hour=hours, observed=hours)
    return left.merge(right, how="left", on=["origin", "time_hour"], validate="many_to_one").drop(columns="time_hour")


def aircraft_days(flights: pd.DataFrame, rest: pd.Timedelta = REST) -> pd.DataFrame:
    """The table ``aircraft_days``."""
    legs = distinct_flights(flights).dropna(subset="tailnum").sort_values(["tailnum", "event_time", "event_id"])
    before = legs.groupby("tailnum")
    begins = before["event_time"].diff().isna() | (before["event_time"].diff() >= rest)
    legs = legs.assign(
        day=begins.cumsum(),
        is_late=(legs["dep_delay"] >= LATE_FROM_MINUTES).fillna(False).astype(bool),
        route=legs["origin"] + "-" + legs["dest"],
    )
    late_before = legs.groupby("day")["is_late"].shift(fill_value=False)
    result = legs.assign(knock_on=legs["is_late"] & late_before).groupby("day").agg(
        tailnum=("tailnum", "first"), first_departure=("event_time", "first"), last_departure=("event_time", "last"),
        flights=("flight", "size"), departed=("dep_delay", "count"), worst_delay=("dep_delay", "max"),
        knock_on=("knock_on", "sum"), route=("route", " ".join),
    )  # fmt: skip
    return result.reset_index(drop=True)


def too_late(times: pd.Series[pd.Timestamp], lateness: str = LATENESS) -> pd.Series[bool]:
    """Of events in the order in which they were sent, those that may be dropped as late.

    ``times`` are event times; the result has their index. The watermark before an event is the latest of all times
    before it, less ``lateness``. Spark drops an event that is at or behind the watermark of the batch before, so these
    are dropped or not, depending on where batches end; the others are counted whatever happens.
    """
    return times <= times.cummax().shift() - pd.Timedelta(lateness)


def differences(got: pd.DataFrame, expected: pd.DataFrame, key: Sequence[str], tolerance: float = 1e-9) -> list[str]:
    """Describe where two tables differ, in any order of rows: missing rows, doubled ones and unequal values.

    Compares the columns of ``expected``; floats may differ by ``tolerance``, and missing values are equal.
    """
    key = list(key)
    found = [f"{_where(row, key)}: more than once" for row in got[got.duplicated(key)].to_dict("records")]
    both = expected.merge(got.drop_duplicates(key), on=key, how="outer", suffixes=("", "_got"), indicator=True)
    names = {"left_only": "missing", "right_only": "not expected"}
    alone = both[both["_merge"] != "both"].to_dict("records")
    found += [f"{_where(row, key)}: {names[row['_merge']]}" for row in alone]
    rows = both[both["_merge"] == "both"]
    for column in expected.columns.difference(key):
        for index in rows.index[_unequal(rows[f"{column}_got"], rows[column], tolerance)]:
            row = rows.loc[index]
            found.append(f"{_where(row, key)}: {column} {row[f'{column}_got']} instead of {row[column]}")
    return found


def _unequal(got: pd.Series[object], expected: pd.Series[object], tolerance: float) -> pd.Series[bool]:
    if pd.api.types.is_numeric_dtype(expected):
        numbers = (pd.to_numeric(each).astype("float64") for each in (got, expected))
        left, right = numbers
        return ~((left - right).abs() <= tolerance) & ~(left.isna() & right.isna())
    return (got != expected) & ~(got.isna() & expected.isna())


def _where(row: object, key: Sequence[str]) -> str:
    return ", ".join(str(row[column]) for column in key)  # type: ignore[index]
