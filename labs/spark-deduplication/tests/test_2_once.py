"""Task 2: each event once, in a batch and in a stream."""

from datetime import timedelta

import pytest

from kafka_learn.labs.flight_events import SCHEMA, flight
from kafka_learn.labs.rows import must_be_rows, must_equal
from kafka_learn.labs.streams import FedStream, once, running
from pipeline.jobs.deduplication import deduplicated

EVENTS = [
    flight("10:15", "EWR", 5), flight("10:15", "EWR", 5), flight("10:15", "EWR", 5, 2), flight("10:15", "JFK", 5),
    flight("11:15", "EWR", 5), flight("10:15", "JFK", 5), flight("12:00", "LGA", None, tailnum=None),
]  # fmt: skip
LATENESS = timedelta(minutes=30)
# The watermark behind each step: 10:00, 10:40, 13:30.
STEPS = [
    [flight("10:30"), flight("10:30"), flight("10:05", "JFK")],
    [
        flight("10:30"),  # a double of the step before
        flight("10:30", "EWR", 9, 2),
        flight("10:00", "LGA"),  # at the watermark: late
        flight("10:01", "LGA", 0, 2),  # late, but in time
        flight("11:10"),
    ],
    [
        flight("11:10"),  # a double that is in time
        flight("10:05", "JFK"),  # a double behind the watermark
        flight("10:35", "BOS", 0, 3),  # late by five minutes
        flight("09:00", "BOS", 0, 2),  # late by hours
        flight("14:00", "BOS"),
    ],
]


def columns(events):
    return [{name: each[name] for name in ("event_id", "event_time", "origin", "flight")} for each in events]


def first_of(events, *names):
    kept = {}
    for each in events:
        kept.setdefault(tuple(each[name] for name in names), each)
    return list(kept.values())


@pytest.mark.points(6, task=2)
def test_a_batch(frame):
    """Seven records of five events"""
    found = deduplicated(frame(EVENTS))
    mistakes = {
        "events that were sent twice are there twice": columns(EVENTS),
        "events of one tail number were taken for doubles": columns(first_of(EVENTS, "tailnum")),
        "events of one time were taken for doubles: the id tells": columns(first_of(EVENTS, "event_time")),
        "events of one airport were taken for doubles: the id tells": columns(first_of(EVENTS, "origin")),
        "flights of one number were taken for doubles: the id tells": columns(first_of(EVENTS, "carrier", "flight")),
    }
    want = columns(first_of(EVENTS, "event_id"))
    must_equal(found.select("event_id", "event_time", "origin", "flight"), want, ["event_id"], mistakes=mistakes)


def emitted(lateness=LATENESS, *, drop=True, memory=True, doubles=False, time="event_time"):
    """The rows of each step, in plain Python; the switches are mistakes."""
    watermark, newest, seen, rows = None, None, set(), []
    for number, events in enumerate(STEPS, 1):
        seen = seen if memory else set()
        for each in events:
            late = drop and watermark is not None and each[time] <= watermark
            if not late and (doubles or each["event_id"] not in seen):
                seen.add(each["event_id"])
                rows += [{"step": number, **row} for row in columns([each])]
        newest = max([each[time] for each in events] + ([newest] if newest else []))
        watermark = newest - lateness
    return rows


@pytest.fixture(scope="module")
def stream(spark, tmp_path_factory):
    """What each step emits, and the rows of state in the end."""

    def run():
        folder = tmp_path_factory.mktemp("stream")
        events = FedStream(spark, folder / "events", SCHEMA)
        with running(deduplicated(events.frame, "30 minutes"), folder / "checkpoint") as job:
            rows = []
            for number, step in enumerate(STEPS, 1):
                events.feed(step)
                rows += [{"step": number, **row} for row in columns(job.step())]
            return rows, job.rows_of_state()

    return once(run)


@pytest.mark.points(8, task=2)
def test_a_stream(stream):
    """Three steps, half an hour of lateness"""
    mistakes = {
        "a double that comes in a later step is there twice: ids must be kept as long as a double may come": emitted(
            memory=False
        ),
        "events that were sent twice are there twice": emitted(doubles=True),
        "events behind the watermark are emitted: is there a watermark on event_time?": emitted(drop=False),
        "events that are late but in time are lost: is the lateness used?": emitted(timedelta()),
        "the lateness is a parameter, and not two hours": emitted(timedelta(hours=2)),
        "the watermark is on another column than event_time: time_hour is up to an hour earlier": emitted(
            time="time_hour"
        ),
    }
    must_be_rows(stream()[0], emitted(), ["step", "event_id"], mistakes=mistakes)


@pytest.mark.points(6, task=2)
def test_ids_expire(stream):
    """What the stream keeps in the end"""
    state = stream()[1]
    # The flight of 14:00. Spark keeps an id until the watermark has passed its event time by the lateness.
    assert state <= 1, (
        f"the watermark is 13:30, and the query still keeps {state} ids: those of the morning can have no double "
        "any more. State that never expires is a second copy of the topic"
    )
