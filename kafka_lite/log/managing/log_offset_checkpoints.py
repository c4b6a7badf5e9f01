"""The recovery points and log start offsets of all logs, on disk.

Kafka 0.10.2: core/.../log/LogManager.scala (recoveryPointCheckpoints, checkpointRecoveryPointOffsets); since 0.11
checkpointLogStartOffsets · book 6.1.5
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.checkpoint_file import CheckpointFormatError
from kafka_lite.log.checkpoints.offset_checkpoint_file import (
    HIGH_WATERMARK_CHECKPOINT_FILE,
    LOG_START_OFFSET_CHECKPOINT_FILE,
    RECOVERY_POINT_CHECKPOINT_FILE,
    OffsetCheckpointFile,
)
from kafka_lite.log.log import Log

logger = logging.getLogger(__name__)

OnFailure = Callable[[Path, str, OSError], object]
"""Called with a directory whose file cannot be written, a message, and the error."""


class LogOffsetCheckpoints:
    """Two files in each log directory. Losing them costs time, not data: everything is then recovered from offset 0."""

    def __init__(self, all_logs: Callable[[], Iterable[Log]], on_failure: OnFailure) -> None:
        self._all_logs = all_logs
        self._on_failure = on_failure
        self._lock = threading.Lock()
        """One checkpoint at a time, because the scheduler and a deletion would use the same temporary file."""

    def read_recovery_points(self, directory: Path) -> dict[TopicPartition, int]:
        """Records below these offsets are on disk; empty if the file is missing or cannot be read."""
        return _read(OffsetCheckpointFile(directory / RECOVERY_POINT_CHECKPOINT_FILE), "recovery points")

    def read_log_start_offsets(self, directory: Path) -> dict[TopicPartition, int]:
        """The log start offsets that cannot be derived from the files; empty if they cannot be read."""
        return _read(OffsetCheckpointFile(directory / LOG_START_OFFSET_CHECKPOINT_FILE), "log start offsets")

    def read_high_watermarks(self, directory: Path) -> dict[TopicPartition, int]:
        """The high watermarks of the last run; empty if they cannot be read, of which the replica manager warns."""
        try:
            return OffsetCheckpointFile(directory / HIGH_WATERMARK_CHECKPOINT_FILE).read()
        except (CheckpointFormatError, OSError):
            return {}

    def write_recovery_points(self, directory: Path) -> None:
        """Checkpoint the recovery points, so that recovery need not read everything."""
        self._write(directory, RECOVERY_POINT_CHECKPOINT_FILE, lambda log: log.recovery_point)

    def write_log_start_offsets(self, directory: Path) -> None:
        """Checkpoint the log start offsets that differ from the first segment's base offset."""
        self._write(directory, LOG_START_OFFSET_CHECKPOINT_FILE, _noteworthy_start_offset)

    def _write(self, directory: Path, file_name: str, offset_of: Callable[[Log], int | None]) -> None:
        with self._lock:
            parent = str(directory)
            offsets = {log.topic_partition: offset_of(log) for log in self._all_logs() if log.parent_dir == parent}
            try:
                OffsetCheckpointFile(directory / file_name).write(
                    {tp: offset for tp, offset in offsets.items() if offset is not None}
                )
            except OSError as error:
                self._on_failure(directory, "Cannot write a checkpoint", error)


def _noteworthy_start_offset(log: Log) -> int | None:
    """The log start offset if it cannot be derived from the files."""
    return log.log_start_offset if log.log_start_offset > log.segments.first.base_offset else None


def _read(checkpoint: OffsetCheckpointFile, what: str) -> dict[TopicPartition, int]:
    try:
        return checkpoint.read()
    except (CheckpointFormatError, OSError) as error:
        logger.warning("Cannot read the %s; using 0 for all logs: %s", what, error)
        return {}
