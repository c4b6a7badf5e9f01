"""Task 1: one row for each key of a batch."""

import pytest

from kafka_learn.labs.rows import must_equal, rows_of
from pipeline.tables.delta_merge import SCHEMA, changes


@pytest.mark.points(6, task=1)
def test_the_last_change_of_each_key(batch, history):
    """400 changes of 30 keys, in no order"""
    log, _ = history(41)
    numbered = [(key, value, offset) for offset, (key, value) in enumerate(log)]
    last, largest = _last(numbered), {}
    for key, value in log:
        largest[key] = max(largest.get(key, ""), value or "")
    got = changes(batch(*log).orderBy("value"))
    assert got.count() != len(log), "each change is a row: MERGE must get one row for each key"
    mistakes = {
        "the largest value is not the last": [{**row, "value": largest[key]} for key, row in last.items()],
        "deletions are left out: they may be the last change of a key": _last(filter(_has_value, numbered)).values(),
    }
    must_equal(got, last.values(), ["key"], mistakes=mistakes)


def _has_value(change):
    return change[1] is not None


def _last(numbered):
    return {key: {"key": key, "value": value, "partition": 0, "offset": offset} for key, value, offset in numbered}


@pytest.mark.points(5, task=1)
def test_a_deletion_is_a_change(batch):
    """Null as the last value"""
    got = rows_of(changes(batch(("UA", "late"), ("B6", "early"), ("UA", None), first=7)))
    values = {row["key"]: (row["value"], row["offset"]) for row in got}
    assert "UA" in values, "UA was deleted: that is a change, a row whose value is null"
    assert values["UA"] == (None, 9), f"the last change of UA is null, at offset 9, not {values['UA']}"
    assert values["B6"] == ("early", 8), f"the last change of B6 is early, at offset 8, not {values['B6']}"


@pytest.mark.points(4, task=1)
def test_records_without_a_key(batch):
    """Null as a key"""
    got = rows_of(changes(batch((None, "lost"), ("UA", "late"))))
    assert [row["key"] for row in got] == ["UA"], f"a record without a key changes nothing: {got}"


@pytest.mark.points(3, task=1)
def test_columns(batch):
    """Names and types"""
    got = changes(batch(("UA", "late"))).toArrow().schema
    want = [(field.name, field.type) for field in SCHEMA]
    assert [(field.name, field.type) for field in got] == want, f"the table's columns are {want}, yours {got}"
