"""A changelog topic as a table, as it was at any time.

A topic whose records say "this key now has this value" is a table's history. Every state that the table ever had is a
*prefix* of the log: the records of each partition up to some offset, and of these the newest one per key.

::

    offset      0     1     2     3     4     5
    key         N1    N2    N1    N3    N2    N1        end 3:   N1 → b, N2 → a
    value       a     a     b     a     ∅     c         end 5:   N1 → b, N3 → a       N2 has been deleted
    timestamp  10    11    12    16    13    17         end 6:   N1 → c, N3 → a

Offsets order the records of a partition; timestamps are the producers' and may go back. A record that comes late, like
number 4 here, is in no state before its offset, however old its timestamp. After a compaction older states lack what
the cleaner has removed, but the current one is unchanged.

DataFrames of records have the source's columns ``key``, ``value``, ``partition``, ``offset`` and ``timestamp``, and are
of one topic.

Kafka 0.10.2: core/.../log/LogCleaner.scala · book 6.1.6
"""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

NEWEST = ("value", "offset", "timestamp")


def ends_at(records: DataFrame, time: datetime) -> DataFrame:
    """Where each partition's log ended at ``time``: one row per partition, ``partition`` and ``end``.

    ``end`` is the offset of the first record, by offset, whose timestamp is *later* than ``time``; if there is none, it
    is the offset after the last record. These are the offsets that a consumer gets from ``offsets_for_times`` for the
    next millisecond. ``time`` must have a time zone.
    """
    later = F.when(F.col("timestamp") > F.lit(time), F.col("offset"))
    return records.groupBy("partition").agg(F.coalesce(F.min(later), F.max("offset") + 1).alias("end"))


def up_to(records: DataFrame, ends: DataFrame) -> DataFrame:
    """The records before the ends: those with ``offset < end``. ``ends`` has ``partition`` and ``end``.

    A partition that has no row in ``ends`` did not exist yet, so none of its records are returned. The columns are
    those of ``records``.
    """
    return records.join(F.broadcast(ends), "partition").where(F.col("offset") < F.col("end")).select(*records.columns)


def newest_per_key(records: DataFrame) -> DataFrame:
    """The newest record of every key: one row per ``partition`` and ``key``, with ``value``, ``offset``, ``timestamp``.

    The newest one is that with the highest offset, whatever the timestamps are. Offsets of different partitions cannot
    be compared: a key that is in two partitions, because partitions were added to the topic, has a row for each.
    Deletions are records like any other; their ``value`` is null.
    """
    newest = F.max_by(F.struct(*NEWEST), "offset")
    return records.groupBy("partition", "key").agg(newest.alias("newest")).select("partition", "key", "newest.*")


def table_of(records: DataFrame) -> DataFrame:
    """The table that these records lead to: ``newest_per_key`` without the keys that are deleted.

    A key is deleted if its newest record is a tombstone: its ``value`` is null. An empty value is a value.
    """
    return newest_per_key(records).where(F.col("value").isNotNull())


def table_at(records: DataFrame, time: datetime) -> DataFrame:
    """The table as it was at ``time``."""
    return table_of(up_to(records, ends_at(records, time)))


def changes_between(before: DataFrame, after: DataFrame) -> DataFrame:
    """The changes from one table to another: ``partition``, ``key``, ``change``, ``old_value``, ``new_value``.

    ``change`` is ``added``, ``removed`` or ``changed``. A key whose value is the same in both has no row, even if it
    was written again. The tables have one row per partition and key, and no null values, as ``table_of`` makes them.
    """
    old = before.select("partition", "key", F.col("value").alias("old_value"))
    new = after.select("partition", "key", F.col("value").alias("new_value"))
    change = (
        F.when(F.col("old_value").isNull(), "added").when(F.col("new_value").isNull(), "removed").otherwise("changed")
    )
    return (
        old.join(new, ["partition", "key"], "full")
        .where(~F.col("old_value").eqNullSafe(F.col("new_value")))
        .select("partition", "key", change.alias("change"), "old_value", "new_value")
    )
