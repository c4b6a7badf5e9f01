"""Writes the micro-batches of a streaming query to Kafka, at least once.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaStreamingWrite.scala · book 2.1.1
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import DataSourceStreamArrowWriter
from pyspark.sql.types import StructType

from kafka_lite.spark.options import WriteOptions
from kafka_lite.spark.writer import KafkaCommitMessage, make_producer, validate_schema, write_batches


class KafkaStreamWriter(DataSourceStreamArrowWriter):
    """The writer of streaming queries: ``df.writeStream``. A batch retried after a failure is written again."""

    def __init__(self, options: WriteOptions, schema: StructType) -> None:
        validate_schema(schema, options.topic)
        make_producer(options.producer)
        self._options = options

    def write(self, iterator: Iterator[Any]) -> KafkaCommitMessage:
        """Write the rows of one task of a micro-batch."""
        return write_batches(self._options, iterator)
