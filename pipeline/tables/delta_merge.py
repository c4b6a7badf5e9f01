"""A topic of changes as a Delta table: MERGE by key, each batch once, and every state that the table has had.

A Delta table is a folder of Parquet files and a log with a JSON file for each version: which files belong
to the table from now on, and which no more. A MERGE compares changes with rows by a key, writes new files for what is
different, and commits them with one file of the log: readers see all of a batch or nothing. That file can also say
which batch of which query it was, so that a batch that comes again is recognised::

    records of a batch          changes(records)          merge_changes                  the table
    offset key  value           key  value offset
      7    UA   early     ┐
      9    UA   late      ┘──▶  UA   late     9    ──▶    offset is greater: update      UA  late   9
      8    B6   (null)    ───▶  B6   null     8    ──▶    no value: delete
     10    DL   new       ───▶  DL   new     10    ──▶    no such row: insert            DL  new   10

The table is written by delta-rs (the package ``deltalake``), which needs no Java; Spark with Delta's jar, DuckDB, Trino
and others read the same folder.

Kafka 0.10.2: the log compaction that keeps such topics small is core/.../log/LogCleaner.scala · book 6.1.6
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

SCHEMA = pa.schema([("key", pa.string()), ("value", pa.string()), ("partition", pa.int32()), ("offset", pa.int64())])
"""A row is the newest value of a key, and where its record is in the topic."""


def create_table(folder: str) -> DeltaTable:
    """The Delta table in this folder; a new one without rows if there is none."""
    return DeltaTable.create(folder, SCHEMA, mode="ignore")


def changes(records: DataFrame) -> DataFrame:
    """The last change of each key: ``key``, ``value`` (strings), ``partition``, ``offset``, one row per key.

    ``records`` are those of a batch, as ``format("kafka_lite")`` reads them, in any order. All records of a key are in
    one partition, so the last one has the largest offset. Null as its value means that the key was deleted. Records
    without a key change nothing.
    """
    last = F.max_by(F.struct("value", "partition", "offset"), "offset").alias("last")
    of_keys = records.where(F.col("key").isNotNull()).groupBy("key").agg(last)
    value = F.col("last.value").cast("string").alias("value")
    return of_keys.select(F.col("key").cast("string"), value, "last.partition", "last.offset")


def merge_changes(table: DeltaTable, changed: pa.Table, commit: CommitProperties | None = None) -> dict[str, Any]:
    """Apply changes to the table in one commit with these properties; returns the metrics of the MERGE.

    ``changed`` has the columns of ``SCHEMA`` and at most one row per key. A change counts only if its offset is greater
    than the row's: then the row is deleted if the change has no value, and otherwise replaced. A key that is not in
    the table becomes a row if the change has a value. All other rows stay as they are.
    """
    newer = "source.offset > target.offset"
    merge = table.merge(
        changed, "target.key = source.key", source_alias="source", target_alias="target", commit_properties=commit
    )
    return (
        merge.when_matched_delete(f"{newer} AND source.value IS NULL")
        .when_matched_update_all(newer)
        .when_not_matched_insert_all("source.value IS NOT NULL")
        .execute()
    )


def batch_merger(folder: str, application: str) -> Callable[[DataFrame, int], None]:
    """A function for ``foreachBatch`` that applies each batch of records to the table in this folder once.

    The commit of a batch has the transaction ``Transaction(application, batch id)``. Spark gives a batch again after a
    failure, with the same id: a batch whose id is not above ``table.transaction_version(application)`` is left out.
    That is None before the first batch. The version is read from the folder in each batch: another process may have
    written there meanwhile.
    """

    def merge_batch(records: DataFrame, batch_id: int) -> None:
        table = DeltaTable(folder)
        done = table.transaction_version(application)
        if done is None or batch_id > done:
            commit = CommitProperties(app_transactions=[Transaction(application, batch_id)])
            merge_changes(table, changes(records).toArrow(), commit)

    return merge_batch


def as_frame(spark: SparkSession, folder: str, version: int | None = None) -> DataFrame:
    """The table as it is, or as it was in a version; a new table has version 0, and each commit adds one."""
    return spark.createDataFrame(DeltaTable(folder, version=version).to_pyarrow_table())


def compact_if_many(table: DeltaTable, most: int) -> int:
    """Put small files together if the table has more than ``most`` files; returns how many were put together.

    Each MERGE writes new files, and a query opens all of them. ``table.optimize.compact()`` writes their rows into few
    large ones, in a version of its own; its metrics have ``numFilesRemoved``. The old files stay for the old versions.
    """
    if len(table.file_uris()) <= most:
        return 0
    removed: int = table.optimize.compact()["numFilesRemoved"]
    return removed
