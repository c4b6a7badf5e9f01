"""``spark.read.format("kafka_lite")``: the data source registered under that name.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaSourceProvider.scala · book 1.1

Schema and options are those of Spark's own Kafka source, so a job only has to change its format.
"""

from __future__ import annotations

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from kafka_lite.spark import options
from kafka_lite.spark.batch_reader import KafkaBatchReader
from kafka_lite.spark.offsets import SparkOptionError
from kafka_lite.spark.schema import spark_schema
from kafka_lite.spark.stream_reader import KafkaStreamReader
from kafka_lite.spark.writer import KafkaStreamWriter, KafkaWriter

FORMAT_NAME = "kafka_lite"


class KafkaSource(DataSource):
    """The entry point: Spark asks it for the schema and then for the reader or writer of the query.

    Method names and signatures are PySpark's.
    """

    @classmethod
    def name(cls) -> str:
        """The name for ``format(...)``."""
        return FORMAT_NAME

    def schema(self) -> StructType:
        """The schema for reading; written rows may have other columns."""
        return spark_schema(options.includes_headers(self.options))

    def reader(self, schema: StructType) -> KafkaBatchReader:
        """The reader of ``spark.read``."""
        self._refuse_other_schema(schema)
        return KafkaBatchReader(options.batch_options(self.options))

    def streamReader(self, schema: StructType) -> KafkaStreamReader:  # noqa: N802
        """The reader of ``spark.readStream``."""
        self._refuse_other_schema(schema)
        return KafkaStreamReader(options.stream_options(self.options))

    def writer(self, schema: StructType, overwrite: bool) -> KafkaWriter:
        """The writer of ``df.write``."""
        if overwrite:
            raise SparkOptionError("mode overwrite is not allowed: a topic is only ever appended to; use mode append")
        return KafkaWriter(options.write_options(self.options), schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> KafkaStreamWriter:  # noqa: N802
        """The writer of ``df.writeStream``; in complete mode (``overwrite``), every batch appends the whole result."""
        del overwrite
        return KafkaStreamWriter(options.write_options(self.options), schema)

    def _refuse_other_schema(self, schema: StructType) -> None:
        if schema != self.schema():
            raise SparkOptionError("Kafka source has a fixed schema and cannot be set with a custom one")
