"""Task 4: the same function on two streams: when a row is emitted, and what is kept."""

from datetime import timedelta

import pytest

from kafka_learn.labs.flight_events import SCHEMA, flight
from kafka_learn.labs.rows import must_be_rows
from kafka_learn.labs.streams import FedStream, once, running
from pipeline.jobs.weather_join import flights_with_weather

LATENESS = timedelta(minutes=30)
KEY = ["step", "event_id"]


@pytest.fixture(scope="module")
def steps(weather):
    """(flights, observations) of each step. The watermark behind them: 9:30, 10:30, 13:20, 22:30."""
    return [
        (
            [flight("10:15"), flight("10:20", "BOS"), flight("10:40", "LGA")],
            [weather("10:00"), weather("10:00"), weather("10:00", "JFK", 60.0)],
        ),
        (
            # 10:59 meets weather from the step before; the flight of LGA its own, which comes only now.
            [flight("11:00", number=2), flight("10:59", number=3), flight("10:15")],
            [weather("10:00", "LGA", 65.0), weather("11:00", temp=72.0)],
        ),
        (
            # 10:45 is late, but in time, and its weather is kept. 10:20 is too late, and so is the weather of BOS.
            [flight("13:50", number=4), flight("10:45", "JFK"), flight("10:20", number=5)],
            [weather("14:00"), weather("10:00", "BOS", 55.0)],
        ),
        ([flight("23:00", "CLK")], [weather("23:00", "CLW")]),
    ]


@pytest.fixture(scope="module")
def streams(spark, steps, weather_schema, tmp_path_factory):
    """What each step of the learner's job emits, and the rows of its state after each."""

    def run():
        folder = tmp_path_factory.mktemp("streams")
        flights = FedStream(spark, folder / "flights", SCHEMA)
        weather = FedStream(spark, folder / "weather", weather_schema)
        job = flights_with_weather(flights.frame, weather.frame, "30 minutes")
        with running(job, folder / "checkpoint") as query:
            emitted, states = [], []
            for some_flights, some_weather in steps:
                flights.feed(some_flights)
                weather.feed(some_weather)
                emitted.append(query.step())
                states.append(query.rows_of_state())
            return emitted, states

    return once(run)


def in_steps(steps):
    return [{"step": number, **row} for number, rows in enumerate(steps, 1) for row in rows]


@pytest.mark.points(18, task=4)
def test_a_flight_is_emitted_with_its_weather_or_when_none_can_come(streams, steps, emissions):
    """Four steps, half an hour of lateness: what each of them emits"""

    def rows(lateness=LATENESS, **mistake):
        return in_steps(emissions(steps, lateness, **mistake))

    mistakes = {
        "flights without weather are lost: is the join an outer one, and each watermark on event_time?": rows(
            keep="inner"
        ),
        "flights without weather are emitted too early: is the lateness used?": rows(timedelta()),
        "flights without weather are emitted two hours behind: the lateness is a parameter": rows(timedelta(hours=2)),
        "events that were sent twice count once, also in a later step": rows(flight_doubles=True, weather_doubles=True),
        "an observation that was sent twice counts once: it doubles its flights": rows(weather_doubles=True),
        "a flight that was sent twice counts once": rows(flight_doubles=True),
        "events behind the watermark are dropped, of flights and of weather": rows(drop=False),
        "the slower stream sets the pace: its weather may still come": rows(slower=max),
        "weather without a flight has no row": rows(keep="full"),
        "a flight of an earlier or a later step than its weather is joined, too": [
            row for row in rows() if row["observed"] is None or row["step"] == 1
        ],
    }
    must_be_rows(in_steps(streams()[0]), rows(), KEY, mistakes=mistakes)


@pytest.mark.points(12, task=4)
def test_state_expires(streams):
    """What the query keeps after each step"""
    *_, before, after = streams()[1]
    # The clock's flight, its observation, and the id of each.
    assert after <= 4, (
        f"the watermark is 22:30, nothing before it can find a partner, and the query still keeps {after} rows (before "
        f"that {before}). Without bounds in time on both sides, state never expires"
    )
