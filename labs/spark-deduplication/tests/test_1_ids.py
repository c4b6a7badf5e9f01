"""Task 1: ids of events."""

import pandas as pd
import pytest

from pipeline.events import FLIGHTS, WEATHER, event_ids


def ids_of(event_type, frame):
    """The learner's ids, checked to be one per row."""
    found = event_ids(event_type, frame)
    assert isinstance(found, pd.Series), f"event_ids returns a Series, yours returned {type(found).__name__}"
    assert len(found) == len(frame), f"each row has an id: {len(frame)} rows, {len(found)} ids"
    assert list(found.index) == list(frame.index), "ids have the index of their rows"
    return list(found)


FLIGHT = {"carrier": "UA", "flight": 1545, "origin": "EWR", "dest": "IAH", "tailnum": "N14228", "dep_delay": 2,
          "hour": 6, "minute": 15, "time_hour": "2013-01-01T10:00:00Z"}  # fmt: skip


@pytest.mark.points(8, task=1)
def test_the_id_of_a_flight():
    """The same flight, another day, another number, a corrected delay"""
    rows = [FLIGHT, {**FLIGHT, "time_hour": "2013-01-02T10:00:00Z"}, {**FLIGHT, "flight": 1546},
            {**FLIGHT, "carrier": "AA"}, {**FLIGHT, "dep_delay": 40, "tailnum": "N2", "minute": 20}]  # fmt: skip
    ids = ids_of(FLIGHTS, pd.DataFrame(rows, index=[7, 8, 9, 10, 11]))
    assert ids[0] != ids[1], "the flights of two days have one id: the key is not enough, the hour belongs to it"
    assert ids[0] != ids[2], "two flights of one hour have one id: the number of the flight belongs to it"
    assert ids[0] != ids[3], "the flights of two airlines have one id: the whole key belongs to it"
    assert ids[0] == ids[4], (
        "the flight is sent again with a corrected delay and minute, and has another id: key and hour tell what "
        "event it is, the other columns may change"
    )
    assert ids[0] == "UA1545/2013-01-01T10:00:00Z", f"the id is UA1545/2013-01-01T10:00:00Z, not {ids[0]}"


@pytest.mark.points(7, task=1)
def test_the_repeated_hour():
    """3 November 2013, from 1:00 to 2:00 in New York, twice"""
    rows = [{"origin": "EWR", "year": 2013, "month": 11, "day": 3, "hour": 1, "temp": temp, "time_hour": time}
            for temp, time in ((52.0, "2013-11-03T05:00:00Z"), (50.0, "2013-11-03T06:00:00Z"))]  # fmt: skip
    ids = ids_of(WEATHER, pd.DataFrame(rows))
    assert ids[0] != ids[1], (
        "the hour from 1:00 to 2:00 occurs twice on this day, and its two observations have one id: one would be "
        "dropped as a double. The hour in UTC occurs once"
    )
    want = ["EWR/2013-11-03T05:00:00Z", "EWR/2013-11-03T06:00:00Z"]
    assert ids == want, f"the ids are {want}; you have {ids}"
