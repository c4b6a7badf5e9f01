"""How far a streaming query is behind its topics, from its progress.

A data source written in Python cannot add to the ``metrics`` of a query's progress, as Spark's own connector does. But
the progress has the offsets of each source, from which these functions compute the same numbers.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaMicroBatchStream.scala (metrics) · book 4.4.2
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.spark.offsets import PartitionOffsets, from_json_object

MIN_BEHIND, MAX_BEHIND, AVG_BEHIND = "minOffsetsBehindLatest", "maxOffsetsBehindLatest", "avgOffsetsBehindLatest"


def progress_metrics(progress: Any, source: int = 0) -> dict[str, str]:
    """The metrics of the official connector, as text like there: the least, greatest and mean lag of the partitions.

    ``progress`` is a ``StreamingQueryProgress`` (``query.lastProgress``, ``event.progress``) or its JSON as a dict;
    ``source`` says which of the query's sources is meant. Empty if the progress has no newest offsets, as before the
    first batch, or if the source is another connector's.
    """
    lags = offsets_behind_latest(progress, source).values()
    if not lags:
        return {}
    return {MIN_BEHIND: str(min(lags)), MAX_BEHIND: str(max(lags)), AVG_BEHIND: str(sum(lags) / len(lags))}


def offsets_behind_latest(progress: Any, source: int = 0) -> dict[TopicPartition, int]:
    """The lag of each partition: how many offsets it has beyond the end of this batch.

    With ``Trigger.AvailableNow``, the latest offset is where the query will end. A partition that the batch did not
    know yet counts from offset 0.
    """
    latest, end = _offsets(progress, source, "latestOffset"), _offsets(progress, source, "endOffset")
    return {partition: max(offset - end.get(partition, 0), 0) for partition, offset in latest.items()}


def _offsets(progress: Any, source: int, name: str) -> PartitionOffsets:
    loaded = _field(_field(progress, "sources")[source], name)
    if isinstance(loaded, str):  # in the progress's own JSON, offsets are JSON too and not a text
        loaded = json.loads(loaded)
    if not isinstance(loaded, Mapping) or not all(
        isinstance(by_partition, Mapping) for by_partition in loaded.values()
    ):
        return {}
    return from_json_object(loaded)


def _field(owner: Any, name: str) -> Any:
    """A field of PySpark's progress objects, or of their JSON."""
    return owner.get(name) if isinstance(owner, Mapping) else getattr(owner, name)
