"""The lag of consumer groups over time: how far behind they were, in records and in time, and in which partition.

The lag of a group in a partition is the distance from its committed offset to the end of the log. Tools show the lag of
this moment. The lag of last night can be computed, too, because both ends of the distance are in topics: a record with
offset n shows that the log ended at n + 1 from its timestamp on, and the commits are in ``__consumer_offsets``
(``pipeline.tables.group_history``).

::

    time          09:00   09:05   09:10   09:15
    end              10      25      25      40      from the records
    committed         –      10      25      25      from the commits
    lag               –      15       0      15      –: nothing committed yet, so the lag is unknown

These are three tables without a common key: the times of records, of commits, and the times that are asked for. They
need an *as-of join*: for each asked time, the last event up to it. Spark has none for DataFrames, and a join on
``time <= time`` pairs every row with all rows before it. ``as_of`` puts events and asked times into one table, sorts it
once per key, and carries the last known value along.

Times are timestamps. DataFrames of ends have ``topic``, ``partition``, ``time``, ``end``; those of commits ``group``,
``topic``, ``partition``, ``time``, ``committed``; those of asked times one column, ``time``.

Kafka 0.10.2: core/.../admin/ConsumerGroupCommand.scala · book 4.4.3
"""

from __future__ import annotations

from datetime import datetime, timedelta

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

PARTITION = ["topic", "partition"]
OF_GROUP = ["group", *PARTITION]


def ends_over_time(records: DataFrame) -> DataFrame:
    """Where each log ended, from when on: ``topic``, ``partition``, ``time``, ``end``, one row per partition and time.

    A record with offset n shows that the log ended at n + 1 or later from its ``timestamp`` on. Timestamps may go back
    from one offset to the next, but an end never does: at each time it is the greatest end that is shown by then.
    ``records`` has the source's columns.
    """
    shown = records.groupBy(*PARTITION, F.col("timestamp").alias("time")).agg((F.max("offset") + 1).alias("end"))
    by_then = Window.partitionBy(*PARTITION).orderBy("time").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return shown.withColumn("end", F.max("end").over(by_then))


def commits_over_time(commits: DataFrame) -> DataFrame:
    """The offsets of each group over time: ``group``, ``topic``, ``partition``, ``time``, ``committed``.

    ``commits`` has the columns of ``group_history.commits``. Of several records of one millisecond only the last in the
    log has a row: the one with the highest ``log_offset``. A commit may go back, for example if a group is reset. The
    deletion of an offset is an event, too: from then on ``committed`` is null.
    """
    last = F.max_by("committed_offset", "log_offset")
    return commits.groupBy(*OF_GROUP, "time").agg(last.alias("committed"))


def every(spark: SparkSession, interval: timedelta, first: datetime, last: datetime) -> DataFrame:
    """The times to ask for: ``first``, and then one per interval up to ``last``, inclusive."""
    step = F.expr(f"make_dt_interval(0, 0, 0, {interval.total_seconds()})")
    return spark.range(1).select(F.explode(F.sequence(F.lit(first), F.lit(last), step)).alias("time"))


def as_of(times: DataFrame, events: DataFrame, key: list[str], value: str) -> DataFrame:
    """For every time, and every key that ``events`` has: ``time``, the key's columns, and the value at that time.

    This is the value of the last event of the key whose ``time`` is not later, even if the value is null; null if there
    was no event yet. An event at exactly the asked time counts. ``events`` has one row per key and time, and ``times``
    has each time once.
    """
    asked = times.crossJoin(events.select(*key).distinct()).withColumn("asked", F.lit(True))
    everything = asked.unionByName(events.select(*key, "time", value), allowMissingColumns=True)
    up_to_then = Window.partitionBy(*key).orderBy("time").rangeBetween(Window.unboundedPreceding, Window.currentRow)
    last = F.max_by(value, F.when(F.col("asked").isNull(), F.col("time"))).over(up_to_then)
    return everything.withColumn(value, last).where("asked").select("time", *key, value)


def lag_over_time(times: DataFrame, ends: DataFrame, commits: DataFrame) -> DataFrame:
    """The lag of each group at each time: ``time``, the columns OF_GROUP, ``end``, ``committed`` and ``lag``.

    There is a row for each partition that a group has ever committed. ``committed`` and ``lag`` are null before the
    first commit and after the deletion of the offset. ``end`` is 0 if the log has no record by then. ``lag`` is never
    negative, although a commit may be older than the record that shows the end which it has reached.
    """
    committed = as_of(times, commits, OF_GROUP, "committed")
    end = as_of(times, ends, PARTITION, "end")
    joined = committed.join(end, ["time", *PARTITION], "left").withColumn("end", F.coalesce("end", F.lit(0)))
    lag = F.when(F.col("committed").isNotNull(), F.greatest(F.col("end") - F.col("committed"), F.lit(0)))
    return joined.select("time", *OF_GROUP, "end", "committed", lag.alias("lag"))


def lag_of_groups(lag: DataFrame) -> DataFrame:
    """The lag of each group at each time, over all its partitions: ``time``, ``group``, ``lag``, ``worst_topic``,
    ``worst_partition``, ``worst_lag``, ``unknown``.

    ``lag`` is the sum of what is known, and null if nothing is. The worst partition is the one with the highest lag,
    and of equals the last by topic and partition; null if nothing is known. ``unknown`` counts the partitions whose lag
    is null.
    """
    known = F.when(F.col("lag").isNotNull(), F.struct("lag", *PARTITION))
    summed = lag.groupBy("time", "group").agg(
        F.sum("lag").alias("lag"), F.max(known).alias("worst"), F.count_if(F.col("lag").isNull()).alias("unknown")
    )
    return summed.select(
        "time",
        "group",
        "lag",
        F.col("worst.topic").alias("worst_topic"),
        F.col("worst.partition").alias("worst_partition"),
        F.col("worst.lag").alias("worst_lag"),
        "unknown",
    )


def time_lag(lag: DataFrame, records: DataFrame) -> DataFrame:
    """How old the records are that a group has not read: the columns of ``lag_over_time``, and ``behind_ms``.

    ``behind_ms`` is the time since the timestamp of the first record that the group has not read, the one with offset
    ``committed``. It is 0 if the lag is 0, and null if the lag is unknown or the record is no longer in the log. Ten
    records may be a second or a week.
    """
    waiting = records.select(*PARTITION, F.col("offset").alias("committed"), F.col("timestamp").alias("written"))
    age_ms = F.unix_millis("time") - F.unix_millis("written")
    behind = F.when(F.col("lag") == 0, F.lit(0)).otherwise(F.when(F.col("lag").isNotNull(), age_ms))
    return lag.join(waiting, [*PARTITION, "committed"], "left").select(*lag.columns, behind.alias("behind_ms"))
