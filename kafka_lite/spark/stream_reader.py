"""Plans the micro-batches of a streaming query in the driver and reads their offset ranges in the tasks.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaMicroBatchStream.scala · book 4.4.2
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.spark.cluster_client import ClusterClient
from kafka_lite.spark.data_loss import data_loss_reporter
from kafka_lite.spark.offset_reader import OffsetReader
from kafka_lite.spark.offsets import PartitionOffsets, from_json_object, to_json_object
from kafka_lite.spark.options import ReadOptions
from kafka_lite.spark.planner import rate_limit, split, stream_ranges, waiting_offsets
from kafka_lite.spark.range_reader import KafkaInputPartition, open_client, read_range

logger = logging.getLogger(__name__)

OffsetJson = dict[str, dict[str, int]]
"""Offsets in the checkpoint's format: ``{"flights": {"0": 23, "1": 17}}``."""


class KafkaStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """One per running query, in a Python process of the driver; only ``read`` runs in the tasks.

    Spark tracks the query's progress and passes in the offsets of its checkpoint. Method names are PySpark's.
    """

    def __init__(self, options: ReadOptions, time: Time = SYSTEM_TIME) -> None:
        self._options = options
        self._time = time
        self._report = data_loss_reporter(options.fail_on_data_loss)
        self._client: ClusterClient | None = None
        self._until: PartitionOffsets | None = None  # where the query ends, with Trigger.AvailableNow
        self._latest: PartitionOffsets = {}
        self._last_trigger_ms = 0.0

    @property
    def _offsets(self) -> OffsetReader:
        # Opened lazily, because this object is also sent to the tasks.
        if self._client is None:
            self._client = open_client(self._options, "driver")
        return OffsetReader(self._client, self._options, self._time)

    def initialOffset(self) -> OffsetJson:  # noqa: N802
        """The start of a query that has no checkpoint."""
        offsets = self._offsets
        return to_json_object(offsets.resolve(self._options.starting, offsets.partitions(), is_start=True))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The options' limit. PySpark has none with both bounds; the minimum is then read from the options."""
        if self._options.max_offsets_per_trigger is not None:
            return ReadMaxRows(self._options.max_offsets_per_trigger)
        if self._options.min_offsets_per_trigger is not None:
            return ReadMinRows(self._options.min_offsets_per_trigger)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Make the query end at the current ends of the logs."""
        offsets = self._offsets
        self._until = offsets.latest(offsets.existing_partitions())

    def latestOffset(self, start: OffsetJson, limit: ReadLimit) -> OffsetJson:  # noqa: N802
        """The end of the next micro-batch; ``start`` itself if there is none yet."""
        begin = from_json_object(start)
        self._latest = self._target(begin)
        # Spark passes ReadAllAvailable if a trigger must read everything, regardless of the options.
        if not isinstance(limit, ReadAllAvailable) and self._waits_for_more(begin):
            return start
        if isinstance(limit, ReadMaxRows):
            return to_json_object(rate_limit(limit.max_rows, self._with_new_partitions(begin), self._latest))
        return to_json_object(self._latest)

    def reportLatestOffset(self) -> OffsetJson | None:  # noqa: N802
        """The ends of the logs, for the progress report of the query."""
        return to_json_object(self._latest) or None

    def partitions(self, start: OffsetJson, end: OffsetJson) -> list[InputPartition]:
        """The tasks of one micro-batch, which may be a repeated one after a restart."""
        begin, until = from_json_object(start), from_json_object(end)
        new = until.keys() - begin.keys()
        ranges = stream_ranges(begin, until, self._earliest_of(new) if new else {}, self._report)
        cut = split(ranges, self._options.min_partitions, self._options.max_records_per_partition)
        return [KafkaInputPartition(offset_range) for offset_range in cut]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Arrow record batches of one range."""
        assert isinstance(partition, KafkaInputPartition)
        return read_range(self._options, partition.offset_range)

    def stop(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()

    def _target(self, begin: PartitionOffsets) -> PartitionOffsets:
        if self._until is not None:
            # A restarted query may be past the target, if a batch was planned but not finished: offsets must never go
            # back, or the query would not end.
            return {partition: max(offset, begin.get(partition, 0)) for partition, offset in self._until.items()}
        offsets = self._offsets
        return offsets.latest(offsets.existing_partitions())

    def _waits_for_more(self, begin: PartitionOffsets) -> bool:
        """``minOffsetsPerTrigger``: whether too few offsets are available and ``maxTriggerDelay`` has not passed."""
        least = self._options.min_offsets_per_trigger
        if least is None or self._until is not None:  # with AvailableNow, no more offsets will come
            return False
        now = self._time.hi_res_ms()
        enough = waiting_offsets(begin, self._latest) >= least
        if not enough and self._last_trigger_ms and now - self._last_trigger_ms < self._options.max_trigger_delay_ms:
            return True
        self._last_trigger_ms = now
        return False

    def _with_new_partitions(self, begin: PartitionOffsets) -> PartitionOffsets:
        """``begin``, plus the start offsets of partitions added since."""
        new = self._latest.keys() - begin.keys()
        return begin | self._earliest_of(new) if new else begin

    def _earliest_of(self, partitions: Any) -> PartitionOffsets:
        offsets = self._offsets
        return offsets.earliest(partitions & offsets.existing_partitions())
