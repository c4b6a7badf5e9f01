"""Task 2: how the records are spread."""

import pytest

from kafka_learn.labs.rows import must_equal, rows_of
from kafka_lite.producer.partitioner import partition_for_key
from pipeline.tables.skew import load_of_partitions, skew


@pytest.mark.points(8, task=2)
def test_the_load_of_every_partition(frame, flights, counts):
    """800 flights, 12 partitions, against plain Python"""
    records = flights(seed=21)
    want = [{"partition": number, "records": 0, "keys": 0} for number in range(12)]
    for key, count in counts(records).items():
        place = want[partition_for_key(key, 12)]
        place["records"] += count
        place["keys"] += 1
    idle = sum(not row["records"] for row in want)
    got = load_of_partitions(frame(records), 12)
    rows = got.count()
    assert rows != 12 - idle, f"{idle} of 12 partitions get nothing, and have no row: that they are idle is the point"
    must_equal(got, want, ["partition"])


@pytest.fixture
def loads(spark):
    return lambda *records: spark.createDataFrame([(n, each, 1) for n, each in enumerate(records)],
                                                  "partition int, records long, keys long")  # fmt: skip


@pytest.mark.points(7, task=2)
def test_skew_is_measured_over_all_partitions(loads):
    """Loads 60, 20, 0, 0"""
    row = rows_of(skew(loads(60, 20, 0, 0)))[0]
    assert row["mean"] != 40, "80 records in 4 partitions are 20 each: idle partitions count"
    want = {"records": 80, "mean": 20.0, "largest": 60, "skew": 3.0, "idle": 2}
    assert row == want, f"of the loads 60, 20, 0, 0 the figures are {want}; you have {row}"


@pytest.mark.points(5, task=2)
def test_an_even_load_has_skew_one(loads):
    """Loads 5, 5, 5"""
    row = rows_of(skew(loads(5, 5, 5)))[0]
    assert row["skew"] == 1.0, f"an even load has a skew of 1.0, not {row['skew']}: largest / mean"
