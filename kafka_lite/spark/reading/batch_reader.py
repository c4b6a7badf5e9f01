"""Plans a batch query in the driver and reads its offset ranges in the tasks.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaBatch.scala · book 4.1.2
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from kafka_lite.spark.offsets import SpecificOffsets
from kafka_lite.spark.options import ReadOptions
from kafka_lite.spark.reading.data_loss import data_loss_reporter
from kafka_lite.spark.reading.offset_reader import OffsetReader
from kafka_lite.spark.reading.planner import OffsetRange, batch_ranges
from kafka_lite.spark.reading.range_reader import KafkaInputPartition, open_client, read_range
from kafka_lite.spark.reading.range_splitter import RangeSplitter


class KafkaBatchReader(DataSourceReader):
    """Start and end are resolved once, when the query is planned; records appended later are not read."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options

    def partitions(self) -> list[InputPartition]:
        """One task per range; if there is none, PySpark creates one with ``InputPartition(None)``."""
        with open_client(self._options, "driver") as client:
            offsets = OffsetReader(client, self._options)
            pieces = RangeSplitter(self._options, offsets).split(self._ranges(offsets))
        return [KafkaInputPartition(offset_range) for offset_range in pieces]

    def _ranges(self, offsets: OffsetReader) -> list[OffsetRange]:
        partitions = offsets.partitions()
        start = offsets.resolve(self._options.starting, partitions, is_start=True)
        end = offsets.resolve(self._options.ending, partitions, is_start=False)
        # Only an end given as a number can be beyond the log end.
        latest = offsets.latest(partitions) if isinstance(self._options.ending, SpecificOffsets) else end
        return batch_ranges(start, end, latest, data_loss_reporter(self._options.fail_on_data_loss))

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Arrow record batches of one range."""
        if not isinstance(partition, KafkaInputPartition):  # the query has nothing to read
            return iter(())
        return read_range(self._options, partition.offset_range)
