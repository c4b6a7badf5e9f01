"""Task 4: a salt spreads a key, and is the same each time."""

from collections import Counter

import pytest
from pyspark.sql import functions as F  # noqa: N812

from kafka_learn.labs.rows import rows_of
from pipeline.tables.skew import salt, salted_key

SALTS = 8


@pytest.fixture
def salted(spark):
    """The salts of 4,000 records of one key."""

    def find():
        numbers = spark.range(4000).select(F.col("id").alias("offset"))
        return {row["offset"]: row["salt"] for row in rows_of(numbers.withColumn("salt", salt(F.col("offset"), SALTS)))}

    return find


@pytest.mark.points(4, task=4)
def test_salts_are_in_range(salted):
    """0 to 7"""
    salts = set(salted().values())
    assert min(salts) >= 0, f"a hash may be negative, and % keeps the sign: F.pmod; you have {min(salts)}"
    assert salts == set(range(SALTS)), f"8 salts are 0 to 7, yours are {sorted(salts)}"


@pytest.mark.points(4, task=4)
def test_salts_are_even(salted):
    """4,000 records of one key"""
    largest = max(Counter(salted().values()).values())
    assert largest < 4000, "all records of the key have one salt: it must depend on the record, not on the key"
    assert largest < 2 * 4000 / SALTS, f"of 4,000 records 500 are the share of each salt; one has {largest}"


@pytest.mark.points(6, task=4)
def test_a_task_that_runs_again_gives_the_same_salts(salted):
    """Computed twice"""
    first, second = salted(), salted()
    other = sum(first[offset] != second[offset] for offset in first)
    assert other == 0, (
        f"{other} of 4,000 records have another salt the second time. A task that Spark runs again would send them to "
        "another partition: counted twice, or not at all"
    )


@pytest.mark.points(4, task=4)
def test_a_salted_key(spark):
    """UA#3"""
    row = rows_of(spark.range(1).select(
        salted_key(F.lit("UA"), F.col("id"), SALTS).alias("salted"), salt(F.col("id"), SALTS).alias("salt")
    ))[0]  # fmt: skip
    assert row["salted"] == f"UA#{row['salt']}", (
        f"with the salt {row['salt']} it is UA#{row['salt']}, not {row['salted']}"
    )
