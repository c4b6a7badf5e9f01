"""What the tests of this lab share: events of the weather, and the join in plain Python, with switches for mistakes."""

from datetime import timedelta

import pytest

from kafka_learn.labs.flight_events import SCHEMA, clock
from pipeline.jobs.weather_join import FLIGHT, READINGS

WEATHER_SCHEMA = (
    "event_id string, event_time timestamp, time_hour timestamp, hour int, origin string, temp double, humid double, "
    "precip double, visib double, wind_speed double"
)
HOUR = timedelta(hours=1)


def observation(at, origin="EWR", temp=70.0, **more):
    """The event of an observation at this full hour of the labs' day."""
    time = clock(at)
    return {
        "event_id": f"{origin}/{at}", "event_time": time, "time_hour": time, "hour": time.hour - 4, "origin": origin,
        "temp": temp, "humid": 50.0, "precip": 0.0, "visib": 10.0, "wind_speed": None, **more,
    }  # fmt: skip


@pytest.fixture(scope="session")
def weather():
    """``weather("10:00", "EWR", 70.5)``: the event of an observation."""
    return observation


@pytest.fixture
def frame(spark):
    """``frame(flights)`` and ``frame(observations, WEATHER_SCHEMA)``: DataFrames of events."""

    def make(events, schema=SCHEMA):
        names = [each.split()[0] for each in schema.split(", ")]
        return spark.createDataFrame([tuple(event[name] for name in names) for event in events], schema)

    return make


@pytest.fixture
def weather_frame(frame):
    return lambda events: frame(events, WEATHER_SCHEMA)


@pytest.fixture(scope="session")
def weather_schema():
    return WEATHER_SCHEMA


def first_of_each(events, doubles=False):
    return list(events) if doubles else list({each["event_id"]: each for each in reversed(events)}.values())[::-1]


def joined(flight, observed):
    """A row of the result; ``observed`` is the event of the weather, or None."""
    readings = {name: None if observed is None else observed[name] for name in READINGS}
    return {**{name: flight[name] for name in FLIGHT}, "observed": observed and observed["event_time"], **readings}


def belongs(flight, observed, *, late_end=False, open_start=False, any_airport=False, shift=timedelta()):
    """Whether the observation is that of the flight; the switches are mistakes."""
    ahead = flight["event_time"] - observed["event_time"] + shift
    starts = ahead > timedelta() if open_start else ahead >= timedelta()
    ends = ahead <= HOUR if late_end else ahead < HOUR
    return starts and ends and (any_airport or flight["origin"] == observed["origin"])


@pytest.fixture
def join():
    """``join(flights, observations)``: the wanted rows of a batch query. The switches are mistakes."""
    return join_rows


def join_rows(flights, observations, *, flight_doubles=False, weather_doubles=False, keep="left", **bounds):
    """The rows of ``flights_with_weather``."""
    rows, used = [], []
    everything = first_of_each(observations, weather_doubles)
    for flight in first_of_each(flights, flight_doubles):
        found = [each for each in everything if belongs(flight, each, **bounds)]
        used += found
        rows += [joined(flight, each) for each in found]
        if not found and keep != "inner":
            rows.append(joined(flight, None))
    if keep == "full":
        nothing = dict.fromkeys(FLIGHT)
        rows += [joined(nothing, each) for each in everything if each not in used]
    return rows


@pytest.fixture
def emissions():
    """``emissions(steps, lateness)``: the wanted rows of each step of two streams. The switches are mistakes."""
    return rows_of_steps


def rows_of_steps(steps, lateness, *, keep="left", drop=True, slower=min, **mistake):
    """What each step emits: matches at once, and flights without weather when the watermark has passed them.

    A step is (flights, observations). It first drops what is at or behind the watermark, and then moves it.
    """
    kept, newest, watermark, done, result = ([], []), [None, None], None, [], []
    for step in steps:
        for side, events in enumerate(step):
            kept[side].extend(
                each for each in events if not (drop and watermark is not None and each["event_time"] <= watermark)
            )
            newest[side] = max([each["event_time"] for each in events] + ([newest[side]] if newest[side] else []))
        if all(newest):
            watermark = slower(newest) - lateness
        matched = join_rows(*kept, keep=keep, **mistake)
        rows = [
            row for row in matched
            if row not in done and (row["observed"] or row["event_id"] is None or row["event_time"] < watermark)
        ]  # fmt: skip
        known = {row["event_id"] for row in done if row["observed"] is None}
        rows = [row for row in rows if row["event_id"] not in known]
        done += rows
        result.append(rows)
    return result
