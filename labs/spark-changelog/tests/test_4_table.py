"""Task 4: the table that the records lead to, now and at a time."""

import pytest

from kafka_learn.labs.rows import at, rows_of
from pipeline.tables.changelog import table_at, table_of


def table(found):
    return {(row["partition"], row["key"]): row["value"] for row in rows_of(found)}


@pytest.mark.points(6, task=4)
def test_a_deleted_key_is_gone(frame):
    """A deletion"""
    got = table(table_of(frame([
        {"offset": 0, "key": "N1", "value": "ORD"},
        {"offset": 1, "key": "N2", "value": "ATL"},
        {"offset": 2, "key": "N1", "value": None},
    ])))  # fmt: skip
    back = got.get((0, b"N1"))
    assert back != b"ORD", (
        "N1 was deleted at offset 2 and is back with its old value: tombstones were dropped too early"
    )
    assert got == {(0, b"N2"): b"ATL"}, f"N1 is deleted, N2 is ATL; your table is {got}"


@pytest.mark.points(3, task=4)
def test_a_key_may_come_back(frame):
    """Written again after a deletion"""
    got = table(table_of(frame([
        {"offset": 0, "key": "N1", "value": "ORD"},
        {"offset": 1, "key": "N1", "value": None},
        {"offset": 2, "key": "N1", "value": "BOS"},
    ])))  # fmt: skip
    assert got == {(0, b"N1"): b"BOS"}, f"N1 was deleted and written again: it is BOS; your table is {got}"


@pytest.mark.points(3, task=4)
def test_an_empty_value_is_a_value(frame):
    """An empty value"""
    got = table(table_of(frame([{"offset": 0, "key": "N1", "value": "ORD"}, {"offset": 1, "key": "N1", "value": ""}])))
    assert got == {(0, b"N1"): b""}, f"an empty value is a value, only null deletes: N1 is there; your table is {got}"


@pytest.mark.points(3, task=4)
def test_the_table_at_many_times(frame, changelog, replay, ends_of):
    """600 records, the table at 6 times"""
    records = changelog(seed=63)
    for time in range(1_000_000, 1_650_000, 110_000):
        got, want = table(table_at(frame(records), at(time))), replay(records, ends_of(records, time))
        for place in sorted(got.keys() | want.keys()):
            assert got.get(place) == want.get(place), (
                f"at {time} ms: a dict that is fed record by record has {want.get(place)} for {place}, "
                f"your table {got.get(place)}"
            )
