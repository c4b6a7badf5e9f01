"""Task 3: windows of event time, in a batch query."""

import random

import pytest

from kafka_learn.labs.flight_events import clock, flight
from kafka_learn.labs.rows import must_be_rows, must_have_columns, rows_of
from pipeline.jobs.delays import delays_by_window

KEY = ["origin", "window_start"]


@pytest.fixture
def check(frame, windows):
    def run(events, minutes=60, slide=None, **options):
        def rows(**mistake):
            return windows(events, minutes, slide, **mistake)

        other = 60 if minutes != 60 else 30
        mistakes = {
            "an event that was sent twice counts once": rows(doubles=True),
            "a window contains its start and not its end: [start, end)": rows(closed_right=True),
            "a flight at the border of two windows was counted in both: [start, end)": rows(both_ends=True),
            "windows are made of event_time; time_hour is the hour before the departure": rows(time="time_hour"),
            "windows are in UTC, not in New York's time": rows(local=True),
            "the length of a window is the parameter length": windows(events, other),
            "cancelled flights are flights, too: do not leave them out": windows(
                [event for event in events if event["dep_delay"] is not None], minutes, slide
            ),
        }
        if slide:
            mistakes["with slide, a flight is in every window that contains it"] = windows(events, minutes)
        found = delays_by_window(frame(events), f"{minutes} minutes", f"{slide} minutes" if slide else None, **options)
        got, want = rows_of(found), rows()
        alone = {row["window_start"] for row in want}
        assert len(got) != len(alone) or len(alone) == len(want), (
            f"{len(got)} rows, one per window: flights of several airports were put together"
        )
        must_have_columns(found, list(want[0]))
        must_be_rows(got, want, KEY, mistakes=mistakes)

    return run


@pytest.mark.points(6, task=3)
def test_the_borders_of_a_window(check):
    """10:00, 10:59:59.999, 11:00"""
    times = ("10:00", "10:59:59.999", "11:00", "12:00", "00:00", "23:59:59.999", "24:00")
    check([flight(time, "EWR", 5 * number, number) for number, time in enumerate(times)])


@pytest.mark.points(6, task=3)
def test_doubles_count_once(check):
    """Events that were sent twice"""
    events = [flight("10:10", "EWR", 20), flight("10:20", "EWR", None, 2), flight("10:50", "JFK", 5, 3)]
    check([*events, *events[:2], flight("10:10", "EWR", 20)], 30)


@pytest.mark.points(6, task=3)
def test_sliding_windows(check):
    """An hour long, every 20 minutes"""
    check([flight(time, "EWR", 0, number) for number, time in enumerate(("10:00", "10:19", "10:20", "10:59"))], 60, 20)


@pytest.mark.points(7, task=3)
def test_a_day_of_flights(check):
    """400 flights of 3 airports, against plain Python"""
    rnd = random.Random(53)
    events = [
        flight(f"{rnd.randrange(24)}:{rnd.randrange(60)}", rnd.choice(("EWR", "JFK", "LGA")),
               rnd.choice((None, rnd.randrange(-10, 90))), number)
        for number in range(400)
    ]  # fmt: skip
    check([*events, *rnd.sample(events, 30)], 45)
    assert clock("24:00") > max(event["event_time"] for event in events)
