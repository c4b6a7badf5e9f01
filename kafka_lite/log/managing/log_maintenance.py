"""Background tasks of the logs: retention, flushes, checkpoints, expiry, deletion.

Kafka 0.10.2: core/.../log/LogManager.scala (startup, cleanupLogs, flushDirtyLogs, deleteLogs) · book 6.1.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kafka_lite.common.errors import ApiError
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.log.cleaning.log_cleaner_manager import LogCleanerManager
from kafka_lite.log.dirs.log_dirs import LogDirs
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import MAX_LONG
from kafka_lite.log.managing.log_offset_checkpoints import LogOffsetCheckpoints

logger = logging.getLogger(__name__)

INITIAL_TASK_DELAY_MS = 30_000


@dataclass(frozen=True)
class MaintenancePeriods:
    """How often each task runs, ms; MAX_LONG means never."""

    retention_ms: int = 300_000
    flush_ms: int = MAX_LONG
    recovery_points_ms: int = 60_000
    start_offsets_ms: int = 60_000
    producer_expiration_ms: int = 600_000


class LogMaintenance:
    """The tasks, each of which goes through all logs; an error in one log does not affect the others.

    Compacted logs are left to the LogCleaner, including their retention. A directory that is offline is left alone.
    """

    def __init__(
        self,
        logs: Callable[[], list[Log]],
        copies: Callable[[], list[Log]],
        dirs: LogDirs,
        checkpoints: LogOffsetCheckpoints,
        cleaner_manager: LogCleanerManager | None,
        scheduler: Scheduler,
        time: Time,
        periods: MaintenancePeriods,
    ) -> None:
        """``copies``: of logs that are being moved to another directory."""
        self._logs = logs
        self._copies = copies
        self._dirs = dirs
        self._checkpoints = checkpoints
        self._cleaner_manager = cleaner_manager
        self._scheduler = scheduler
        self._time = time
        self._periods = periods

    def startup(self) -> None:
        """Schedule all tasks but deletion."""
        periods = self._periods
        self._schedule("kafka-log-retention", self.cleanup_logs, periods.retention_ms)
        self._schedule("kafka-log-flusher", self.flush_dirty_logs, periods.flush_ms)
        recovery_points, start_offsets = self.checkpoint_recovery_point_offsets, self.checkpoint_log_start_offsets
        self._schedule("kafka-recovery-point-checkpoint", recovery_points, periods.recovery_points_ms)
        self._schedule("kafka-log-start-offset-checkpoint", start_offsets, periods.start_offsets_ms)
        self._schedule("producer-expiration", self.remove_expired_producers, periods.producer_expiration_ms)

    def _schedule(self, name: str, task: Callable[[], None], period_ms: int) -> None:
        if period_ms < MAX_LONG:
            self._scheduler.schedule(name, task, INITIAL_TASK_DELAY_MS, period_ms)

    def cleanup_logs(self) -> None:
        """Delete old segments of all logs that are not compacted."""
        manager = self._cleaner_manager
        if manager is None:
            logs = [log for log in self._logs() if not log.config.compact]
            deleted = sum(self._for_each("retention", Log.delete_old_segments, logs))
        else:
            paused = manager.pause_cleaning_for_non_compacted_partitions()
            try:
                deleted = sum(self._for_each("retention", Log.delete_old_segments, paused.values()))
            finally:
                manager.resume_cleaning(paused)
        logger.debug("Log cleanup completed, %d segments deleted", deleted)

    def flush_dirty_logs(self) -> None:
        """Flush the logs whose flush.ms has elapsed."""

        def flush_if_due(log: Log) -> None:
            if self._time.milliseconds() - log.local.last_flushed_ms >= log.config.flush_ms:
                log.flush()

        self._for_each("flush", flush_if_due, self._logs() + self._copies())

    def remove_expired_producers(self) -> None:
        """Remove inactive producers from all logs."""
        self._for_each("expiry of producers", lambda log: log.derived_state.remove_expired_producers(), self._logs())

    def _for_each(self, task: str, run: Callable[[Log], int | None], logs: Iterable[Log]) -> list[int]:
        results = []
        for log in logs:
            try:
                results.append(run(log) or 0)
            except ApiError as error:
                logger.error("Error in %s of %s: %s", task, log.topic_partition, error)
        return results

    def checkpoint_recovery_point_offsets(self) -> None:
        """Write the recovery points of all live directories."""
        for directory in self._dirs.live:
            self._checkpoints.write_recovery_points(directory)

    def checkpoint_log_start_offsets(self) -> None:
        """Write the log start offsets of all live directories."""
        for directory in self._dirs.live:
            self._checkpoints.write_log_start_offsets(directory)

    def delete_later(self, log: Log) -> None:
        """Delete the files of a log, whose directory has been renamed, after ``file.delete.delay.ms``."""

        def delete() -> None:
            try:
                log.delete()
                logger.info("Deleted log for partition %s in %s", log.topic_partition, log.dir)
            except ApiError:
                logger.exception("Cannot delete %s; trying again later", log)
                if self._dirs.is_online(log.dir.parent):
                    self.delete_later(log)

        self._scheduler.schedule("kafka-delete-logs", delete, log.config.file_delete_delay_ms)
