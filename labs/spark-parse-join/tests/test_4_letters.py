"""Task 4: events, and dead letters."""

import pytest

from kafka_learn.labs.rows import must_be_frame, must_have_columns, rows_of
from pipeline.events import FLIGHTS
from pipeline.jobs.dead_letters import dead_letters
from pipeline.jobs.parsing import events_of, parse


@pytest.fixture
def parsed(records, good, ours):
    """A good record at offset 0, broken ones behind it."""
    broken = [(b"\xff\x00?", ours), ({**good, "origin": None}, [*ours, ("trace", b"abc")]), (good, None)]
    return parse(records((good, ours), *broken), FLIGHTS)


@pytest.mark.points(6, task=4)
def test_events_are_the_rows_without_an_error(parsed):
    """One good record and three broken ones"""
    events = must_be_frame(events_of(parsed), "events_of")
    rows = rows_of(events)
    assert rows, "no event is left: a comparison with null is not true, use IS NULL"
    assert len(rows) == 1, f"one record is good; you keep {len(rows)}"
    row = rows[0]
    records = ("error", "key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
    carried = [name for name in records if name in row]
    assert not carried, f"an event does not have the record's column {carried[0]}: nor error, key, value, topic, …"
    lost = [name for name in ("event_id", "event_time", "carrier", "flight", "origin", "dep_delay") if name not in row]
    assert not lost, f"the event has lost its column {lost[0] if lost else ''}"
    assert row["event_id"] == "UA1545/2013-07-01T10:00:00Z", f"the id is the header's, not {row['event_id']}"


@pytest.mark.points(9, task=4)
def test_dead_letters_say_where_and_why(parsed, ours):
    """Bytes that are no text, a missing column, no headers"""
    letters = must_be_frame(dead_letters(parsed), "dead_letters")
    must_have_columns(letters, ["key", "value", "timestamp", "headers"])
    rows = rows_of(letters)
    assert len(rows) == 3, f"three records are broken; you have {len(rows)} dead letters"
    assert all(row["headers"] is not None for row in rows), (
        "a dead letter has no headers: those of the record were null, and concat with null is null"
    )
    heads = [[(each["key"], bytes(each["value"] or b"").decode()) for each in row["headers"]] for row in rows]
    by_id = {dict(head[:1]).get("event-id"): (row, head) for row, head in zip(rows, heads, strict=True)}
    want = {f"flights/3/{offset}" for offset in (1, 2, 3)}
    assert set(by_id) == want, (
        f"the first header is event-id, the record's position: {sorted(want)}; yours are {sorted(map(str, by_id))}"
    )
    reasons = {1: "not JSON of the schema", 2: "missing: origin", 3: "no header event-id"}
    for offset, reason in reasons.items():
        row, head = by_id[f"flights/3/{offset}"]
        said = dict(reversed(head))
        place = {"error": reason, "error-topic": "flights", "error-partition": "3", "error-offset": str(offset)}
        wrong = {name: said.get(name) for name, value in place.items() if said.get(name) != value}
        assert not wrong, f"offset {offset}: the headers say {place}; yours {wrong}"
        assert row["key"] == b"UA1545", f"offset {offset}: the key is lost, {row['key']}: it is that of the record"
        assert row["timestamp"].isoformat() == "2013-07-02T03:04:05+00:00", f"offset {offset}: the timestamp is another"
    raw = by_id["flights/3/1"][0]["value"]
    assert raw == b"\xff\x00?", f"the value is unchanged, byte by byte: {raw} are not the bytes ff 00 3f"
    theirs = by_id["flights/3/2"][1][-3:]
    want = [(name, value.decode()) for name, value in ours] + [("trace", "abc")]
    assert theirs == want, f"behind our headers come those of the record, in order: {want}; yours are {theirs}"
