"""Reads and makes the headers column of records in Spark.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaRecordToRowConverter.scala · book 2.1.1
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812


def header(name: str) -> Column:
    """The first header of that name as a string; null if there is none."""
    named = F.filter("headers", lambda each: each["key"] == name)
    return F.get(named, 0)["value"].cast("string")


def headers(values: Mapping[str, Column]) -> Column:
    """A headers column for writing: names with the values as binary strings, in order."""
    return F.array(
        *(F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value")) for name, value in values.items())
    )
