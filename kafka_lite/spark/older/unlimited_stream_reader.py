"""Plans micro-batches for PySpark 4.0 and 4.1, where each one reads all that is there.

Spark 4.0: python/pyspark/sql/datasource.py (DataSourceStreamReader) · book 4.4.2
"""

from __future__ import annotations

from kafka_lite.spark.offsets import PartitionOffsets, SparkOptionError, from_json_object, to_json_object
from kafka_lite.spark.options import ReadOptions
from kafka_lite.spark.reading.micro_batch_reader import MicroBatchReader, OffsetJson
from kafka_lite.spark.requirements import refuse_without_admission_control


class UnlimitedStreamReader(MicroBatchReader):
    """These versions ask for the newest offset without saying where the query is, so no limit can be applied.

    With ``Trigger.AvailableNow`` they ask once and read all of it in one batch.
    """

    def __init__(self, options: ReadOptions) -> None:
        for name, limit in (
            ("maxOffsetsPerTrigger", options.max_offsets_per_trigger),
            ("minOffsetsPerTrigger", options.min_offsets_per_trigger),
        ):
            if limit is not None:
                raise SparkOptionError(refuse_without_admission_control(name))
        super().__init__(options)
        self._reached: PartitionOffsets = {}

    def initialOffset(self) -> OffsetJson:  # noqa: N802
        """The start of a query that has no checkpoint."""
        start = super().initialOffset()
        self._reached = from_json_object(start)
        return start

    def latestOffset(self) -> OffsetJson:  # type: ignore[override]  # noqa: N802
        """The ends of the logs. After a restart, the topics that the options name are expected to be there."""
        self._reached = self._offsets.latest_since(self._reached)
        return to_json_object(self._reached)
