"""Task 4: state and timers, with a state store in plain Python that plays Spark's part."""

import itertools
import random
from collections import Counter

import pytest
from pyspark.sql import Row

from pipeline.jobs.aircraft_days import AircraftDays

HOUR_MS = 3_600_000
REST_MS = 8 * HOUR_MS
END_MS = 10_000 * HOUR_MS


class ListState:
    """As much of Spark's list state as a day needs; keeps tuples."""

    def __init__(self):
        self.values = []

    def exists(self):
        return bool(self.values)

    def get(self):
        return iter(list(self.values))

    def put(self, values):
        self.values = [tuple(each) for each in values]

    def appendList(self, values):  # noqa: N802 - PySpark's name
        self.values += [tuple(each) for each in values]

    def appendValue(self, value):  # noqa: N802 - PySpark's name
        self.values.append(tuple(value))

    def clear(self):
        self.values = []


class Handle:
    """The state of one aircraft: a list and timers."""

    def __init__(self):
        self.state, self.timers = ListState(), set()

    def getListState(self, _name, _schema):  # noqa: N802 - PySpark's name
        return self.state

    def registerTimer(self, time_ms):  # noqa: N802 - PySpark's name
        assert isinstance(time_ms, int), f"a timer is a time in ms, an int, not {type(time_ms).__name__}"
        self.timers.add(time_ms)

    def deleteTimer(self, time_ms):  # noqa: N802 - PySpark's name
        self.timers.discard(time_ms)

    def listTimers(self):  # noqa: N802 - PySpark's name
        return iter(sorted(self.timers))


class Now:
    """Timer values: the watermark; also stands for the information on an expired timer."""

    def __init__(self, watermark_ms, timer_ms=0):
        self._watermark_ms, self._timer_ms = watermark_ms, timer_ms

    def getCurrentWatermarkInMs(self):  # noqa: N802 - PySpark's name
        return self._watermark_ms

    def getCurrentProcessingTimeInMs(self):  # noqa: N802 - PySpark's name
        return END_MS

    def getExpiryTimeInMs(self):  # noqa: N802 - PySpark's name
        return self._timer_ms


class Aircraft:
    """Runs the learner's processor for one aircraft; ``emitted`` has (watermark, row) of all rows."""

    def __init__(self, tailnum="N1"):
        self.handle, self.emitted, self._key = Handle(), [], (tailnum,)
        self._days = AircraftDays(REST_MS)
        self._days.init(self.handle)
        self._numbers = itertools.count()

    def batch(self, times_ms, watermark_ms):
        """Rows of a batch, and then the timers that the watermark of the batch has reached."""
        if times_ms:
            rows = [Row(time_ms=time, event_id=f"UA{next(self._numbers):03d}", origin="EWR", dest="ORD", dep_delay=0,
                        tailnum=self._key[0]) for time in times_ms]  # fmt: skip
            result = self._days.handleInputRows(self._key, iter(rows), Now(watermark_ms))
            self._keep(result, watermark_ms, "handleInputRows")
        for _round in range(20):
            due = sorted(each for each in self.handle.timers if each <= watermark_ms)
            if not due:
                return
            for timer in due:
                self.handle.timers.discard(timer)
                result = self._days.handleExpiredTimer(self._key, Now(watermark_ms), Now(watermark_ms, timer))
                self._keep(result, watermark_ms, "handleExpiredTimer")
        raise AssertionError("a timer is registered at a time that the watermark has passed, over and over again")

    def _keep(self, result, watermark_ms, name):
        assert result is not None, f"{name} returns an iterator of rows, perhaps an empty one; yours returned None"
        try:
            self.emitted += [(watermark_ms, row) for row in result]
        except TypeError:
            raise AssertionError(
                f"{name} returns an iterator of rows, yours returned {type(result).__name__}"
            ) from None


