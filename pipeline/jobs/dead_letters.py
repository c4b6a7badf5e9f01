"""Turns records that are no events into dead letters, which say where they lay and what is wrong with them.

Kafka 0.10.2: later addition: connect/runtime/.../errors/DeadLetterQueueReporter.java (2.0) · book 8.1
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from pipeline.events import EVENT_ID
from pipeline.jobs.record_headers import headers

ERROR, ERROR_TOPIC, ERROR_PARTITION, ERROR_OFFSET = "error", "error-topic", "error-partition", "error-offset"
"""Headers of a dead letter."""


def dead_letters(parsed: DataFrame) -> DataFrame:
    """The rows of ``parse`` with an error, as records: key, value and timestamp unchanged, our headers before theirs.

    Our headers are the id, the error, and the topic, partition and offset of the record, in this order. The id of a
    dead letter is the position of the record (``flights/3/1207``), as a broken record may have no id.
    """
    position = F.concat_ws("/", "topic", "partition", "offset")
    ours = {
        EVENT_ID: position,
        ERROR: F.col("error"),
        ERROR_TOPIC: F.col("topic"),
        ERROR_PARTITION: F.col("partition").cast("string"),
        ERROR_OFFSET: F.col("offset").cast("string"),
    }
    theirs = F.coalesce("headers", F.array().cast("array<struct<key:string,value:binary>>"))
    return parsed.where("error IS NOT NULL").select(
        "key", "value", "timestamp", F.concat(headers(ours), theirs).alias("headers")
    )
