"""Task 1: the condition of the join, pair by pair."""

import pytest

from kafka_learn.labs.flight_events import clock
from kafka_learn.labs.rows import must_be_column, rows_of
from pipeline.jobs.weather_join import in_its_hour

# (airport of the flight, its departure, airport of the observation, its time): does it belong, and why
PAIRS = [
    ("EWR", "10:25", "EWR", "10:00", True, "a flight of 10:25 has the weather of 10:00, the full hour before it"),
    ("EWR", "10:00", "EWR", "10:00", True, "a flight at the very time of the observation belongs to it"),
    ("EWR", "10:59:59.999", "EWR", "10:00", True, "a flight in the last millisecond of the hour belongs to it"),
    ("EWR", "11:00", "EWR", "10:00", False, "a flight at the very end of the hour belongs to the next: [10:00, 11:00)"),
    ("EWR", "11:25", "EWR", "10:00", False, "an observation is good for one hour"),
    ("EWR", "09:59", "EWR", "10:00", False, "an observation is of the hour before the flight, not of the one after it"),
    ("EWR", "10:25", "JFK", "10:00", False, "an observation of another airport is not that of the flight"),
    ("EWR", "23:30", "EWR", "23:00", True, "the last hour of a day is an hour like any other"),
    ("EWR", "24:10", "EWR", "24:00", True, "the first hour of a day is an hour like any other"),
    ("EWR", "34:25", "EWR", "10:00", False, "the same hour of another day is another hour"),
    ("EWR", "24:10", "EWR", "23:30", True, "an observation of 23:30 is good for the hour after it"),
]  # fmt: skip


@pytest.mark.points(15, task=1)
def test_pairs_of_a_flight_and_an_observation(spark):
    """Eleven pairs: borders, airports, midnight"""
    condition = must_be_column(in_its_hour(), "in_its_hour")
    rows = [(number, origin, clock(at), airport, clock(seen))
            for number, (origin, at, airport, seen, _, _) in enumerate(PAIRS)]  # fmt: skip
    schema = "number int, origin string, event_time timestamp, airport string, observed timestamp"
    found = rows_of(spark.createDataFrame(rows, schema).withColumn("belongs", condition.cast("boolean")))
    got = {row["number"]: row["belongs"] for row in found}
    wrong = [
        f"{words}: departure {at} at {origin}, observation {seen} at {airport}, you say {got[number]}"
        for number, (origin, at, airport, seen, wanted, words) in enumerate(PAIRS)
        if bool(got[number]) != wanted
    ]
    assert not wrong, "\n".join(wrong)
