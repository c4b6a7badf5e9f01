"""What the tests of this lab share: flights as events, and the days of aircraft in plain Python."""

from datetime import timedelta

import pytest

from kafka_learn.labs.flight_events import SCHEMA

HOUR_MS = 3_600_000


@pytest.fixture
def frame(spark):
    """``frame([flight(…), …])``: a DataFrame of events."""
    names = [each.split()[0] for each in SCHEMA.split(", ")]
    return lambda events: spark.createDataFrame([tuple(event[name] for name in names) for event in events], SCHEMA)


@pytest.fixture
def streaming_settings():
    """What transformWithState needs."""
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    return {"spark.sql.streaming.stateStore.providerClass": provider}


@pytest.fixture
def days_of():
    """``days_of(times, rest)``: times in order, cut where nothing happens for that long. The switches are mistakes."""
    return cut


def cut(times, rest, *, from_first=False, inclusive=True, in_order=False):
    """Lists of times."""
    days = []
    for time in times if in_order else sorted(times):
        since = time - (days[-1][0] if from_first else days[-1][-1]) if days else None
        begins = since is None or (since >= rest if inclusive else since > rest)
        if begins:
            days.append([time])
        else:
            days[-1].append(time)
    return days


@pytest.fixture
def rest():
    return timedelta(hours=8)
