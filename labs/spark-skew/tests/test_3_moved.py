"""Task 3: the keys that change their partition."""

import pytest

from kafka_learn.labs.rows import must_equal
from kafka_lite.producer.partitioner import partition_for_key
from pipeline.tables.skew import moved_keys


@pytest.mark.parametrize(("before", "after"), [(4, 6), (4, 8), (6, 6)])
@pytest.mark.points(5, task=3)
def test_keys_that_move(frame, flights, counts, before, after):
    """From partitions to partitions"""
    records = flights(seed=22)
    want = [
        {"key": key, "old": partition_for_key(key, before), "new": partition_for_key(key, after), "records": count}
        for key, count in counts(records).items()
        if partition_for_key(key, before) != partition_for_key(key, after)
    ]
    got = moved_keys(frame(records), before, after)
    rows = got.count()
    assert rows <= len(counts(records)), f"there are {len(counts(records))} keys, and you have {rows} rows: one per key"
    assert rows == len(want), (
        f"from {before} to {after} partitions {len(want)} of {len(counts(records))} keys move, not {rows}"
    )
    must_equal(got, want, ["key"])
