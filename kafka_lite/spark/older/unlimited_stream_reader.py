"""Plans micro-batches for PySpark 4.0 and 4.1, where each one reads all that is there.

Spark 4.0: python/pyspark/sql/datasource.py (DataSourceStreamReader) · book 4.4.2
"""

from __future__ import annotations

from kafka_lite.spark.offsets import SparkOptionError, to_json_object
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

    def latestOffset(self) -> OffsetJson:  # type: ignore[override]  # noqa: N802
        """The ends of the logs."""
        offsets = self._offsets
        return to_json_object(offsets.latest(offsets.existing_partitions()))
