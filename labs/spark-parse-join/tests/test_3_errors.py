"""Task 3: of each record, what is wrong with it."""

import json

import pytest

from kafka_learn.labs.rows import rows_of
from pipeline.events import FLIGHTS, WEATHER
from pipeline.jobs.parsing import parse


def without(row, *names):
    return {name: value for name, value in row.items() if name not in names}


def cases(good, ours):
    """(value, headers), the error, and what the case is about."""
    text = json.dumps(good).encode()
    return [
        ((good, ours), None, "a good record has no error: null"),
        ((good, ours[::-1]), None, "the order of headers does not matter"),
        (({**good, "dep_delay": None, "tailnum": None}, ours), None, "a cancelled flight is a good record"),
        ((None, ours), "no value", "a record without a value"),
        ((None, None), "no value", "a record without value and headers: the first reason counts"),
        ((good, None), "no header event-id", "a record without headers"),
        ((good, ours[1:]), "no header event-id", "a record without an id"),
        ((text[:40], ours[1:]), "no header event-id", "broken JSON without an id: the first reason counts"),
        ((good, ours[:1]), "schema-version is not 1: none", "no version: a comparison with null is not true"),
        ((good, [ours[0], ("schema-version", b"2")]), "schema-version is not 1: 2", "a record of another version"),
        ((text[:40], ours), "not JSON of the schema", "a value that was cut off"),
        ((b"\xff\xfe", ours), "not JSON of the schema", "bytes that are no text"),
        (({**good, "minute": "noon"}, ours), "not JSON of the schema", "text instead of a number"),
        ((b"42", ours), "not JSON of the schema", "a number instead of an object"),
        ((without(good, "origin"), ours), "missing: origin", "a required column is missing"),
        (({**good, "carrier": None, "minute": None}, ours), "missing: carrier, minute", "two columns are null"),
        ((b"{}", ours), "missing: carrier, flight, origin, time_hour, minute", "an empty object"),
    ]  # fmt: skip


@pytest.mark.points(12, task=3)
def test_what_is_wrong_with_a_flight(records, good, ours):
    """17 records, of which three are good"""
    table = cases(good, ours)
    got = {row["offset"]: row["error"] for row in rows_of(parse(records(*(pair for pair, _, _ in table)), FLIGHTS))}
    assert len(got) == len(table), f"{len(table)} records have as many rows, yours are {len(got)}"
    wrong = [f"{words}: error is {want!r}, you have {got[number]!r}"
             for number, (_, want, words) in enumerate(table) if got[number] != want]  # fmt: skip
    assert not wrong, "\n".join(wrong)


@pytest.mark.points(3, task=3)
def test_what_is_wrong_with_an_observation(records, ours):
    """The weather requires other columns"""
    frame = records(
        ({"origin": "EWR", "time_hour": "2013-07-01T10:00:00Z"}, ours), ({"temp": 1.0}, ours), topic="weather"
    )
    got = [row["error"] for row in sorted(rows_of(parse(frame, WEATHER)), key=lambda row: row["offset"])]
    assert got == [None, "missing: origin, time_hour"], (
        f"the weather's required columns are event_type.required, origin and time_hour; your errors are {got}"
    )
