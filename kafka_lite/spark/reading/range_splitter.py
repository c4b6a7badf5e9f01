"""Splits the offset ranges of a query into tasks: by the options' numbers of tasks, offsets and bytes.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaOffsetRangeCalculator.scala · book 4.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.spark.offsets import describe
from kafka_lite.spark.options import ReadOptions
from kafka_lite.spark.reading.offset_reader import OffsetReader
from kafka_lite.spark.reading.planner import OffsetRange, split

logger = logging.getLogger(__name__)


class RangeSplitter:
    """Applies ``minPartitions``, ``maxRecordsPerPartition`` and ``maxBytesPerPartition``."""

    def __init__(self, options: ReadOptions, offsets: OffsetReader) -> None:
        self._options = options
        self._offsets = offsets

    def split(self, ranges: Sequence[OffsetRange]) -> list[OffsetRange]:
        """The tasks. The cluster is only asked, for the sizes of the logs, if a task's bytes are limited."""
        limits = self._limits_by_size(ranges) if self._options.max_bytes_per_partition is not None else {}
        return split(ranges, self._options.min_partitions, self._options.max_records_per_partition, limits)

    def _limits_by_size(self, ranges: Sequence[OffsetRange]) -> dict[TopicPartition, int]:
        """How many offsets of each partition make up ``maxBytesPerPartition``, estimated from the log's average."""
        max_bytes = self._options.max_bytes_per_partition
        assert max_bytes is not None
        partitions = {each.topic_partition for each in ranges if each.size > 0}
        sizes = self._offsets.log_sizes(partitions)
        if untold := partitions - sizes.keys():
            logger.warning("The brokers do not tell the size of %s: maxBytesPerPartition is ignored", describe(untold))
        earliest, latest = self._offsets.earliest(sizes), self._offsets.latest(sizes)
        return {
            partition: max(max_bytes * (latest[partition] - earliest[partition]) // size, 1)
            for partition, size in sizes.items()
            if size > 0
        }
