"""Task 3: the join, in a batch query."""

import random
from datetime import timedelta

import pytest

from kafka_learn.labs.flight_events import flight
from kafka_learn.labs.rows import must_equal
from pipeline.jobs.weather_join import flights_with_weather

AIRPORTS = ("EWR", "JFK", "LGA")


@pytest.fixture
def check(frame, weather_frame, join):
    def run(flights, observations):
        def rows(**mistake):
            return join(flights, observations, **mistake)

        mistakes = {
            "flights without weather are lost: each flight has a row": rows(keep="inner"),
            "weather without a flight has no row: the rows are those of the flights": rows(keep="full"),
            "a flight that was sent twice counts once": rows(flight_doubles=True),
            "an observation that was sent twice counts once: it doubles its flights": rows(weather_doubles=True),
            "events that were sent twice count once, on both sides": rows(weather_doubles=True, flight_doubles=True),
            "flights have the weather of another airport": rows(any_airport=True),
            "a flight at the end of the hour has two observations: [observed, observed + 1 hour)": rows(late_end=True),
            "a flight at the very time of an observation has lost it": rows(open_start=True),
            "flights have the weather of the hour after": rows(shift=timedelta(hours=1)),
            "the airport of a flight is lost where there is no weather: drop airport, keep origin": [
                row if row["observed"] else {**row, "origin": None} for row in rows()
            ],
        }
        found = flights_with_weather(frame(flights), weather_frame(observations))
        must_equal(found, rows(), ["event_id"], mistakes=mistakes)

    return run


@pytest.mark.points(10, task=3)
def test_each_flight_has_one_row(check, weather):
    """A flight without weather, weather without a flight, doubles of both"""
    flights = [flight("10:00"), flight("10:30", number=2), flight("11:00", number=3), flight("10:30", "JFK"),
               flight("10:40", "BOS", None, tailnum=None), flight("13:10", number=4)]  # fmt: skip
    observations = [weather("10:00"), weather("11:00", temp=75.0), weather("10:00", "JFK", 60.0), weather("16:00")]
    check([*flights, flights[0], flights[4]], [*observations, observations[0], observations[2]])


@pytest.mark.points(10, task=3)
def test_a_day_of_flights_and_weather(check, weather):
    """200 flights of 3 airports, against plain Python"""
    rnd = random.Random(73)
    flights = [flight(f"{rnd.randrange(30)}:{rnd.choice((0, 0, 15, 59))}", rnd.choice(AIRPORTS), rnd.randrange(60), n)
               for n in range(200)]  # fmt: skip
    observations = [weather(f"{hour}:00", origin, 50.0 + hour) for hour in range(30) for origin in AIRPORTS
                    if rnd.random() < 0.8]  # fmt: skip
    check([*flights, *rnd.sample(flights, 20)], [*observations, *rnd.sample(observations, 9)])
