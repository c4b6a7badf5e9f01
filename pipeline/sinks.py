"""Where results go: tables of Parquet files, exactly once, and topics, at least once with an id that shows doubles.

Spark 4.2: sql/core/.../streaming/sinks/FileStreamSink.scala, ForeachBatchSink.scala · book 10.3

Spark runs a batch again if it was killed before it entered the batch in the checkpoint's ``commits``. The input is the
same (``offsets`` was written first), and so is the result. Writing is exactly once if writing again changes nothing:

    table   batch n goes to the folder _writing-n, which is renamed to batch=n when it is whole. If batch=n is there
            already, n was committed before the kill, and the second copy is dropped
    topic   records cannot be taken back. The second copy is written, too, with the same ids; ``each_once`` drops it

Spark's own file sink is exactly once only for Spark: it leaves the files of killed attempts in the folder, and a list
of the valid ones in ``_spark_metadata``, which pandas and DuckDB do not read. These tables are read by everything.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow.dataset
from pyspark.sql import DataFrame

from kafka_lite.common.errors import KafkaError
from pipeline.events import EVENT_ID
from pipeline.jobs.record_headers import header

_OWNER = "_query-id"

Records = Callable[[DataFrame], DataFrame]
"""From rows to records: columns ``key``, ``value``, ``headers``, ``timestamp``."""


class ForeignTableError(KafkaError):
    """The table was written by a query with another checkpoint: its batch numbers do not continue ours."""


class ParquetTable:
    """A folder with a sub-folder of Parquet files for every batch that had rows.

    It must be on a file system that the driver and all workers see, with an atomic rename.
    """

    def __init__(self, folder: Path, checkpoint: Path) -> None:
        self.folder = folder
        self._checkpoint = checkpoint

    def write_batch(self, rows: DataFrame, batch_id: int) -> None:
        """Write and commit a batch; for ``foreachBatch``. Raises ``ForeignTableError`` before anything is written.

        The rows go to the folder ``_writing-<batch_id>``, which readers do not see, in place of what a killed attempt
        may have left there; then ``commit`` makes them visible. After a kill at any moment and a second run, the
        batch is in the table once. A batch that was committed before is computed again, although its rows are
        dropped: Spark needs the run for its state and the watermark.
        """
        self._claim()
        writing = self.folder / f"_writing-{batch_id}"
        rows.write.mode("overwrite").parquet(str(writing))
        self.commit(writing, batch_id)

    def commit(self, writing: Path, batch_id: int) -> None:
        """Make the folder visible as that batch, in one step: rename it to ``batch_folder``.

        A batch that is there already is not touched, and a batch without rows gets no folder: then ``writing`` is
        removed.
        """
        if self.batch_folder(batch_id).exists() or pyarrow.dataset.dataset(writing).count_rows() == 0:
            shutil.rmtree(writing)
        else:
            writing.rename(self.batch_folder(batch_id))

    def batch_folder(self, batch_id: int) -> Path:
        """Where a committed batch is."""
        return self.folder / f"batch={batch_id}"

    def _claim(self) -> None:
        """Write the query's id into the file ``_query-id`` of a new table, or compare it with that of an existing one.

        The id is the field ``id`` of the checkpoint's file ``metadata``, which is JSON. After a kill at any moment, the
        same query can claim the table. Raises ``ForeignTableError``, with the table's folder, for another one.
        """
        query_id = json.loads((self._checkpoint / "metadata").read_text(encoding="utf-8"))["id"]
        owner = self.folder / _OWNER
        if not owner.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            draft = self.folder / f"{_OWNER}-writing"
            draft.write_text(query_id, encoding="utf-8")
            draft.rename(owner)
        elif owner.read_text(encoding="utf-8") != query_id:
            raise ForeignTableError(f"{self.folder} belongs to another checkpoint than {self._checkpoint}: remove both")


class PublishedTable:
    """A table whose batches are also written to a topic, from the committed files."""

    def __init__(self, table: ParquetTable, bootstrap_servers: str, topic: str, to_records: Records) -> None:
        self.table = table
        self._options = {"kafka.bootstrap.servers": bootstrap_servers, "topic": topic}
        self._to_records = to_records

    def write_batch(self, rows: DataFrame, batch_id: int) -> None:
        """Write the batch to the table, then to the topic; for ``foreachBatch``.

        The topic gets the committed rows, read from the table's files: with ``to_records``, in append mode. A batch
        without rows has none. A batch that runs again is sent again: after a kill in between, it is in the table once
        and in the topic at least once.
        """
        self.table.write_batch(rows, batch_id)
        folder = self.table.batch_folder(batch_id)
        if folder.exists():
            committed = rows.sparkSession.read.parquet(str(folder))
            self._to_records(committed).write.format("kafka_lite").mode("append").options(**self._options).save()


def read_table(folder: Path) -> pd.DataFrame:
    """All rows of a table in pandas, with the number of their batch in the column ``batch``.

    Rows that are not committed are left out. An empty frame if nothing is committed yet, or there is no folder.
    """
    batches = sorted(folder.glob("batch=*"))
    if not batches:
        return pd.DataFrame()
    partitioning = pyarrow.dataset.partitioning(flavor="hive")
    table = pyarrow.dataset.dataset(folder, format="parquet", partitioning=partitioning).to_table()
    frame: pd.DataFrame = table.to_pandas()
    return frame


def each_once(records: DataFrame) -> DataFrame:
    """The records of a topic without those written again: one record for each id. For batch queries with headers.

    Adds the column ``event_id``: the first header of the name ``event-id``.
    """
    return records.withColumn("event_id", header(EVENT_ID)).dropDuplicates(["event_id"])
