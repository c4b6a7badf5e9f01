"""Task 3: the last event up to each time."""

import random

import pytest

from kafka_learn.labs.rows import at, must_equal
from pipeline.tables.lag import as_of

NOTHING = object()


def values(times, events, *, inclusive=True, skip_null=False, last=True):
    """The wanted rows, in plain Python; the switches are mistakes. ``events`` are (key, time, value)."""
    rows = []
    for key in dict.fromkeys(each[0] for each in events):
        for time in times:
            known = [
                (when, value) for name, when, value in events
                if name == key and (when < time or (inclusive and when == time)) and not (skip_null and value is None)
            ]  # fmt: skip
            value = (known[-1] if last else known[0])[1] if (known := sorted(known, key=lambda e: e[0])) else None
            rows.append({"time": at(time), "plane": key, "airport": value})
    return rows


def mistakes(times, events):
    want = values(times, events)
    first = {key: min(when for name, when, _ in events if name == key) for key, _, _ in events}
    return {
        "an event at exactly the asked time counts": values(times, events, inclusive=False),
        "a null is the value of an event like any other: you carried on the value before it": values(
            times, events, skip_null=True
        ),
        "the last event up to the time counts, not the first one": values(times, events, last=False),
        "a time before the first event of a key has a row, too, with null": [
            row for row in want if row["time"] >= at(first[row["plane"]])
        ],
        "a value that is null has a row, too": [row for row in want if row["airport"] is not None],
        "only times at which there is an event have a value: carry the last value along": [
            row if row["time"] in {at(when) for name, when, _ in events if name == row["plane"]}
            else {**row, "airport": None} for row in want
        ],
        "the greatest value up to the time is not the last one": [
            {**row, "airport": max((value for name, when, value in events if name == row["plane"]
                                    and at(when) <= row["time"] and value is not None), default=None)}
            for row in want
        ],
    }  # fmt: skip


@pytest.fixture
def check(spark, times_frame):
    def run(times, events):
        rows = [(name, at(time), value) for name, time, value in events]
        frame = spark.createDataFrame(rows, "plane string, time timestamp, airport string")
        found = as_of(times_frame(times), frame, ["plane"], "airport")
        must_equal(found, values(times, events), ["time", "plane"], mistakes=mistakes(times, events))

    return run


@pytest.mark.points(5, task=3)
def test_before_at_and_after_an_event(check):
    """A time before the first event, at an event, after it"""
    check([5, 10, 15, 20, 25], [("N1", 10, "BOS"), ("N1", 20, "ORD")])


@pytest.mark.points(4, task=3)
def test_a_null_is_a_value(check):
    """An event whose value is null"""
    check([10, 20, 25, 30], [("N1", 10, "ORD"), ("N1", 20, None), ("N1", 30, "ATL")])


@pytest.mark.points(5, task=3)
def test_keys_are_kept_apart(check):
    """Two keys, one of which begins late"""
    check([10, 20, 30], [("N1", 10, "BOS"), ("N2", 25, "BOS"), ("N1", 14, "ATL"), ("N1", 12, "ORD")])


@pytest.mark.points(6, task=3)
def test_many_times_and_events(check):
    """200 events of 12 keys, 30 times, against plain Python"""
    rnd = random.Random(43)
    moments = {(f"N{rnd.randrange(12)}", rnd.randrange(1000)) for _ in range(200)}
    events = [(key, time, rnd.choice(("ORD", "BOS", "ATL", None))) for key, time in sorted(moments)]
    check(sorted(rnd.sample(range(1000), 30)), events)
