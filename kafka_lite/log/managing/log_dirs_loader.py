"""Loads all logs of a broker when it starts.

Kafka 0.10.2: core/.../log/LogManager.scala (loadLogs) · book 6.1.5
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.dirs.log_dirs import LogDirs, in_directory
from kafka_lite.log.loading.log_loader import Recovery
from kafka_lite.log.log import Log
from kafka_lite.log.log_file_utils import (
    CLEAN_SHUTDOWN_FILE,
    DELETE_DIR_SUFFIX,
    FUTURE_DIR_SUFFIX,
    is_log_dir,
    log_dir_name,
    parse_topic_partition_name,
)
from kafka_lite.log.managing.future_logs import FutureLogs
from kafka_lite.log.managing.log_offset_checkpoints import LogOffsetCheckpoints
from kafka_lite.log.managing.missing_records import Checkpointed, tell_missing_records

logger = logging.getLogger(__name__)

OpenLog = Callable[[Path, int, int, bool], Log]
"""Opens the log of a directory; takes its recovery point, its log start offset, and whether the last stop was clean."""


class LogDirsLoader:
    """Opens the logs in all live directories, each directory with ``threads_per_dir`` threads.

    ::

        topic-0/                    ──> logs
        topic-1.9f86d081…-future/   ──> future_logs, copies that are being moved to another directory
        old-0.5e8848…-delete/       ──> deleted, logs whose deletion was interrupted when the broker stopped
    """

    def __init__(
        self,
        dirs: LogDirs,
        checkpoints: LogOffsetCheckpoints,
        open_log: OpenLog,
        logs: dict[TopicPartition, Log],
        future_logs: FutureLogs,
        threads_per_dir: int,
        time: Time,
    ) -> None:
        """``load`` fills ``logs`` and ``future_logs``."""
        self._dirs = dirs
        self._checkpoints = checkpoints
        self._open_log = open_log
        self._logs = logs
        self._future_logs = future_logs
        self._threads_per_dir = threads_per_dir
        self._time = time
        self._lock = threading.Lock()
        self._recovery_points: dict[TopicPartition, int] = {}
        self.deleted: list[Log] = []
        """The logs whose files remain to be deleted."""

    def load(self) -> None:
        """Load all logs. A directory whose disk fails goes offline.

        Raises KafkaError if two directories have the same partition. Raises OSError, naming the directory, if the disk
        is full, or if there are too few file descriptors or too little memory.
        """
        started_ms = self._time.hi_res_ms()
        for directory in self._dirs.live:
            try:
                self._load_logs_in(directory)
            except OSError as error:
                if not self._dirs.fail(directory, "Error while loading the logs", error):
                    # Only some of its logs are loaded. The others would be created again, empty.
                    raise in_directory(error, directory) from error
        self._complete_replacements()
        self._tell_missing_records()
        took_ms = self._time.hi_res_ms() - started_ms
        logger.info("Loaded %d logs in %.0f ms", len(self._logs), took_ms)
        self._log_recovery(took_ms)

    def _load_logs_in(self, directory: Path) -> None:
        """Load one directory's logs, with num.recovery.threads.per.data.dir threads."""
        marker = directory / CLEAN_SHUTDOWN_FILE
        had_clean_shutdown = marker.exists()
        log_dirs = [path for path in sorted(directory.iterdir()) if path.is_dir() and is_log_dir(path)]
        if log_dirs and not had_clean_shutdown:
            logger.info("%s was not shut down cleanly: its unflushed logs will be recovered", directory)
        recovery_points = self._checkpoints.read_recovery_points(directory)
        self._recovery_points |= recovery_points
        start_offsets = self._checkpoints.read_log_start_offsets(directory)

        def load(log_dir: Path) -> None:
            partition = parse_topic_partition_name(log_dir)
            recovery_point, start_offset = recovery_points.get(partition, 0), start_offsets.get(partition, 0)
            self._add(self._open_log(log_dir, recovery_point, start_offset, had_clean_shutdown))

        with ThreadPoolExecutor(self._threads_per_dir, f"log-recovery-{directory.name}") as pool:
            for future in [pool.submit(load, log_dir) for log_dir in log_dirs]:
                future.result()
        # From now on, a crash must be detected.
        marker.unlink(missing_ok=True)

    def _add(self, log: Log) -> None:
        if log.dir.name.endswith(FUTURE_DIR_SUFFIX):
            self._future_logs.add(log)
            return
        with self._lock:
            if log.dir.name.endswith(DELETE_DIR_SUFFIX):
                self.deleted.append(log)
                return
            other = self._logs.setdefault(log.topic_partition, log)
        if other is not log:
            raise KafkaError(
                f"the log of {log.topic_partition} is in two directories, {other.dir} and {log.dir}: "
                "move one of them, most likely the older one, out of log.dirs"
            )

    def _complete_replacements(self) -> None:
        """Let complete copies replace logs that were already marked for deletion when a crash interrupted the move."""
        deleted = {log.topic_partition for log in self.deleted}
        for copy in self._future_logs.all():
            topic_partition = copy.topic_partition
            if topic_partition not in self._logs and topic_partition in deleted:
                self._future_logs.pop(topic_partition)
                copy.rename_dir(copy.dir.with_name(log_dir_name(topic_partition)))
                self._logs[topic_partition] = copy

    def _tell_missing_records(self) -> None:
        high_watermarks: dict[TopicPartition, int] = {}
        for directory in self._dirs.live:
            high_watermarks |= self._checkpoints.read_high_watermarks(directory)
        for log in self.deleted:
            self._recovery_points.pop(log.topic_partition, None)
        tell_missing_records(self._logs, Checkpointed(self._recovery_points, high_watermarks))

    def _log_recovery(self, took_ms: float) -> None:
        recovered = [log.recovery for log in self._logs.values() if log.recovery.segments]
        if recovered:
            total = sum(recovered, Recovery())
            logger.info(
                "Recovered %d logs after an unclean shutdown in %.1f s: %d segments, %d bytes read, %d bytes cut off",
                len(recovered),
                took_ms / 1000,
                total.segments,
                total.bytes_read,
                total.truncated_bytes,
            )
