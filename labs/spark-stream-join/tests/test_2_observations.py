"""Task 2: the side of the weather, in a batch query."""

import pytest

from kafka_learn.labs.flight_events import clock
from kafka_learn.labs.rows import must_equal
from pipeline.jobs.weather_join import READINGS, observations


def rows_of_weather(events):
    return [
        {"airport": each["origin"], "observed": each["event_time"], **{name: each[name] for name in READINGS}}
        for each in events
    ]


@pytest.mark.points(15, task=2)
def test_observations(weather_frame, weather):
    """Two airports, two hours, an observation that was sent twice, missing readings"""
    events = [weather("10:00"), weather("11:00", temp=71.5), weather("10:00", "JFK", None, visib=None),
              weather("24:00", "JFK", 60.0, wind_speed=12.5)]  # fmt: skip
    sent = [*events, events[0], events[2]]
    want = rows_of_weather(events)
    mistakes = {
        "an observation that was sent twice counts once": rows_of_weather(sent),
        "one observation per airport is left: doubles have the same event_id, not the same airport": rows_of_weather(
            [events[0], events[2]]
        ),
        "observations with a missing reading are observations, too": [
            row for row in want if all(row[name] is not None for name in READINGS)
        ],
        "observed is event_time, in UTC, and not the hour in New York": [
            {**row, "observed": row["observed"] - (clock("04:00") - clock("00:00"))} for row in want
        ],
    }
    must_equal(observations(weather_frame(sent)), want, ["airport", "observed"], mistakes=mistakes)
