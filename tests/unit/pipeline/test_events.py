"""Events, their times and ids, and the reference in pandas: without Spark and without a broker."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from pipeline import reference
from pipeline.events import (
    CURRENT_VERSION,
    EVENT_ID,
    FLIGHTS,
    SCHEMA_VERSION,
    SOURCES,
    WEATHER,
    clock_events,
    encode,
    event_ids,
    event_times,
)
from pipeline.nycflights import load_flights, load_weather
from tests.support.flight_data import flight, flights, weather


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return {FLIGHTS.topic: load_flights(), WEATHER.topic: load_weather()}


def test_a_flight_is_keyed_by_its_number_and_timed_by_its_schedule(tables: dict[str, pd.DataFrame]) -> None:
    (event,) = encode(FLIGHTS, tables["flights"].head(1))
    assert (event.topic, event.key) == ("flights", "UA1545")
    assert pd.Timestamp(event.timestamp_ms, unit="ms", tz="UTC") == pd.Timestamp("2013-01-01T10:15Z")
    assert event.headers == [(EVENT_ID, b"UA1545/2013-01-01T10:00:00Z"), (SCHEMA_VERSION, CURRENT_VERSION.encode())]
    assert json.loads(event.value)["tailnum"] == "N14228"


def test_an_observation_is_keyed_by_its_airport_and_timed_by_its_hour() -> None:
    (event,) = encode(WEATHER, weather(("LGA", "2013-01-01T10", 39.0)))
    assert (event.topic, event.key, event.headers[0][1]) == ("weather", "LGA", b"LGA/2013-01-01T10:00:00Z")
    assert pd.Timestamp(event.timestamp_ms, unit="ms", tz="UTC") == pd.Timestamp("2013-01-01T10:00Z")


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.topic)
def test_every_row_has_a_unique_id_and_the_required_fields(source, tables) -> None:
    table = tables[source.topic]
    assert event_ids(source, table).is_unique
    assert not table[list(source.required)].isna().any(axis=None)
    assert set(table.columns) == {column.split()[0] for column in source.schema.split(", ")}


def test_local_hours_occur_twice_at_the_end_of_summer_time_and_event_times_do_not(tables) -> None:
    table = tables["weather"]
    local = ["origin", "year", "month", "day", "hour"]
    assert table.duplicated(local).any()
    assert not table.assign(time=event_times(WEATHER, table)).duplicated(["origin", "time"]).any()


def test_clock_events_have_the_required_columns() -> None:
    for event, source in zip(clock_events(pd.Timestamp("2013-01-02T10:59Z")), SOURCES, strict=True):
        assert event.topic == source.topic
        assert json.loads(event.value).keys() >= set(source.required)
        assert event.timestamp_ms == pd.Timestamp("2013-01-02T10:00Z").value // 1_000_000


def test_events_later_than_the_allowed_lateness_may_be_dropped() -> None:
    times = pd.to_datetime(["2013-01-01T12:00Z", "2013-01-01T10:01Z", "2013-01-01T10:00Z", "2013-01-01T12:01Z"])
    assert list(reference.too_late(pd.Series(times))) == [False, False, True, False]


def test_reference_windows_count_cancelled_flights_but_exclude_them_from_means() -> None:
    table = flights(
        flight("2013-07-01T10:00", 10), flight("2013-07-01T10:59", 15), flight("2013-07-01T10:30", None),
        flight("2013-07-01T11:00", None),
    )  # fmt: skip
    first, second = reference.delays_by_window(table).to_dict("records")
    assert (first["flights"], first["departed"], first["late"], first["mean_delay"]) == (3, 2, 1, 12.5)
    assert (second["flights"], second["departed"], second["late"]) == (1, 0, 0)
    assert pd.isna(second["mean_delay"])


def test_reference_days_end_with_a_rest() -> None:
    table = flights(
        flight("2013-07-01T22:00", 20, route="LGA-MIA"), flight("2013-07-01T12:00", 30), flight("2013-07-02T06:00", 40),
        flight("2013-07-01T14:01", 99), flight("2013-07-01T12:00", 0, tailnum=None),
    )  # fmt: skip
    first, second = reference.aircraft_days(table).to_dict("records")
    assert (first["flights"], first["knock_on"], first["worst_delay"], first["route"]) == (
        3, 2, 99, "EWR-ORD EWR-ORD LGA-MIA"
    )  # fmt: skip
    assert (second["flights"], second["knock_on"], second["route"]) == (1, 0, "EWR-ORD")


def test_differences_name_missing_duplicated_unexpected_and_unequal_rows() -> None:
    expected = pd.DataFrame({"id": [1, 2, 3], "mean": [1.0, None, 3.0], "name": ["a", "b", None]})
    assert reference.differences(expected, expected, ["id"]) == []
    got = pd.DataFrame({"id": [1, 1, 3, 4], "mean": [1.0, 1.0, 3.1, 0.0], "name": ["x", "x", None, None]})
    assert reference.differences(got, expected, ["id"]) == [
        "1: more than once", "2: missing", "4: not expected", "3: mean 3.1 instead of 3.0", "1: name x instead of a",
    ]  # fmt: skip
