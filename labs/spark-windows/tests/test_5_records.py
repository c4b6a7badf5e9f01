"""Task 5: events that end a finite stream, and results as records."""

import json
from datetime import timedelta

import pandas as pd
import pytest

from kafka_learn.labs.flight_events import clock, flight
from kafka_learn.labs.rows import must_have_columns, rows_of
from pipeline.events import clock_events
from pipeline.jobs.delays import delay_records, delays_by_window


@pytest.mark.points(6, task=5)
def test_the_clock_closes_what_is_open():
    """An event of each source, at airports of their own"""
    time = pd.Timestamp("2013-07-05T20:40", tz="America/New_York")
    events = clock_events(time)
    assert isinstance(events, list), f"clock_events returns a list of events, yours returned {type(events).__name__}"
    topics = sorted(getattr(each, "topic", type(each).__name__) for each in events)
    assert topics == ["flights", "weather"], f"an event for each source, flights and weather; yours are {topics}"
    by_topic = {each.topic: each for each in events}
    hour = int(time.tz_convert("UTC").floor("h").timestamp() * 1000)
    for topic, event in by_topic.items():
        assert event.timestamp_ms != hour - 4 * 3_600_000, (
            f"{topic}: the hour is that of New York; event time is in UTC"
        )
        assert event.timestamp_ms == hour, (
            f"{topic}: at 20:40 in New York it is 00:40 in UTC. The hour is {hour} ms, not {event.timestamp_ms}"
        )
        assert dict(event.headers).get("schema-version") == b"1", (
            f"{topic}: the record has no schema-version: encode it"
        )
        assert "event-id" in dict(event.headers), f"{topic}: the record has no event-id: encode it as the others"
    airports = {topic: json.loads(event.value)["origin"] for topic, event in by_topic.items()}
    assert airports["flights"] == "CLK", f"the flight's airport is CLOCK_ORIGIN, CLK, not {airports['flights']}"
    assert airports["weather"] != airports["flights"], (
        "with weather of its own airport, the clock's flight would be joined"
    )
    assert not set(airports.values()) & {"EWR", "JFK", "LGA"}, f"at a real airport the clock is counted: {airports}"
    assert json.loads(by_topic["flights"].value)["minute"] == 0, "the flight leaves at the full hour: minute 0"


@pytest.fixture
def results():
    """Three windows: with a delay, without one, of another airport."""
    return [flight("10:30", "EWR", 20), flight("11:10", "EWR", None, 2), flight("23:10", "JFK", 7, 3)]


@pytest.mark.points(8, task=5)
def test_results_as_records(frame, results):
    """Key, value, timestamp and id of each window"""
    found = delay_records(delays_by_window(frame(results)))
    must_have_columns(found, ["key", "value", "timestamp", "headers"])
    rows = {(row["key"], row["timestamp"]): row for row in rows_of(found)}
    starts = [("EWR", "10:00", "11:00"), ("EWR", "11:00", "12:00"), ("JFK", "23:00", "24:00")]
    at_start = {(origin, clock(start)) for origin, start, _ in starts}
    assert set(rows) != at_start, "the timestamp is the window's end: only then the result is known"
    want = {(origin, clock(end)) for origin, _, end in starts}
    assert set(rows) == want, f"(key, timestamp) of the records are {sorted(want)}; you have {sorted(rows, key=repr)}"
    for origin, start, end in starts:
        row = rows[origin, clock(end)]
        headers = {each["key"]: bytes(each["value"] or b"").decode() for each in row["headers"] or ()}
        times = clock(start), clock(end), clock(start) - timedelta(hours=4)
        begins, ends, local = (f"{origin}/{time:%Y-%m-%dT%H:%M:%SZ}" for time in times)
        found_id = headers.get("event-id")
        assert found_id is not None, "a record without event-id: a reader cannot recognise a double"
        assert found_id != ends, f"the id has the window's start: {begins}, not its end"
        assert found_id != local, f"the id has the window's start in UTC: {begins}, not in New York's time"
        assert found_id == begins, f"the id of the window is {begins}, not {found_id}: the same each time it is written"
        assert headers.get("schema-version") == "1", f"schema-version is 1, not {headers.get('schema-version')}"
        value = json.loads(row["value"])
        assert value.get("origin") == origin, f"the value is the whole row as JSON; yours is {row['value']}"
        assert value.get("flights") == 1, f"the value is the whole row as JSON; yours is {row['value']}"


@pytest.mark.points(1, task=5)
def test_windows_that_slide_have_ids_of_their_own(frame, results):
    """Windows of an hour, one every twenty minutes"""
    sliding = delay_records(delays_by_window(frame(results[:1]), "1 hour", "20 minutes"))
    headers = [{each["key"]: bytes(each["value"] or b"") for each in row["headers"] or ()} for row in rows_of(sliding)]
    ids = sorted(each.get("event-id", b"").decode().rpartition("/")[2] for each in headers)
    want = [f"{clock(start):%Y-%m-%dT%H:%M:%SZ}" for start in ("09:40", "10:00", "10:20")]
    assert ids == want, (
        f"a flight at 10:30 is in three windows that begin at {', '.join(want)}: each needs an id of its own, or a "
        f"reader takes two results for doubles; yours: {', '.join(ids)}"
    )
