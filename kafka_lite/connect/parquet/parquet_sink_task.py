"""Writes records into Parquet files, each of them exactly once · book 8.3.2"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from kafka_lite import __version__
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError, RetriableError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.api.sink_task import SinkTask
from kafka_lite.connect.parquet import parquet_sink_config as keys
from kafka_lite.connect.parquet.arrow_types import table_of
from kafka_lite.connect.parquet.parquet_files import ParquetFiles
from kafka_lite.connect.parquet.partition_batch import PartitionBatch
from kafka_lite.connect.parquet.partitioners import partitioner_of
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata

logger = logging.getLogger(__name__)

RETRY_BACKOFF_MS = 5000


class _Partition:
    """Its files, and its records that are not in one yet."""

    def __init__(self, files: ParquetFiles, batch: PartitionBatch) -> None:
        self.files = files
        self.batch = batch
        self.committed: int | None = None
        """The offset after the last record in a file."""


class ParquetSinkTask(SinkTask):
    """The names of files have the offsets of their records: a task continues after the last of them, wherever the
    consumer group's own offsets are. Records in memory are forgotten when a partition moves, and read again."""

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._values: dict[str, Any] = {}
        self._partitions: dict[TopicPartition, _Partition] = {}

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def start(self, props: Mapping[str, str]) -> None:
        """Take the configuration. Raises ConfigError."""
        self._values = values = keys.parquet_sink_config_def().parse(props)
        self._store, self._partitioner = keys.store_folder(values), partitioner_of(values)

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Continue after the files that there are. Raises ConnectError."""
        values = self._values
        for partition in partitions:
            files = ParquetFiles(self._store, values[keys.TOPICS_DIR], partition, values[keys.PARQUET_CODEC])
            opened = _Partition(files, PartitionBatch(values[keys.FLUSH_SIZE], values[keys.ROTATE_INTERVAL_MS]))
            try:
                opened.committed = files.recover()
            except (OSError, ValueError) as error:
                raise ConnectError(f"The files of {partition} cannot be read: {error}") from error
            if opened.committed is not None:
                opened.batch.starts_at(opened.committed)
                self.context.offset({partition: opened.committed})
            self._partitions[partition] = opened

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Collect the records, and write those that are due. Raises ConnectError, RetriableError."""
        for record in records:
            self._add(record)
        now_ms = self._time.hi_res_ms()
        for partition in self._partitions.values():
            if partition.batch.is_due(now_ms):
                self._commit(partition)

    def _add(self, record: SinkRecord) -> None:
        partition = self._partitions[TopicPartition(record.original_topic, record.original_kafka_partition or 0)]
        batch = partition.batch
        if batch.has(record.original_kafka_offset):
            return
        folder = self._folder(record)
        if folder is not None and batch.needs_commit_before(record):
            self._commit(partition)
        now_ms = self._time.hi_res_ms()
        batch.add(record, folder, now_ms)
        if batch.is_due(now_ms):
            self._commit(partition)

    def _folder(self, record: SinkRecord) -> str | None:
        """None for a record that no file gets."""
        try:
            if record.value is None:
                if self._values[keys.ON_NULL] == "ignore":
                    return None
                raise ConnectError(f"The record has no value, and {keys.ON_NULL}=fail")
            if not isinstance(record.value, Struct | Mapping):
                raise ConnectError(f"The record's value is a {type(record.value).__name__}: a file needs fields")
            return self._partitioner.folder_of(record)
        except ConnectError as error:
            reporter = self.context.errant_record_reporter
            if reporter is None:
                raise
            reporter.report(record, error)
            return None

    def _commit(self, partition: _Partition) -> None:
        batch = partition.batch
        try:
            tables = {folder: self._table(batch.schema, values) for folder, values in batch.values.items()}
        except pa.ArrowException as error:
            raise ConnectError(f"The values do not fit into a file: {error}") from error
        try:
            partition.files.commit(tables, batch.offsets)
        except OSError as error:  # a full disk may have room later
            self.context.timeout(RETRY_BACKOFF_MS)
            raise RetriableError(f"The files cannot be written: {error}") from error
        partition.committed = batch.offsets.last + 1
        logger.info("Wrote the offsets %d to %d into %d files", *batch.offsets, len(tables))
        batch.clear()

    def _table(self, schema: Schema | None, values: Sequence[Any]) -> pa.Table:
        """Without the columns that the folder has, unless there are no others."""
        table = table_of(schema, values)
        in_folder = [name for name in self._partitioner.columns if name in table.column_names]
        return table.drop_columns(in_folder) if len(in_folder) < table.num_columns else table

    def pre_commit(
        self, current_offsets: Mapping[TopicPartition, OffsetAndMetadata]
    ) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """Only what is in files. The group's offsets are for those who watch its lag."""
        return {
            each: OffsetAndMetadata(partition.committed)
            for each, partition in self._partitions.items()
            if each in current_offsets and partition.committed is not None
        }

    def close(self, partitions: Collection[TopicPartition]) -> None:
        """Forget what is not in files."""
        for partition in partitions:
            self._partitions.pop(partition, None)

    def stop(self) -> None:
        """There is nothing open."""
        self._partitions.clear()