def must_be_days(aircraft, days):
    """Check that each day was emitted once, whole, and not before it was over; and that nothing is left."""
    got = [(row["first_ms"], row["last_ms"], row["flights"]) for _, row in aircraft.emitted]
    want = [(day[0], day[-1], len(day)) for day in days]

    def hours(day):
        return f"{day[0] / HOUR_MS:g} h to {day[1] / HOUR_MS:g} h with {day[2]} legs"

    for watermark_ms, row in aircraft.emitted:
        day = row["first_ms"], row["last_ms"], row["flights"]
        if day in want:
            continue
        whole = next((each for each in want if each[0] <= row["first_ms"] <= each[1]), None)
        over = row["last_ms"] + REST_MS <= watermark_ms
        assert over, (
            f"the day {hours(day)} was emitted at watermark {watermark_ms / HOUR_MS:g} h: it is over when the "
            "watermark has passed its last leg by the rest of 8 h. A leg of it could still come"
        )
        assert whole is not None, f"there is no day {hours(day)}"
        assert row["flights"] >= whole[2], f"legs are lost: the day is {hours(whole)}, you emitted {hours(day)}"
        assert row["flights"] <= whole[2], (
            f"legs are counted twice: the day is {hours(whole)}, you emitted {hours(day)}"
        )
        raise AssertionError(f"the day is {hours(whole)}, you emitted {hours(day)}")
    for watermark_ms, row in aircraft.emitted:
        assert row["last_ms"] + REST_MS <= watermark_ms, (
            f"the day {hours((row['first_ms'], row['last_ms'], row['flights']))} was emitted at watermark "
            f"{watermark_ms / HOUR_MS:g} h, before it was over: a leg of it could still have come"
        )
    often = [day for day, number in Counter(got).items() if number > 1]
    assert not often, f"the day {hours(often[0] if often else want[0])} was emitted more than once: clear what is over"
    missing = [day for day in want if day not in got]
    assert not missing, (
        f"the day {hours(missing[0])} was never emitted, though the watermark is far behind it: does what is kept "
        "have a timer?"
    )
    left = aircraft.handle.state.values
    assert not left, (
        f"all days are over, and {len(left)} legs are still in state: state that never expires grows for ever"
    )


@pytest.mark.points(6, task=4)
def test_a_day_is_emitted_when_it_is_over(days_of):
    """Three legs, in two batches"""
    aircraft = Aircraft()
    aircraft.batch([10 * HOUR_MS, 12 * HOUR_MS], 9 * HOUR_MS)
    aircraft.batch([15 * HOUR_MS], 19 * HOUR_MS)
    aircraft.batch([], 22 * HOUR_MS)
    early = [row for _, row in aircraft.emitted]
    assert not early, (
        "a leg of 15 h came before the watermark passed 12 h by the rest: the day is over at 23 h, not before"
    )
    aircraft.batch([], 24 * HOUR_MS)
    assert aircraft.emitted, "at watermark 24 h the day, 10 h to 15 h, is over: its timer was to be set anew, for 23 h"
    aircraft.batch([], END_MS)
    must_be_days(aircraft, days_of([10 * HOUR_MS, 12 * HOUR_MS, 15 * HOUR_MS], REST_MS))


@pytest.mark.points(6, task=4)
def test_open_days_stay(days_of):
    """A day that is over, and one that has begun"""
    aircraft = Aircraft()
    aircraft.batch([10 * HOUR_MS, 12 * HOUR_MS], 9 * HOUR_MS)
    aircraft.batch([30 * HOUR_MS, 11 * HOUR_MS], 21 * HOUR_MS)
    aircraft.batch([31 * HOUR_MS], 25 * HOUR_MS)
    aircraft.batch([60 * HOUR_MS], 45 * HOUR_MS)
    aircraft.batch([], END_MS)
    must_be_days(aircraft, days_of([hour * HOUR_MS for hour in (10, 11, 12, 30, 31, 60)], REST_MS))


@pytest.mark.points(8, task=4)
def test_many_aircraft(days_of):
    """60 aircraft, legs in any order within the lateness, against a loop"""
    rnd = random.Random(64)
    for number in range(60):
        aircraft = Aircraft(f"N{number}")
        times = sorted(rnd.sample(range(0, 200 * HOUR_MS, HOUR_MS // 4), rnd.randrange(1, 30)))
        sent = sorted(times, key=lambda time: time + rnd.randrange(2 * HOUR_MS))
        watermark_ms = newest_ms = 0
        while sent:
            some, sent = sent[: (count := rnd.randrange(1, 4))], sent[count:]
            aircraft.batch(some, watermark_ms)
            newest_ms = max(newest_ms, *some)
            watermark_ms = max(watermark_ms, newest_ms - 2 * HOUR_MS)
            aircraft.batch([], watermark_ms)
        aircraft.batch([], END_MS)
        must_be_days(aircraft, days_of(times, REST_MS))
