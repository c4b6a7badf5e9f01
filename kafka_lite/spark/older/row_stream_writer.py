"""Writes the micro-batches of a streaming query with PySpark 4.0, which hands over rows instead of Arrow batches.

Spark 4.0: python/pyspark/sql/datasource.py (DataSourceStreamWriter) · book 2.1.1
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.datasource import DataSourceStreamWriter
from pyspark.sql.types import StructType

from kafka_lite.spark.options import WriteOptions
from kafka_lite.spark.row_messages import COLUMN_TYPES
from kafka_lite.spark.writer import KafkaCommitMessage, make_producer, validate_schema, write_rows


class RowStreamWriter(DataSourceStreamWriter):
    """The writer of streaming queries: ``df.writeStream``. A batch retried after a failure is written again."""

    def __init__(self, options: WriteOptions, schema: StructType) -> None:
        validate_schema(schema, options.topic)
        make_producer(options.producer)
        self._options = options

    def write(self, iterator: Iterator[Row]) -> KafkaCommitMessage:
        """Write the rows of one task of a micro-batch."""
        return write_rows(self._options, (_columns(row) for row in iterator))


def _columns(row: Row) -> dict[str, Any]:
    """The columns by name, without nulls. Binary values come as ``bytearray``, which librdkafka does not take."""
    columns = row.asDict(recursive=True)
    for header in columns.get("headers") or ():
        if header is not None:
            header["value"] = _as_bytes(header["value"])
    return {name: _as_bytes(columns[name]) for name in COLUMN_TYPES if columns.get(name) is not None}


def _as_bytes(value: Any) -> Any:
    return bytes(value) if isinstance(value, bytearray) else value
