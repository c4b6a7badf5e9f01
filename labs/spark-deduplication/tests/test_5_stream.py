"""Task 5: the job on a stream: deduplicated, with state in Spark's workers."""

from datetime import timedelta

import pytest

from kafka_learn.labs.flight_events import SCHEMA, clock, flight
from kafka_learn.labs.rows import must_be_rows
from kafka_learn.labs.streams import FedStream, once, running
from pipeline.jobs.aircraft_days import aircraft_days

# The watermark behind each step: 13:30, 25:30 (the next day), 71:30.
STEPS = [
    [
        flight("10:00", "EWR", 20),
        flight("14:00", "LGA", 30, tailnum="N2"),
        flight("11:00", "JFK", 16),
        flight("10:00", "EWR", 20),  # a double
    ],
    [
        flight("13:45", "EWR", None, 2),  # late, but in time
        flight("11:00", "JFK", 16),  # a double
        flight("26:00", "EWR", 3, 3),
        flight("26:00", "LGA", 0, 4, tailnum=None),  # an aircraft that is not known
    ],
    [flight("72:00", "CLK", 0, tailnum="CLK")],
]


@pytest.fixture(scope="module")
def stream(spark, tmp_path_factory):
    """The rows of all steps, and the rows of state in the end."""

    def run():
        folder = tmp_path_factory.mktemp("days")
        events = FedStream(spark, folder / "events", SCHEMA)
        provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        settings = {"spark.sql.streaming.stateStore.providerClass": provider}
        with running(aircraft_days(events.frame, lateness="30 minutes"), folder / "checkpoint", **settings) as job:
            for step in STEPS:
                events.feed(step)
                job.step()
            return job.emitted

    return once(run)


def days(days_of, *, doubles=False, rest=timedelta(hours=8), late=True):
    """The rows, in plain Python; the switches are mistakes."""
    flights = [each for step in STEPS[:2] for each in step if each["tailnum"]]
    kept = flights if doubles else list({each["event_id"]: each for each in flights}.values())
    kept = [each for each in kept if late or each["event_time"] != clock("13:45")]
    rows = []
    for tailnum in dict.fromkeys(each["tailnum"] for each in kept):
        legs = sorted((each for each in kept if each["tailnum"] == tailnum), key=lambda each: each["event_time"])
        for times in days_of([each["event_time"] for each in legs], rest):
            day = [each for each in legs if times[0] <= each["event_time"] <= times[-1]]
            known = [each["dep_delay"] for each in day if each["dep_delay"] is not None]
            rows.append({"tailnum": tailnum, "first_departure": times[0], "last_departure": times[-1],
                         "flights": len(day), "departed": len(known), "worst_delay": max(known, default=None),
                         "route": " ".join(f"{each['origin']}-{each['dest']}" for each in day)})  # fmt: skip
    return rows


@pytest.mark.points(15, task=5)
def test_the_days_of_two_aircraft(stream, days_of):
    """Three steps: a double, a late leg, an aircraft without a number"""
    mistakes = {
        "an event that was sent twice is in a day twice": days(days_of, doubles=True),
        "a leg that is late but in time is lost": days(days_of, late=False),
        "a day is cut after another rest than eight hours": days(days_of, rest=timedelta(hours=2)),
        "no day was ever emitted: does a timer close it?": [],
    }
    got = [{name: value for name, value in row.items() if name != "knock_on"} for row in stream()]
    must_be_rows(got, days(days_of), ["tailnum", "first_departure"], mistakes=mistakes)
