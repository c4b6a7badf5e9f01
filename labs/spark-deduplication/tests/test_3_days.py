"""Task 3: the days of an aircraft."""

import random

import pytest

from pipeline.jobs.aircraft_days import Leg, split_days

HOUR_MS = 3_600_000
REST_MS = 8 * HOUR_MS


def legs(times):
    return [Leg(time, f"UA{number:03d}", "EWR", "ORD", 0) for number, time in enumerate(times)]


def check(cut, times, rest=REST_MS):
    result = split_days(iter(legs(times)), rest)
    assert result is not None, "split_days returned None: is a return missing?"
    got = [[leg.time_ms for leg in day] for day in result]
    want = cut(times, rest)
    if got == want:
        return
    mistakes = {
        "a rest of exactly that long ends a day": cut(times, rest, inclusive=False),
        "the rest is the time since the leg before, not since the first of the day": cut(times, rest, from_first=True),
        "legs come in any order: sort them by departure first": cut(times, rest, in_order=True),
        "days are cut where an aircraft rests, not at midnight": [
            [time for time in sorted(times) if time // (24 * HOUR_MS) == day]
            for day in sorted({time // (24 * HOUR_MS) for time in times})
        ],
        "a day is lost, the last one": want[:-1],
        "a day is lost, the first one": want[1:],
        "nothing was cut": [sorted(times)],
    }
    words = next((name for name, rows in mistakes.items() if rows == got), "the days are others")
    hours = [[time / HOUR_MS for time in day] for day in got], [[time / HOUR_MS for time in day] for day in want]
    raise AssertionError(f"{words}: in hours, you have {hours[0]}, the days are {hours[1]}"[:700])


@pytest.mark.points(6, task=3)
def test_a_rest_ends_a_day(days_of):
    """Rests of seven, eight and nine hours; a long day"""
    check(days_of, [hour * HOUR_MS for hour in (0, 7, 14, 22, 29, 38)])
    check(days_of, [hour * HOUR_MS for hour in (20, 23, 26, 33)])


@pytest.mark.points(4, task=3)
def test_legs_in_any_order(days_of):
    """Late legs"""
    check(days_of, [hour * HOUR_MS for hour in (30, 2, 31, 9, 1)])
    check(days_of, [])


@pytest.mark.points(5, task=3)
def test_many_legs(days_of):
    """50 aircraft, against a loop"""
    rnd = random.Random(63)
    for _ in range(50):
        times = rnd.sample(range(0, 100 * HOUR_MS, HOUR_MS // 4), rnd.randrange(1, 20))
        check(days_of, times, rnd.choice((4, 8)) * HOUR_MS)
