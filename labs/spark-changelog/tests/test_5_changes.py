"""Task 5: what leads from one table to another."""

import pytest

from kafka_learn.labs.rows import must_equal, rows_of
from pipeline.tables.changelog import changes_between

SCHEMA = "partition int, key string, value string, offset long"


@pytest.fixture
def changes(spark):
    def find(before, after):
        frames = [
            spark.createDataFrame([(0, key, value, n) for n, (key, value) in enumerate(table.items())], SCHEMA)
            for table in (before, after)
        ]
        return changes_between(*frames)

    return find


def only(changes, before, after):
    rows = rows_of(changes(before, after))
    return [(row["key"], row["change"], row["old_value"], row["new_value"]) for row in rows]


@pytest.mark.points(5, task=5)
def test_a_key_that_is_new(changes):
    """Added"""
    got = only(changes, {"N1": "ORD"}, {"N1": "ORD", "N2": "ATL"})
    assert got, "N2 is in the second table only, and your changes are empty: does the join keep it, and the comparison?"
    assert got == [("N2", "added", None, "ATL")], f"N2 is added with ATL, and that is all; you have {got}"


@pytest.mark.points(5, task=5)
def test_a_key_that_is_gone(changes):
    """Removed"""
    got = only(changes, {"N1": "ORD", "N2": "ATL"}, {"N1": "ORD"})
    assert got, "N2 is in the first table only, and your changes are empty: does the join keep it, and the comparison?"
    assert got == [("N2", "removed", "ATL", None)], f"N2 is removed, and was ATL; you have {got}"


@pytest.mark.points(4, task=5)
def test_a_value_that_is_another_one(changes):
    """Changed, and written again"""
    got = only(changes, {"N1": "ORD", "N2": "ATL"}, {"N2": "BOS", "N1": "ORD"})
    assert ("N1", "changed", "ORD", "ORD") not in got, "N1 was ORD and is ORD: writing a value again changes nothing"
    assert got == [("N2", "changed", "ATL", "BOS")], f"N2 goes from ATL to BOS, N1 stays; you have {got}"


@pytest.mark.points(6, task=5)
def test_changes_between_two_times(changes, changelog, replay, ends_of):
    """600 records, the changes of five minutes"""
    records = changelog(seed=64)
    before, after = (replay(records, ends_of(records, time)) for time in (1_200_000, 1_500_000))
    before, after = ({key.decode(): value.decode() for (_, key), value in table.items()} for table in (before, after))
    want = [
        {
            "partition": 0,
            "key": key,
            "change": "added" if key not in before else "removed" if key not in after else "changed",
            "old_value": before.get(key),
            "new_value": after.get(key),
        }
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]
    assert {row["change"] for row in want} == {"added", "removed", "changed"}
    must_equal(changes(before, after), want, ["key"])
