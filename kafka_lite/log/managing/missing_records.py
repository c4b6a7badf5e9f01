"""Finds out at a start that records are missing which the checkpoints of the last run know.

Kafka 0.10.2: none; there a log whose files were cut or removed while the broker was down just ends earlier · book 6.1.5
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from kafka_lite.common.bounded_log import BoundedLog
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log import Log
from kafka_lite.record.record import CorruptRecordError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Checkpointed:
    """The end of each log, as far as the last run has written it down::

        first segment            active segment
        │─────────────│──────────│────────────────│  .  .  .  .  .  .  .  .  .  .  .│
                                                  log end offset    the larger of recovery point and high watermark
                                                  └──────── missing ────────────────┘

    Records below the *recovery point* had been flushed. Those below the *high watermark* had been read, perhaps, and
    acknowledged to producers with ``acks=all``.
    """

    recovery_points: Mapping[TopicPartition, int]
    high_watermarks: Mapping[TopicPartition, int]

    def end_of(self, topic_partition: TopicPartition) -> int:
        """The offset that the log's end cannot be below unless records are missing."""
        return max(self.recovery_points.get(topic_partition, 0), self.high_watermarks.get(topic_partition, 0))


def missing_records(log: Log, end: int) -> list[tuple[int, int]]:
    """The ranges of offsets that a loaded log lacks: first offset, and the one after the last.

    ``end`` is what ``Checkpointed`` knows. Between two segments no offset is missing, unless compaction removed it.
    """
    ranges = []
    segments = list(log.segments)
    if not log.config.compact:
        for segment, following in pairwise(segments):
            try:
                next_offset = segment.read_next_offset()
            except CorruptRecordError:
                next_offset = following.base_offset  # not missing: a reader gets the error
            if next_offset < following.base_offset:
                ranges.append((next_offset, following.base_offset))
    if log.log_end_offset < end:
        ranges.append((log.log_end_offset, end))
    return ranges


def tell_missing_records(logs: Mapping[TopicPartition, Log], checkpointed: Checkpointed) -> None:
    """Log an error for each log that lacks records, and for each whose folder is gone.

    A log that has records behind those that it lacks gets a mark: see ``truncate_at_gap``.
    A deletion writes the recovery points at once, but not the high watermarks: these say nothing about folders.
    """
    with BoundedLog(logger) as errors:
        for topic_partition, log in sorted(logs.items()):
            missing = missing_records(log, checkpointed.end_of(topic_partition))
            if missing and missing[0][0] < log.log_end_offset:
                log.gap_offset = missing[0][0]
            for first, end in missing:
                errors.log(
                    logging.ERROR,
                    "The log in %s lacks the records %d to %d, which it had before the last stop. Was a file cut or "
                    "removed? A follower fetches them again; if this broker leads the partition, nobody can read them",
                    log.dir,
                    first,
                    end - 1,
                )
        for topic_partition, end in sorted(checkpointed.recovery_points.items()):
            if end > 0 and topic_partition not in logs:
                errors.log(
                    logging.ERROR,
                    "The folder of %s is gone, with the records up to %d that it had before the last stop",
                    topic_partition,
                    end - 1,
                )


def truncate_at_gap(log: Log | None) -> None:
    """Cut a log off where it lacks records, so that its follower fetches these again, and those behind them.

    Not for a replica that is in sync: it could be elected before it has fetched what it had. Raises ApiError
    KAFKA_STORAGE_ERROR.
    """
    if log is None or log.gap_offset is None:
        return
    logger.warning("Truncating %s to offset %d, to fetch what it lacks from the leader", log.name, log.gap_offset)
    log.truncate_to(log.gap_offset)
    log.gap_offset = None
