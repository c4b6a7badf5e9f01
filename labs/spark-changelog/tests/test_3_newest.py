"""Task 3: one row per partition and key, that with the greatest offset."""

import pytest

from kafka_learn.labs.rows import at, must_equal, rows_of
from pipeline.tables.changelog import newest_per_key


def one_row(frame, records):
    rows = rows_of(newest_per_key(frame(records)))
    assert len(rows) == 1, f"all records have one key and one partition, so one row is asked for; you have {len(rows)}"
    return rows[0]


@pytest.mark.points(6, task=3)
def test_the_offset_decides_not_the_timestamp(frame):
    """A late timestamp"""
    records = [
        {"offset": 7, "key": "N1", "value": "JFK", "timestamp": 2000},
        {"offset": 8, "key": "N1", "value": "BOS", "timestamp": 1000},
    ]
    got = one_row(frame, records)
    assert got["offset"] != 7, (
        "offset 8 was written after offset 7, though its timestamp is older: the log's order is that of the offsets, "
        "and the cleaner keeps offset 8"
    )
    assert got["value"] == b"BOS", f"offset 8 has the value BOS, you have {got['value']}: value and offset of one row?"


@pytest.mark.points(4, task=3)
def test_value_offset_and_timestamp_are_of_one_record(frame):
    """The three fields of one record"""
    records = [
        {"offset": 1, "key": "N1", "value": "ORD", "timestamp": 3000},
        {"offset": 2, "key": "N1", "value": "ATL", "timestamp": 2000},
    ]
    got = one_row(frame, records)
    want = {"partition": 0, "key": b"N1", "value": b"ATL", "offset": 2, "timestamp": at(2000)}
    assert got["value"] != b"ORD", "ORD is the greatest value, ATL is the newest: take the value of the row, not F.max"
    assert got == want, f"the newest record is {want}; you have a row of several records: {got}"


@pytest.mark.points(3, task=3)
def test_a_deletion_is_a_record_too(frame):
    """A tombstone"""
    got = one_row(frame, [{"offset": 1, "key": "N1", "value": "ORD"}, {"offset": 2, "key": "N1", "value": None}])
    assert got["value"] is None, (
        f"the newest record of N1 is offset 2, a tombstone: the value is null, not {got['value']}"
    )


@pytest.mark.points(4, task=3)
def test_offsets_of_two_partitions_are_not_compared(frame):
    """A key in two partitions"""
    records = [
        {"partition": 0, "offset": 900, "key": "N1", "value": "ORD"},
        {"partition": 1, "offset": 3, "key": "N1", "value": "BOS"},
    ]
    got = sorted((row["partition"], row["offset"]) for row in rows_of(newest_per_key(frame(records))))
    assert got == [(0, 900), (1, 3)], (
        f"offset 900 of partition 0 and offset 3 of partition 1 have no order: each partition has a row for N1; you "
        f"have {got} as (partition, offset)"
    )


@pytest.mark.points(3, task=3)
def test_newest_of_a_long_changelog(frame, changelog):
    """600 records, against a dict"""
    records, newest = changelog(seed=62), {}
    for record in sorted(records, key=lambda each: each["offset"]):
        newest[record["partition"], record["key"]] = record
    want = [
        {
            "partition": record["partition"],
            "key": record["key"].encode(),
            "value": None if record["value"] is None else record["value"].encode(),
            "offset": record["offset"],
            "timestamp": at(record["timestamp"]),
        }
        for record in newest.values()
    ]
    must_equal(newest_per_key(frame(records)), want, ["partition", "key"])
