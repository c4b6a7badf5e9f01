"""The implementation of ``format("kafka_lite")``: the schema, and a reader or writer for each kind of query.

Schema and options are those of Spark's own Kafka source, so a job only has to change its format.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaSourceProvider.scala · book 1.1
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, DataSourceStreamWriter, DataSourceWriter
from pyspark.sql.types import StructType

from kafka_lite.spark import options
from kafka_lite.spark.offsets import SparkOptionError
from kafka_lite.spark.reading.batch_reader import KafkaBatchReader
from kafka_lite.spark.requirements import ADMISSION_CONTROL, STREAM_ARROW_WRITER, pyspark_has
from kafka_lite.spark.schema import spark_schema
from kafka_lite.spark.writer import KafkaWriter


class KafkaSourceProvider:
    """One query's schema, reader and writer, from its options."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._options = given

    def schema(self) -> StructType:
        """The schema for reading."""
        return spark_schema(options.includes_headers(self._options))

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of a batch query."""
        self._refuse_other_schema(schema)
        return KafkaBatchReader(options.batch_options(self._options))

    def stream_reader(self, schema: StructType) -> DataSourceStreamReader:
        """The reader of a streaming query; before PySpark 4.2, one that cannot limit its batches."""
        self._refuse_other_schema(schema)
        parsed = options.stream_options(self._options)
        if not pyspark_has(ADMISSION_CONTROL):
            from kafka_lite.spark.older.unlimited_stream_reader import UnlimitedStreamReader

            return UnlimitedStreamReader(parsed)
        from kafka_lite.spark.reading.stream_reader import KafkaStreamReader  # imports what only PySpark 4.2 has

        return KafkaStreamReader(parsed)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """The writer of a batch query."""
        if overwrite:
            raise SparkOptionError("mode overwrite is not allowed: a topic is only ever appended to; use mode append")
        return KafkaWriter(options.write_options(self._options), schema)

    def stream_writer(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """The writer of a streaming query; in complete mode (``overwrite``), every batch appends the whole result."""
        del overwrite
        parsed = options.write_options(self._options)
        if not pyspark_has(STREAM_ARROW_WRITER):
            from kafka_lite.spark.older.row_stream_writer import RowStreamWriter

            return RowStreamWriter(parsed, schema)
        from kafka_lite.spark.stream_writer import KafkaStreamWriter  # imports what only PySpark 4.1 has

        return KafkaStreamWriter(parsed, schema)

    def _refuse_other_schema(self, schema: StructType) -> None:
        if schema != self.schema():
            raise SparkOptionError("Kafka source has a fixed schema and cannot be set with a custom one")
