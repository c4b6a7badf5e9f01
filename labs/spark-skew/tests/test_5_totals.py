"""Task 5: partial figures, and then the whole."""

import random

import pytest

from kafka_learn.labs.rows import must_equal, rows_of
from pipeline.tables.skew import salted_totals, totals

SCHEMA = "key string, offset long, value double"


@pytest.mark.points(5, task=5)
def test_partial_figures(spark):
    """First step: null values"""
    frame = spark.createDataFrame([("UA", 1, 4.0), ("UA", 2, None), ("UA", 3, 6.0)], SCHEMA)
    rows = rows_of(salted_totals(frame, 1))
    assert len(rows) == 1, f"with one salt a key has one partial figure, not {len(rows)}"
    got = {name: rows[0][name] for name in ("key", "count", "sum", "largest")}
    assert got["count"] != 3, "a null value, a cancelled flight, is not counted: the mean would be too small"
    assert got == {"key": "UA", "count": 2, "sum": 10.0, "largest": 6.0}, f"two values, 4 and 6; you have {got}"


@pytest.mark.points(6, task=5)
def test_a_mean_is_not_the_mean_of_means(spark):
    """Second step: unequal parts"""
    parts = spark.createDataFrame(
        [("UA", "UA#0", 1, 100.0, 100.0), ("UA", "UA#1", 9, 0.0, 0.0)],
        "key string, salted string, count long, sum double, largest double",
    )
    row = rows_of(totals(parts))[0]
    assert row["mean"] != 50, (
        "one value of 100 and nine of 0: the mean of the two means is 50, that of the values is 10"
    )
    want = {"key": "UA", "count": 10, "mean": 10.0, "largest": 100.0}
    assert row == want, f"ten values, of which one is 100: {want}; you have {row}"


@pytest.mark.points(6, task=5)
def test_two_steps_give_what_one_step_gives(spark):
    """2,000 delays, 16 salts, against plain Python"""
    rnd = random.Random(25)
    rows, values = [], {"UA": [], "B6": [], "OO": []}
    for offset in range(2000):
        key = rnd.choices(("UA", "B6", "OO"), (900, 90, 10))[0]
        value = None if key == "OO" or rnd.random() < 0.1 else float(rnd.randrange(-20, 200))
        rows.append((key, offset, value))
        values[key] += [] if value is None else [value]
    want = [
        {
            "key": key,
            "count": len(each),
            "mean": sum(each) / len(each) if each else None,
            "largest": max(each, default=None),
        }
        for key, each in values.items()
    ]
    must_equal(totals(salted_totals(spark.createDataFrame(rows, SCHEMA), 16)), want, ["key"])
