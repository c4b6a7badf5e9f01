"""Plans the micro-batches of a streaming query in the driver, within the limits of its options and its trigger.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaMicroBatchStream.scala · book 4.4.2
"""

from __future__ import annotations

from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.spark.offsets import PartitionOffsets, from_json_object, to_json_object
from kafka_lite.spark.options import ReadOptions
from kafka_lite.spark.reading.micro_batch_reader import MicroBatchReader, OffsetJson
from kafka_lite.spark.reading.planner import rate_limit, waiting_offsets


class KafkaStreamReader(MicroBatchReader, SupportsTriggerAvailableNow):
    """The reader of PySpark 4.2, which says where the query is and how much it may read."""

    def __init__(self, options: ReadOptions, time: Time = SYSTEM_TIME) -> None:
        super().__init__(options, time)
        self._until: PartitionOffsets | None = None  # where the query ends, with Trigger.AvailableNow
        self._latest: PartitionOffsets = {}
        self._last_trigger_ms = 0.0

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The options' limit. PySpark has none with both bounds; the minimum is then read from the options."""
        if self._options.max_offsets_per_trigger is not None:
            return ReadMaxRows(self._options.max_offsets_per_trigger)
        if self._options.min_offsets_per_trigger is not None:
            return ReadMinRows(self._options.min_offsets_per_trigger)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Make the query end at the current ends of the logs."""
        self._until = self._offsets.latest_since({})

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

    def _target(self, begin: PartitionOffsets) -> PartitionOffsets:
        if self._until is None:
            return self._offsets.latest_since(begin)
        unsure = {partition: offset for partition, offset in begin.items() if self._until.get(partition, -1) < offset}
        if unsure:
            # Either a broker was new and did not know the end or the topic yet. Or the log has been truncated, or the
            # topic deleted or recreated: then the batch that goes back reports a loss.
            now = self._offsets.latest_since(unsure)
            self._until = {partition: end for partition, end in self._until.items() if partition not in unsure} | {
                partition: min(now[partition], offset) if partition in self._until else now[partition]
                for partition, offset in unsure.items()
                if partition in now
            }
        return self._until

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
