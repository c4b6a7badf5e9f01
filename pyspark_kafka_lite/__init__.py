"""Makes ``format("kafka_lite")`` known to every Spark session of an environment in which kafka_lite is installed.

Spark imports the top-level modules named ``pyspark_*`` when it first looks for a format, and takes their
``DefaultSource``. So this module imports PySpark only: a session that reads no topic does not pay for numpy and Arrow,
and if something is missing, the session still serves the user's other formats; the error comes when the format is used.

Spark 4.0: python/pyspark/sql/worker/lookup_data_sources.py · book 1.1
"""

from __future__ import annotations

import sys
from typing import Any

from pyspark.sql.datasource import DataSource


class KafkaSource(DataSource):
    """``format("kafka_lite")``: delegates to ``kafka_lite.spark.source_provider``, imported on first use.

    If a session registers this class, it is pickled by value (see ``kafka_lite.spark.source``). So it also reaches a
    worker whose Python has no kafka_lite, and can say there what to do.
    """

    registered_by = sys.executable
    """The Python of the process that registered the class."""

    @classmethod
    def name(cls) -> str:
        """The name for ``format(...)``."""
        return "kafka_lite"

    def schema(self) -> Any:
        """The schema for reading; written rows may have other columns."""
        return self._provider().schema()

    def reader(self, schema: Any) -> Any:
        """The reader of ``spark.read``."""
        return self._provider().reader(schema)

    def streamReader(self, schema: Any) -> Any:  # noqa: N802
        """The reader of ``spark.readStream``."""
        return self._provider().stream_reader(schema)

    def writer(self, schema: Any, overwrite: bool) -> Any:
        """The writer of ``df.write``."""
        return self._provider().writer(schema, overwrite)

    def streamWriter(self, schema: Any, overwrite: bool) -> Any:  # noqa: N802
        """The writer of ``df.writeStream``."""
        return self._provider().stream_writer(schema, overwrite)

    def _provider(self) -> Any:
        """The part that needs kafka_lite and its extra. Raises ImportError with advice if one of them is missing."""
        try:
            from kafka_lite.spark.source_provider import KafkaSourceProvider
        except ModuleNotFoundError as error:
            if error.name != "kafka_lite":
                raise
            raise ImportError(
                f"format('kafka_lite'): the Python of Spark's workers, {sys.executable}, has no kafka_lite. Set "
                f"PYSPARK_PYTHON={self.registered_by} before the session starts; on a cluster, install kafka_lite's "
                "extra spark into the Python of every worker"
            ) from None
        return KafkaSourceProvider(self.options)


DefaultSource = KafkaSource
