"""Manages all logs of a broker: opens them, maintains them in the background, closes them.

Kafka 0.10.2: core/.../log/LogManager.scala · book 6.1.5
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.checkpoint_file import CheckpointFormatError
from kafka_lite.log.checkpoints.offset_checkpoint_file import (
    LOG_START_OFFSET_CHECKPOINT_FILE,
    RECOVERY_POINT_CHECKPOINT_FILE,
    OffsetCheckpointFile,
)
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.cleaning.log_cleaner import LogCleaner
from kafka_lite.log.file_lock import FileLock
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import MAX_LONG, LogConfig
from kafka_lite.log.log_configs import LogConfigs
from kafka_lite.log.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.log_file_utils import (
    CLEAN_SHUTDOWN_FILE,
    DELETE_DIR_SUFFIX,
    is_log_dir,
    log_delete_dir_name,
    log_dir_name,
    parse_topic_partition_name,
)
from kafka_lite.log.log_loader import Recovery
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig

logger = logging.getLogger(__name__)

LOCK_FILE = ".lock"
INITIAL_TASK_DELAY_MS = 30_000
SPARE_FILES = 32
"""Creating a log requires this many free file descriptors."""


class LogManager:
    """The logs in one or more directories (``log.dirs``), normally one per disk.

    ::

        log.dirs       /disk1                                  /disk2
                       .lock                                   .lock
                       recovery-point-offset-checkpoint        recovery-point-offset-checkpoint
                       log-start-offset-checkpoint             log-start-offset-checkpoint
                       topic-0/  other-1/                      topic-1/
                       old-0.9f86d081…-delete/

    A new log goes to the directory with the fewest logs. The scheduler runs in the background:

    * retention      deletes old segments (log.retention.check.interval.ms)
    * flush          of the logs whose flush.ms has elapsed
    * checkpoints    of recovery points and log start offsets
    * expiry         of producers that have not written for producer.id.expiration.ms
    * deletion       of the files of deleted partitions

    Compacted logs are handled by the threads of the LogCleaner, including their retention.

    A directory whose disk fails goes offline: its logs are dropped, the others remain available.
    """

    def __init__(
        self,
        log_dirs: Sequence[Path],
        topic_configs: Mapping[str, LogConfig],
        default_config: LogConfig,
        scheduler: Scheduler,
        time: Time,
        *,
        recovery_threads_per_data_dir: int = 1,
        flush_check_ms: int = MAX_LONG,
        flush_recovery_offset_checkpoint_ms: int = 60_000,
        flush_start_offset_checkpoint_ms: int = 60_000,
        retention_check_ms: int = 300_000,
        producer_config: ProducerStateManagerConfig | None = None,
        producer_id_expiration_check_ms: int = 600_000,
        cleaner_config: CleanerConfig | None = None,
        log_dir_failure_channel: LogDirFailureChannel | None = None,
    ) -> None:
        """Compaction is disabled if ``cleaner_config`` is None or disables it."""
        self.log_dirs = list(log_dirs)
        self.configs = LogConfigs(default_config, topic_configs)
        self.log_dir_failure_channel = log_dir_failure_channel or LogDirFailureChannel()
        self._scheduler = scheduler
        self._time = time
        self._recovery_threads = recovery_threads_per_data_dir
        self._flush_check_ms = flush_check_ms
        self._recovery_point_checkpoint_ms = flush_recovery_offset_checkpoint_ms
        self._start_offset_checkpoint_ms = flush_start_offset_checkpoint_ms
        self._retention_check_ms = retention_check_ms
        self.producer_config = producer_config or ProducerStateManagerConfig()
        self._producer_id_expiration_check_ms = producer_id_expiration_check_ms
        self._lock = threading.RLock()
        """Guards creation and deletion; lookups read the map without it."""
        self._checkpoint_lock = threading.Lock()
        """One checkpoint at a time, because the scheduler and a deletion would use the same temporary file."""
        self._logs: dict[TopicPartition, Log] = {}
        self._live_dirs: list[Path] = []
        self._locks: dict[Path, FileLock] = {}
        self.cleaner: LogCleaner | None = None
        if cleaner_config is not None and cleaner_config.enable_cleaner:
            self.cleaner = LogCleaner(cleaner_config, self.log_dirs, self._logs, self.log_dir_failure_channel, time)

    # -- start -------------------------------------------------------------------------------------------------------

    def startup(self) -> None:
        """Lock the directories, load all logs, and start the background tasks.

        Raises KafkaError if a directory is locked by another broker, listed twice, or has a partition that another one
        also has, or if no directory is usable. Raises OSError, naming the directory, if the disk is full, or if there
        are too few file descriptors or too little memory to load its logs.
        """
        self._open_log_dirs()
        try:
            self._load_logs()
        except BaseException:
            self._unlock_all()
            raise
        self._schedule("kafka-log-retention", self.cleanup_logs, self._retention_check_ms)
        self._schedule("kafka-log-flusher", self.flush_dirty_logs, self._flush_check_ms)
        recovery_points, start_offsets = self.checkpoint_recovery_point_offsets, self.checkpoint_log_start_offsets
        self._schedule("kafka-recovery-point-checkpoint", recovery_points, self._recovery_point_checkpoint_ms)
        self._schedule("kafka-log-start-offset-checkpoint", start_offsets, self._start_offset_checkpoint_ms)
        self._schedule("producer-expiration", self.remove_expired_producers, self._producer_id_expiration_check_ms)
        if self.cleaner is not None:
            self.cleaner.startup()

    def _schedule(self, name: str, task: Callable[[], None], period_ms: int) -> None:
        if period_ms < MAX_LONG:
            self._scheduler.schedule(name, task, INITIAL_TASK_DELAY_MS, period_ms)

    def _open_log_dirs(self) -> None:
        """Create missing directories and take the locks; unusable directories go offline."""
        if len({directory.resolve() for directory in self.log_dirs}) < len(self.log_dirs):
            raise KafkaError(f"a directory is listed twice in log.dirs: {', '.join(map(str, self.log_dirs))}")
        for directory in self.log_dirs:
            try:
                directory.mkdir(parents=True, exist_ok=True)
                self._lock_log_dir(directory)
                self._live_dirs.append(directory)
            except OSError as error:
                if not self._fail(directory, "Cannot use the log directory", error):
                    self._unlock_all()
                    raise _in_directory(error, directory) from error
            except KafkaError:
                self._unlock_all()
                raise
        if not self._live_dirs:
            raise KafkaError(
                f"none of the log directories {', '.join(map(str, self.log_dirs))} can be created and written to; "
                "see the errors above, or set log.dirs to directories that this user may write to"
            )

    def _lock_log_dir(self, directory: Path) -> None:
        lock = FileLock(directory / LOCK_FILE)
        if not lock.try_lock():
            raise KafkaError(
                f"failed to acquire the lock on {lock.file}: another broker, in this process or another one, uses the "
                "directory. Stop that broker, or give this one a log.dirs of its own"
            )
        self._locks[directory] = lock

    def _load_logs(self) -> None:
        started_ms = self._time.hi_res_ms()
        for directory in list(self._live_dirs):
            try:
                self._load_logs_in(directory)
            except OSError as error:
                if not self._fail(directory, "Error while loading the logs", error):
                    # Only some of its logs are loaded. The others would be created again, empty.
                    raise _in_directory(error, directory) from error
        took_ms = self._time.hi_res_ms() - started_ms
        logger.info("Loaded %d logs in %.0f ms", len(self._logs), took_ms)
        self._log_recovery(took_ms)

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

    def _load_logs_in(self, directory: Path) -> None:
        """Load one directory's logs, with num.recovery.threads.per.data.dir threads."""
        marker = directory / CLEAN_SHUTDOWN_FILE
        had_clean_shutdown = marker.exists()
        subdirectories = [path for path in sorted(directory.iterdir()) if path.is_dir() and is_log_dir(path)]
        if subdirectories and not had_clean_shutdown:
            logger.info("No clean shutdown of %s: logs that are not flushed will be recovered", directory)
        recovery_points = _read_checkpoint(self._recovery_points_of(directory), "recovery points")
        start_offsets = _read_checkpoint(self._start_offsets_of(directory), "log start offsets")

        def load(log_dir: Path) -> None:
            topic_partition = parse_topic_partition_name(log_dir)
            log = self._new_log(
                log_dir,
                self.configs.of(topic_partition.topic),
                recovery_points.get(topic_partition, 0),
                start_offsets.get(topic_partition, 0),
                had_clean_shutdown,
            )
            self._add_loaded(log)

        with ThreadPoolExecutor(self._recovery_threads, f"log-recovery-{directory.name}") as pool:
            for future in [pool.submit(load, path) for path in subdirectories]:
                future.result()
        # From now on, a crash must be detected.
        marker.unlink(missing_ok=True)

    def _add_loaded(self, log: Log) -> None:
        if log.dir.name.endswith(DELETE_DIR_SUFFIX):
            self._delete_later(log)
            return
        with self._lock:
            other = self._logs.setdefault(log.topic_partition, log)
        if other is not log:
            raise KafkaError(
                f"the log of {log.topic_partition} is in two directories, {other.dir} and {log.dir}: "
                "move one of them out of log.dirs, the older one most likely"
            )

    def _new_log(
        self, directory: Path, config: LogConfig, recovery_point: int, log_start_offset: int, had_clean_shutdown: bool
    ) -> Log:
        return Log(
            directory,
            config,
            recovery_point,
            self._scheduler,
            self._time,
            log_start_offset=log_start_offset,
            had_clean_shutdown=had_clean_shutdown,
            producer_config=self.producer_config,
            log_dir_failure_channel=self.log_dir_failure_channel,
        )

    # -- logs --------------------------------------------------------------------------------------------------------

    @property
    def live_log_dirs(self) -> list[Path]:
        """The directories that are online."""
        return [directory for directory in self._live_dirs if self.is_log_dir_online(directory)]

    def is_log_dir_online(self, directory: Path) -> bool:
        """Whether the directory's disk has not failed."""
        return not self.log_dir_failure_channel.has_offline_log_dir(directory)

    def all_logs(self) -> list[Log]:
        """All logs."""
        return list(self._logs.values())

    def get_log(self, topic_partition: TopicPartition) -> Log | None:
        """The log of a partition, or None."""
        return self._logs.get(topic_partition)

    def get_or_create_log(
        self, topic_partition: TopicPartition, config: LogConfig | None = None, alterations: int | None = None
    ) -> Log:
        """Return the log of a partition; a new one is created in the live directory with the fewest logs.

        Raises ApiError KAFKA_STORAGE_ERROR if no directory can take it, and what ``LogConfigs.set_topic`` raises.
        """
        with self._lock:
            log = self._logs.get(topic_partition)
            if log is None:
                if config is not None:
                    self.configs.set_topic(topic_partition.topic, config, alterations)
                log = self._create_log(topic_partition)
                self._logs[topic_partition] = log
            return log

    def _create_log(self, topic_partition: TopicPartition) -> Log:
        config = self.configs.of(topic_partition.topic)
        reason = "all are offline"
        for directory in self._next_log_dirs():
            log_dir = directory / log_dir_name(topic_partition)
            existed = log_dir.exists()
            try:
                _check_open_files()
                log = self._new_log(log_dir, config, 0, 0, False)
            except OSError as error:
                self._fail(directory, f"Cannot create a log for {topic_partition}", error)
                reason = f"{directory}: {error.strerror}"
                if not existed:
                    shutil.rmtree(log_dir, ignore_errors=True)  # the files that did fit on the disk
                continue
            logger.info("Created log for partition %s in %s with %s", topic_partition, log.dir, config)
            return log
        message = f"no log directory can take a new log for {topic_partition} ({reason})"
        raise Errors.KAFKA_STORAGE_ERROR.exception(message)

    def _next_log_dirs(self) -> list[Path]:
        """The live directories, fewest logs first."""
        if len(self.log_dirs) == 1:
            return self.live_log_dirs
        counts = Counter(log.parent_dir for log in self._logs.values())
        return sorted(self.live_log_dirs, key=lambda directory: counts[str(directory)])

    def update_topic_config(self, topic: str, config: LogConfig) -> None:
        """Apply a topic's new configuration to its logs."""
        with self._lock:
            self.configs.alter_topic(topic, config)
            self._apply_configs()

    def update_default_config(self, config: LogConfig) -> None:
        """Apply new broker defaults to all logs; topic overrides are kept."""
        with self._lock:
            self.configs.set_default(config)
            self._apply_configs()

    def _apply_configs(self) -> None:
        for log in self.all_logs():
            config = self.configs.of(log.topic_partition.topic)
            if config is not log.config:
                try:
                    self._apply_config(log, config)
                except ApiError as error:  # the next configuration change tries this log again
                    logger.error("Could not change the configuration of %s: %s", log.name, error)

    def _apply_config(self, log: Log, config: LogConfig) -> None:
        was_compacted = log.config.compact
        log.update_config(config)
        if was_compacted and not config.compact and self.cleaner is not None:
            self.cleaner.abort_cleaning(log.topic_partition)

    # -- truncation --------------------------------------------------------------------------------------------------

    def truncate_to(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Truncate logs and write the checkpoint, so that no recovery point is beyond its log's end after a crash."""
        truncated = False
        for topic_partition, offset in offsets.items():
            log = self._logs.get(topic_partition)
            if log is not None:
                # The cleaner never touches the active segment.
                with self._without_cleaning(log, pause=offset < log.active_segment.base_offset):
                    truncated |= log.truncate_to(offset)
        if truncated:
            self.checkpoint_recovery_point_offsets()

    def truncate_fully_and_start_at(self, topic_partition: TopicPartition, new_offset: int) -> None:
        """Remove all messages; the next one gets ``new_offset``."""
        log = self._logs.get(topic_partition)
        if log is not None:
            with self._without_cleaning(log):
                log.truncate_fully_and_start_at(new_offset)
            self.checkpoint_recovery_point_offsets()

    @contextlib.contextmanager
    def _without_cleaning(self, log: Log, *, pause: bool = True) -> Iterator[None]:
        """Pause cleaning while a log is truncated; then lower its cleaner checkpoint to the active segment's base."""
        if self.cleaner is None or not pause:
            yield
            return
        manager = self.cleaner.cleaner_manager
        manager.abort_and_pause_cleaning(log.topic_partition)
        try:
            yield
            manager.maybe_truncate_checkpoint(log.dir.parent, log.topic_partition, log.active_segment.base_offset)
        finally:
            manager.resume_cleaning([log.topic_partition])

    # -- deletion ----------------------------------------------------------------------------------------------------

    def async_delete(self, topic_partitions: Iterable[TopicPartition]) -> dict[TopicPartition, ApiError]:
        """Remove the logs of deleted partitions. Returns the errors (KAFKA_STORAGE_ERROR) by partition.

        Their directories are renamed at once, so that a topic of the same name can be created, and deleted after
        ``file.delete.delay.ms``. The checkpoints are written once for all of them.
        """
        errors = {}
        with self._lock:
            logs = [log for tp in topic_partitions if (log := self._logs.pop(tp, None)) is not None]
            if self.cleaner is not None:
                for log in logs:
                    self.cleaner.abort_cleaning(log.topic_partition)
            # Do this first: otherwise, after a crash, a new topic of that name could inherit the log start offset.
            for directory in {log.dir.parent for log in logs}:
                self._checkpoint_all(directory)
            for log in logs:
                try:
                    log.rename_dir(log.dir.with_name(log_delete_dir_name(log.topic_partition)))
                except ApiError as error:
                    errors[log.topic_partition] = error
                    continue
                logger.info("Log for %s is renamed to %s and scheduled for deletion", log.topic_partition, log.dir)
                self._delete_later(log)
        return errors

    def _checkpoint_all(self, directory: Path) -> None:
        if self.cleaner is not None:
            self.cleaner.cleaner_manager.update_checkpoints(directory)
        self._checkpoint(directory, self._start_offsets_of, _noteworthy_start_offset)
        self._checkpoint(directory, self._recovery_points_of, lambda log: log.recovery_point)

    def _delete_later(self, log: Log) -> None:
        def delete() -> None:
            try:
                log.delete()
                logger.info("Deleted log for partition %s in %s", log.topic_partition, log.dir)
            except ApiError:
                logger.exception("Cannot delete %s, it will be tried again", log)
                if self.is_log_dir_online(log.dir.parent):
                    self._delete_later(log)

        self._scheduler.schedule("kafka-delete-logs", delete, log.config.file_delete_delay_ms)

    # -- background tasks --------------------------------------------------------------------------------------------

    def cleanup_logs(self) -> None:
        """Delete old segments of all logs that are not compacted."""
        if self.cleaner is None:
            logs = [log for log in self.all_logs() if not log.config.compact]
            deleted = sum(self._for_each_log("retention", Log.delete_old_segments, logs))
        else:
            manager = self.cleaner.cleaner_manager
            paused = manager.pause_cleaning_for_non_compacted_partitions()
            try:
                deleted = sum(self._for_each_log("retention", Log.delete_old_segments, paused.values()))
            finally:
                manager.resume_cleaning(paused)
        logger.debug("Log cleanup completed, %d segments deleted", deleted)

    def flush_dirty_logs(self) -> None:
        """Flush the logs whose flush.ms has elapsed."""

        def flush_if_due(log: Log) -> None:
            if self._time.milliseconds() - log.last_flush_time_ms >= log.config.flush_ms:
                log.flush()

        self._for_each_log("flush", flush_if_due)

    def remove_expired_producers(self) -> None:
        """Remove inactive producers from all logs."""
        self._for_each_log("expiry of producers", Log.remove_expired_producers)

    def _for_each_log(
        self, task: str, run: Callable[[Log], int | None], logs: Iterable[Log] | None = None
    ) -> Iterable[int]:
        """Run a task on logs (default: all); an error in one log does not affect the others."""
        results = []
        for log in self.all_logs() if logs is None else logs:
            try:
                results.append(run(log) or 0)
            except ApiError as error:
                logger.error("Error in %s of %s: %s", task, log.topic_partition, error)
        return results

    def checkpoint_recovery_point_offsets(self) -> None:
        """Checkpoint the recovery points, so that recovery does not read everything."""
        for directory in self.live_log_dirs:
            self._checkpoint(directory, self._recovery_points_of, lambda log: log.recovery_point)

    def checkpoint_log_start_offsets(self) -> None:
        """Checkpoint the log start offsets that differ from the first segment's base offset."""
        for directory in self.live_log_dirs:
            self._checkpoint(directory, self._start_offsets_of, _noteworthy_start_offset)

    def _checkpoint(
        self,
        directory: Path,
        file_of: Callable[[Path], OffsetCheckpointFile],
        offset_of: Callable[[Log], int | None],
    ) -> None:
        with self._checkpoint_lock:
            parent = str(directory)
            offsets = {log.topic_partition: offset_of(log) for log in self.all_logs() if log.parent_dir == parent}
            try:
                file_of(directory).write({tp: offset for tp, offset in offsets.items() if offset is not None})
            except OSError as error:
                self._fail(directory, "Cannot write a checkpoint", error)

    def _recovery_points_of(self, directory: Path) -> OffsetCheckpointFile:
        return OffsetCheckpointFile(directory / RECOVERY_POINT_CHECKPOINT_FILE)

    def _start_offsets_of(self, directory: Path) -> OffsetCheckpointFile:
        return OffsetCheckpointFile(directory / LOG_START_OFFSET_CHECKPOINT_FILE)

    # -- disk failures -----------------------------------------------------------------------------------------------

    def _fail(self, directory: Path, message: str, error: OSError) -> bool:
        """Report an error; returns whether the directory is offline now."""
        self.log_dir_failure_channel.maybe_add_offline_log_dir(directory, message, error)
        return not self.is_log_dir_online(directory)

    def handle_log_dir_failure(self, directory: Path) -> list[TopicPartition]:
        """Remove all logs of a directory whose disk has failed. Returns their partitions.

        Raises KafkaError if no directory is left: a broker cannot work without a disk.
        """
        with self._lock:
            lost = [log.topic_partition for log in self.all_logs() if log.dir.parent == directory]
            for topic_partition in lost:
                del self._logs[topic_partition]
            lock = self._locks.pop(directory, None)
            if lock is not None:
                lock.unlock()
        if self.cleaner is not None:
            self.cleaner.cleaner_manager.handle_log_dir_failure(directory)
        logger.error("Log directory %s is offline, and with it %s", directory, ", ".join(map(str, lost)) or "no log")
        if not self.live_log_dirs:
            raise KafkaError(f"all log directories have failed: {', '.join(map(str, self.log_dirs))}")
        return lost

    # -- shutdown ----------------------------------------------------------------------------------------------------

    def shutdown(self) -> None:
        """Flush and close all logs, write the checkpoints and the clean shutdown marker, and unlock."""
        logger.info("Shutting down the log manager")
        try:
            if self.cleaner is not None:
                self.cleaner.shutdown()
            for directory in self.live_log_dirs:
                self._close_logs_in(directory)
        finally:
            self._logs.clear()
            self._unlock_all()

    def resize_recovery_thread_pool(self, threads: int) -> None:
        """Set the number of threads per directory that close the logs; the next start uses its own configuration."""
        self._recovery_threads = threads

    def _close_logs_in(self, directory: Path) -> None:
        def close(log: Log) -> None:
            log.flush()
            log.close()

        logs = [log for log in self.all_logs() if log.dir.parent == directory]
        with ThreadPoolExecutor(self._recovery_threads, f"log-closing-{directory.name}") as pool:
            closed = [future.exception() for future in [pool.submit(close, log) for log in logs]]
        self._checkpoint(directory, self._recovery_points_of, lambda log: log.recovery_point)
        self._checkpoint(directory, self._start_offsets_of, _noteworthy_start_offset)
        errors = [error for error in closed if error is not None]
        if errors:
            logger.error("Error while closing %d logs in %s, first: %s", len(errors), directory, errors[0])
        if not errors and self.is_log_dir_online(directory):
            try:
                (directory / CLEAN_SHUTDOWN_FILE).touch()
            except OSError as error:
                self._fail(directory, "Cannot write the marker of a clean shutdown", error)

    def _unlock_all(self) -> None:
        for lock in self._locks.values():
            lock.unlock()
        self._locks.clear()


def _check_open_files() -> None:
    """Check that enough file descriptors remain, because a broker also needs them for connections and ZooKeeper.

    Raises OSError EMFILE if not.
    """
    opened: list[int] = []
    try:
        while len(opened) < SPARE_FILES:
            opened.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    finally:
        for fd in opened:
            os.close(fd)


def _in_directory(error: OSError, directory: Path) -> OSError:
    return OSError(error.errno, error.strerror, str(error.filename or directory))


def _noteworthy_start_offset(log: Log) -> int | None:
    """The log start offset if it cannot be derived from the files."""
    return log.log_start_offset if log.log_start_offset > log.segments.first.base_offset else None


def _read_checkpoint(checkpoint: OffsetCheckpointFile, what: str) -> dict[TopicPartition, int]:
    """Read a checkpoint. Losing it costs time, not data: everything is then recovered from the beginning."""
    try:
        return checkpoint.read()
    except (CheckpointFormatError, OSError) as error:
        logger.warning("The %s are lost, taking 0 for all logs: %s", what, error)
        return {}
