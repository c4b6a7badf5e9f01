"""Task 1: which of the events, in the order in which they were sent, may be dropped."""

import random
from datetime import timedelta

import pandas as pd
import pytest

from kafka_learn.labs.flight_events import clock
from pipeline.reference import too_late


def series(times):
    """Times as a Series whose index is not 0, 1, 2, …"""
    return pd.Series([pd.Timestamp(time) for time in times], index=range(100, 100 + len(times)))


def must_drop(times, lateness):
    """Compare with a loop over the events."""
    allowed = pd.Timedelta(lateness).to_pytimedelta()
    want, latest = [], None
    for time in times:
        want.append(latest is not None and time <= latest - allowed)
        latest = time if latest is None else max(latest, time)
    result = too_late(series(times), lateness)
    assert isinstance(result, pd.Series), f"too_late returns a Series, yours returned {type(result).__name__}"
    assert list(result.index) == list(series(times).index), "the result has the index of times; yours has another one"
    got = [bool(each) for each in result]
    if got == want:
        return
    pairs = list(zip(times, [None, *times], strict=False))
    mistakes = {
        "an event at the very watermark is late, too": [
            bool(index and time < max(times[:index]) - allowed) for index, time in enumerate(times)
        ],
        "the watermark follows from the latest of all events before, not from the one directly before": [
            bool(before and time <= before - allowed) for time, before in pairs
        ],
        "the watermark before an event follows from the events before it: later ones are not known yet": [
            time <= max(times) - allowed for time in times
        ],
        "the lateness is allowed: you dropped every event that is older than one before it": [
            bool(index and time <= max(times[:index])) for index, time in enumerate(times)
        ],
        "you marked the events that are in time": [not each for each in want],
        "the lateness is a parameter, and not always two hours": [
            bool(index and time <= max(times[:index]) - timedelta(hours=2)) for index, time in enumerate(times)
        ],
    }
    words = next((name for name, rows in mistakes.items() if rows == got), "")
    first = next(index for index, (one, other) in enumerate(zip(got, want, strict=True)) if one != other)
    before = max(times[:first], default=None)
    example = (
        f"event {first} of {times[first]:%H:%M:%S}, sent when the latest event before was "
        f"{before and before.strftime('%H:%M:%S')}, with a lateness of {lateness}, is "
        f"{'late' if want[first] else 'in time'}"
    )
    raise AssertionError(f"{words}: {example}" if words else f"{example}; you say otherwise")


@pytest.mark.points(4, task=1)
def test_late_is_measured_from_the_latest_event_so_far():
    """10:00, 12:00, 11:00, 11:29 …"""
    must_drop(
        [clock(each) for each in ("10:00", "12:00", "11:00", "11:31", "10:30", "11:59", "13:00", "12:10")], "30 minutes"
    )


@pytest.mark.points(4, task=1)
def test_an_event_at_the_watermark_is_late():
    """11:30, half an hour behind 12:00"""
    must_drop([clock(each) for each in ("12:00", "11:30", "11:30:00.001", "11:29:59")], "30 minutes")


@pytest.mark.points(4, task=1)
def test_many_events():
    """300 events, against a loop in plain Python"""
    rnd = random.Random(51)
    times = [clock("08:00") + timedelta(minutes=number - rnd.choice((0, 0, 5, 40, 90)), seconds=rnd.randrange(60))
             for number in range(300)]  # fmt: skip
    for lateness in ("2 hours", "45 minutes", "5 minutes"):
        must_drop(times, lateness)
