"""Shared by the readers of streaming queries: where a query starts, and which ranges make up a micro-batch.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaMicroBatchStream.scala · book 4.4.2
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.spark.cluster_client import ClusterClient
from kafka_lite.spark.offsets import PartitionOffsets, from_json_object, to_json_object
from kafka_lite.spark.options import ReadOptions
from kafka_lite.spark.reading.data_loss import data_loss_reporter
from kafka_lite.spark.reading.offset_reader import OffsetReader
from kafka_lite.spark.reading.planner import stream_ranges
from kafka_lite.spark.reading.range_reader import KafkaInputPartition, open_client, read_range
from kafka_lite.spark.reading.range_splitter import RangeSplitter

OffsetJson = dict[str, dict[str, int]]
"""Offsets in the checkpoint's format: ``{"flights": {"0": 23, "1": 17}}``."""


class MicroBatchReader(DataSourceStreamReader):
    """One per running query, in a Python process of the driver; only ``read`` runs in the tasks.

    Spark tracks the query's progress and passes in the offsets of its checkpoint. Method names are PySpark's.
    """

    def __init__(self, options: ReadOptions, time: Time = SYSTEM_TIME) -> None:
        self._options = options
        self._time = time
        self._report = data_loss_reporter(options.fail_on_data_loss)
        self._client: ClusterClient | None = None

    @property
    def _offsets(self) -> OffsetReader:
        return OffsetReader(self._opened_client(), self._options, self._time)

    def _opened_client(self) -> ClusterClient:
        # Opened lazily, because this object is also sent to the tasks.
        if self._client is None:
            self._client = open_client(self._options, "driver")
        return self._client

    def initialOffset(self) -> OffsetJson:  # noqa: N802
        """The start of a query that has no checkpoint."""
        offsets = self._offsets
        return to_json_object(offsets.resolve(self._options.starting, offsets.partitions(), is_start=True))

    def partitions(self, start: OffsetJson, end: OffsetJson) -> list[InputPartition]:
        """The tasks of one micro-batch, which may be a repeated one after a restart."""
        begin, until = from_json_object(start), from_json_object(end)
        new = until.keys() - begin.keys()
        ranges = stream_ranges(begin, until, self._earliest_of(new) if new else {}, self._report)
        pieces = RangeSplitter(self._options, self._offsets).split(ranges)
        return [KafkaInputPartition(offset_range) for offset_range in pieces]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Arrow record batches of one range."""
        assert isinstance(partition, KafkaInputPartition)
        return read_range(self._options, partition.offset_range)

    def stop(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()

    def _earliest_of(self, partitions: Set[TopicPartition]) -> PartitionOffsets:
        offsets = self._offsets
        return offsets.earliest(partitions & offsets.existing_partitions(partitions))
