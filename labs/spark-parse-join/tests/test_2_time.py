"""Task 2: the time of an event."""

import pytest

from kafka_learn.labs.rows import at, rows_of
from pipeline.events import FLIGHTS, WEATHER
from pipeline.jobs.parsing import parse

HOUR, MINUTE = 3_600_000, 60_000


def event_time(frame, event_type):
    rows = rows_of(parse(frame, event_type))
    assert rows[0]["error"] is None, f"the event is good, but error says {rows[0]['error']!r}"
    return rows[0]["event_time"]


@pytest.mark.points(6, task=2)
def test_a_flight_leaves_at_its_hour_and_minute(records, good, ours):
    """6:15 in New York is 10:15 in UTC"""
    got = event_time(records((good, ours)), FLIGHTS)
    hour = 1372672800000  # 2013-07-01T10:00Z
    assert got is not None, "the event has a time, you have null"
    assert got != at(hour), "10:00 is the full hour before: its minute, 15, belongs to the departure"
    assert got != at(hour - 4 * HOUR + 15 * MINUTE), "6:15 is the time in New York: event times are in UTC"
    assert got != at(hour + 17 * MINUTE), "10:17 is when it left: the event time is that of the schedule"
    assert got == at(hour + 15 * MINUTE), f"the event time is 10:15 in UTC, not {got}"


@pytest.mark.points(4, task=2)
def test_the_repeated_hour(records, good, ours):
    """The last Sunday of daylight saving time"""
    local = {**good, "month": 11, "day": 3, "hour": 1}
    first = event_time(records(({**local, "time_hour": "2013-11-03T05:00:00Z"}, ours)), FLIGHTS)
    second = event_time(records(({**local, "time_hour": "2013-11-03T06:00:00Z"}, ours)), FLIGHTS)
    assert first != second, "1:15 occurs twice in New York on this day: the local columns cannot tell, time_hour can"


@pytest.mark.points(5, task=2)
def test_weather_has_no_minute(records, ours):
    """An observation at the full hour"""
    value = {"origin": "EWR", "hour": 6, "temp": 71.6, "time_hour": "2013-07-01T10:00:00Z"}
    frame = records((value, ours), topic="weather")
    assert event_time(frame, WEATHER) == at(1372672800000), "an observation of 10:00 has the event time 10:00"
