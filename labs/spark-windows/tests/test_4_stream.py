"""Task 4: the same function on a stream: when a window is emitted, and which late events are in it."""

from datetime import timedelta

import pytest

from kafka_learn.labs.flight_events import SCHEMA, clock, flight
from kafka_learn.labs.rows import must_be_rows
from kafka_learn.labs.streams import FedStream, once, running
from pipeline.jobs.delays import delays_by_window

LATENESS = timedelta(minutes=30)
KEY = ["step", "origin", "window_start"]
# Airports are cases. The watermark behind each step: 12:20, 14:20, 19:30.
STEPS = [
    [
        flight("10:30", "EWR", 20), flight("11:10", "EWR", 10, 2), flight("12:30", "EWR", 0, 3),
        flight("12:50", "JFK", 5), flight("11:00", "LGA", 0),
    ],
    [
        flight("12:21", "EWR", 60, 4),  # late, but in time
        flight("12:20", "BOS", 0),  # at the watermark: too late
        flight("10:40", "EWR", 90, 5),  # its window was emitted: too late
        flight("12:05", "LGA", 90, 2),  # its window is open, but it is behind the watermark: too late
        flight("12:50", "JFK", 5),  # a double
        flight("14:50", "JFK", 7, 2),
    ],
    [flight("14:50", "JFK", 7, 2), flight("20:00", "CLK", 0)],  # a double, and the clock
]  # fmt: skip


@pytest.fixture(scope="module")
def stream(spark, tmp_path_factory):
    """What each step of the learner's job emits, the rows of its state in the end, and the number of dropped rows."""

    def run():
        folder = tmp_path_factory.mktemp("stream")
        flights = FedStream(spark, folder / "flights", SCHEMA)
        with running(delays_by_window(flights.frame, lateness="30 minutes"), folder / "checkpoint") as job:
            steps = []
            for events in STEPS:
                flights.feed(events)
                steps.append(job.step())
            return steps, job.rows_of_state()

    return once(run)


def in_steps(steps):
    return [{"step": number, **row} for number, rows in enumerate(steps, 1) for row in rows]


@pytest.mark.points(9, task=4)
def test_windows_are_emitted_when_the_watermark_has_reached_their_end(stream, emissions):
    """Three steps, half an hour of lateness: what each of them emits"""
    got, _ = stream()

    def rows(lateness=LATENESS, **mistake):
        return in_steps(emissions(STEPS, lateness, **mistake))

    mistakes = {
        "an event that was sent twice counts once, also in a later step": rows(doubles=True),
        "late events are in the windows: what is behind the watermark must be dropped": rows(drop=False),
        "windows are emitted too early, without the events that are late but in time: is the lateness used?": rows(
            timedelta()
        ),
        "windows are emitted two hours behind the latest event: the lateness is a parameter": rows(timedelta(hours=2)),
        "the watermark is on another column than event_time: time_hour is up to an hour earlier": rows(
            time="time_hour"
        ),
        "windows are emitted an hour later than the watermark allows": rows(wait=timedelta(hours=1)),
        "no window was ever emitted: is the watermark on the column that the windows are made of?": [],
    }
    must_be_rows(in_steps(got), rows(), KEY, mistakes=mistakes)


@pytest.mark.points(6, task=4)
def test_late_events_in_time_are_counted_and_those_behind_the_watermark_are_not(stream):
    """12:21, 12:20 and 10:40, at the watermark 12:20"""
    rows = {(row["origin"], row["window_start"]): row["flights"] for step in stream()[0] for row in step}
    noon = clock("12:00")
    assert ("BOS", noon) not in rows, "a flight at the very watermark, 12:20, is late: it must not be counted"
    in_time = rows.get(("EWR", noon), 0)
    assert in_time == 2, (
        "12:30, and 12:21 in the next step, when the watermark is 12:20: late, but in time. EWR has 2 flights "
        f"from 12:00 on, not {in_time}"
    )
    closed = rows.get(("EWR", clock("10:00")), 0)
    assert closed == 1, f"the window of 10:00 is over before 10:40 comes: EWR has 1 flight in it, not {closed}"


@pytest.mark.points(5, task=4)
def test_the_state_is_small_in_the_end(stream):
    """What the query keeps when all windows are over"""
    state = stream()[1]
    # The clock's id and its open window.
    assert state <= 2, (
        f"the watermark is 19:30, and all flights but one are over; the query still keeps {state} rows. State that the "
        "watermark does not expire grows for ever"
    )
