"""What the tests of this lab share: plain Python that puts flights into windows, with switches for mistakes."""

from datetime import timedelta

import pytest

from kafka_learn.labs.flight_events import DAY, SCHEMA

LATE_FROM = 15
LOCAL = timedelta(hours=-4)


@pytest.fixture
def frame(spark):
    """``frame([flight(…), …])``: a DataFrame of events."""
    names = [each.split()[0] for each in SCHEMA.split(", ")]
    return lambda events: spark.createDataFrame([tuple(event[name] for name in names) for event in events], SCHEMA)


@pytest.fixture
def windows():
    """``windows(events, minutes=60)``: the wanted rows. The switches are mistakes."""
    return rows_of_windows


def rows_of_windows(events, minutes=60, slide=None, *, doubles=False, closed_right=False, both_ends=False,
                    time="event_time", local=False, figures=None):  # fmt: skip
    """The rows of ``delays_by_window``."""
    length, step = timedelta(minutes=minutes), timedelta(minutes=slide or minutes)
    groups, seen = {}, set()
    for event in events:
        if event["event_id"] in seen and not doubles:
            continue
        seen.add(event["event_id"])
        at = event[time] + (LOCAL if local else timedelta())
        start = DAY - timedelta(days=1)
        start += (at - start) // step * step
        while start > at - length - step:
            end = start + length
            inside = start < at <= end if closed_right else start <= at <= end if both_ends else start <= at < end
            if inside:
                groups.setdefault((start, event["origin"]), []).append(event["dep_delay"])
            start -= step
    make = figures or figures_of
    return [
        {"window_start": start, "window_end": start + length, "origin": origin, **make(delays)}
        for (start, origin), delays in groups.items()
    ]


def figures_of(delays, *, departed=True, late_from=LATE_FROM, over_all=False, none=None):
    """The figures of some delays; the switches are mistakes."""
    known = [each for each in delays if each is not None]
    number = len(delays) if over_all else len(known)
    return {
        "flights": len(delays),
        "departed": len(known) if departed else len(delays),
        "late": sum(each >= late_from for each in known),
        "mean_delay": sum(known) / number if number and (known or over_all) else none,
    }


@pytest.fixture
def emissions():
    """``emissions(steps, lateness)``: the wanted rows of each step of a stream. The switches are mistakes."""
    return rows_of_steps


def rows_of_steps(steps, lateness, *, drop=True, doubles=False, time="event_time", wait=timedelta()):
    """The rows that each step emits: windows of an hour whose end the watermark has reached, without late events.

    A step first drops what is at or behind the watermark of the step before, and then moves the watermark.
    """
    watermark, newest, counted, emitted, result = None, None, [], set(), []
    for events in steps:
        ids = {event["event_id"] for event in counted}
        for event in events:
            is_late = drop and watermark is not None and event["event_time"] <= watermark
            if is_late or (event["event_id"] in ids and not doubles):
                continue
            ids.add(event["event_id"])
            counted.append(event)
        newest = max([event[time] for event in events] + ([newest] if newest else []))
        watermark = newest - lateness
        closed = [
            row for row in rows_of_windows(counted, doubles=doubles)
            if row["window_end"] + wait <= watermark and (row["window_start"], row["origin"]) not in emitted
        ]  # fmt: skip
        emitted |= {(row["window_start"], row["origin"]) for row in closed}
        result.append(closed)
    return result


@pytest.fixture
def figures():
    """``figures([3, None, 15])``: the wanted figures of some delays. The switches are mistakes."""
    return figures_of
