"""Keys and partitions: where keys go, how unevenly, what adding partitions moves, and how to aggregate a hot key.

A record's key chooses its partition: ``murmur2(key)``, without its sign, modulo the number of partitions. All records
of a key are in one partition, in order, and one consumer gets them. The price is skew: with 16 airlines as keys, of
which three fly half of all flights, some partitions are idle and one is late. More partitions do not help against a
single hot key; they do change where keys go, so that the new records of a key no longer follow its old ones.

::

    key        UA     UA     UA     B6            one partition, one task, however many cores

    salted     UA#0   UA#1   UA#0   B6#1          first step: partial sums per salted key, spread over the tasks
                  \\      |      /      |
    key             UA               B6           second step: a few partial sums per key

Kafka 0.10.2: clients/.../producer/internals/DefaultPartitioner.java · book 2.1.1
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import pandas_udf

from kafka_lite.common.murmur2 import murmur2, to_positive

NO_PARTITION = -1


def partitions_of(keys: pd.Series[bytes], partitions: int) -> pd.Series[int]:
    """The partition of each key, as Java's producer chooses it; NO_PARTITION for null, which may go anywhere.

    A key is hashed as the bytes that it has in the topic. Each different key of the series is hashed only once.
    """
    chosen = {key: to_positive(murmur2(bytes(key))) % partitions for key in keys.dropna().unique()}
    return keys.map(chosen).fillna(NO_PARTITION).astype("int32")


def partition_of(key: Column, partitions: int) -> Column:
    """The partition of a binary key in a topic with this many partitions: a column of integers."""

    def chosen(keys: pd.Series) -> pd.Series:
        return partitions_of(keys, partitions)

    as_udf: Any = pandas_udf  # its overloads in Spark know no functions on Series
    column: Column = as_udf(chosen, "int")(key)
    return column


def load_of_partitions(records: DataFrame, partitions: int) -> DataFrame:
    """How the records would be spread over this many partitions: ``partition``, ``records``, ``keys``.

    One row per partition, even if it gets nothing. ``keys`` counts the different keys. Records without a key,
    which go anywhere, are left out. ``records`` has the binary column ``key``.
    """
    keyed = records.where(F.col("key").isNotNull()).groupBy("key").agg(F.count("*").alias("records"))
    loads = keyed.groupBy(partition_of(F.col("key"), partitions).alias("partition")).agg(
        F.sum("records").alias("records"), F.count("*").alias("keys")
    )
    every = records.sparkSession.range(partitions).select(F.col("id").cast("int").alias("partition"))
    return every.join(loads, "partition", "left").fillna(0, ["records", "keys"])


def skew(loads: DataFrame) -> DataFrame:
    """One row: ``records``, ``mean``, ``largest``, ``skew`` and ``idle``, of the loads of all partitions.

    ``mean`` and ``largest`` are records per partition; ``skew`` is their ratio, ``largest / mean``: 1.0 is even, and
    with n partitions n means that one has everything. ``idle`` counts the partitions without a record.
    """
    return loads.agg(
        F.sum("records").alias("records"),
        F.avg("records").alias("mean"),
        F.max("records").alias("largest"),
        (F.max("records") / F.avg("records")).alias("skew"),
        F.count_if(F.col("records") == 0).alias("idle"),
    )


def moved_keys(records: DataFrame, before: int, after: int) -> DataFrame:
    """The keys that change their partition if a topic goes from ``before`` partitions to ``after``: ``key``, ``old``,
    ``new``, ``records``, one row per key, with its number of records so far.

    Records do not move: those of a moved key stay in ``old``, and its next ones go to ``new``, where another consumer
    may read them first.
    """
    keyed = records.where(F.col("key").isNotNull()).groupBy("key").agg(F.count("*").alias("records"))
    places = keyed.select(
        "key",
        partition_of(F.col("key"), before).alias("old"),
        partition_of(F.col("key"), after).alias("new"),
        "records",
    )
    return places.where(F.col("old") != F.col("new"))


def salt(record: Column, salts: int) -> Column:
    """A number from 0 to ``salts`` - 1 for a record, from what tells it from others of its key, such as its offset.

    It depends on nothing else, so a task that runs again gives every record the same salt. A random salt would send a
    record to another partition the second time, and it would be counted twice or not at all.
    """
    return F.pmod(F.xxhash64(record), F.lit(salts)).cast("int")


def salted_key(key: Column, record: Column, salts: int) -> Column:
    """The key with its salt: ``UA#3``. ``key`` is a string, and ``record`` is what ``salt`` takes."""
    return F.concat(key, F.lit("#"), salt(record, salts).cast("string"))


def salted_totals(records: DataFrame, salts: int) -> DataFrame:
    """First step: per salted key ``key``, ``salted``, ``count``, ``sum``, ``largest`` of the column ``value``.

    ``records`` has ``key`` (a string), ``offset`` and ``value``; ``count`` counts the values that are not null.
    """
    salted = records.withColumn("salted", salted_key(F.col("key"), F.col("offset"), salts))
    return salted.groupBy("key", "salted").agg(
        F.count("value").alias("count"), F.sum("value").alias("sum"), F.max("value").alias("largest")
    )


def totals(salted: DataFrame) -> DataFrame:
    """Second step: per key ``key``, ``count``, ``mean`` and ``largest`` of all its values, from the first step's rows.

    The mean is the sum of the sums divided by the sum of the counts; null for a key that has no value.
    """
    mean = F.sum("sum") / F.nullif(F.sum("count"), F.lit(0))
    return salted.groupBy("key").agg(
        F.sum("count").alias("count"), mean.alias("mean"), F.max("largest").alias("largest")
    )
