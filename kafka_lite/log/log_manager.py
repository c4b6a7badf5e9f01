"""Manages all logs of a broker: opens them, maintains them in the background, closes them.

Kafka 0.10.2: core/.../log/LogManager.scala · book 6.1.5
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.process.open_files import check_open_files
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.shutdownable_thread import ProcessKilledError
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.cleaning.log_cleaner import LogCleaner
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.dirs.log_dirs import LogDirs
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_file_utils import (
    CLEAN_SHUTDOWN_FILE,
    log_delete_dir_name,
    log_dir_name,
    log_future_dir_name,
    parse_topic_partition_name,
)
from kafka_lite.log.managing.future_logs import FutureLogs
from kafka_lite.log.managing.log_configs import LogConfigs
from kafka_lite.log.managing.log_dirs_loader import LogDirsLoader
from kafka_lite.log.managing.log_maintenance import LogMaintenance, MaintenancePeriods
from kafka_lite.log.managing.log_offset_checkpoints import LogOffsetCheckpoints
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig

logger = logging.getLogger(__name__)

SPARE_FILES = 32
"""Creating a log requires this many free file descriptors: the broker also needs some for connections and ZooKeeper."""


class LogManager:
    """The logs in one or more directories (``log.dirs``), normally one per disk.

    ::

        log.dirs       /disk1                                  /disk2
                       .lock                                   .lock
                       recovery-point-offset-checkpoint        recovery-point-offset-checkpoint
                       log-start-offset-checkpoint             log-start-offset-checkpoint
                       topic-0/  other-1/                      topic-1/
                       old-0.9f86d081…-delete/

    A new log goes to the directory with the fewest logs. The scheduler runs ``LogMaintenance`` in the background:

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
        maintenance_periods: MaintenancePeriods | None = None,
        producer_config: ProducerStateManagerConfig | None = None,
        cleaner_config: CleanerConfig | None = None,
        log_dir_failure_channel: LogDirFailureChannel | None = None,
        keep_topic_ids: bool = True,
    ) -> None:
        """Compaction is disabled if ``cleaner_config`` is None or disables it."""
        self._keep_topic_ids = keep_topic_ids
        self.configs = LogConfigs(default_config, topic_configs)
        self.log_dir_failure_channel = log_dir_failure_channel or LogDirFailureChannel()
        self.dirs = LogDirs(log_dirs, self.log_dir_failure_channel)
        self.future_logs = FutureLogs()
        """Copies of logs that are being moved to another directory."""
        self._checkpoints = LogOffsetCheckpoints(self._logs_and_copies, self.dirs.fail)
        self._scheduler = scheduler
        self._time = time
        self._recovery_threads = recovery_threads_per_data_dir
        self.producer_config = producer_config or ProducerStateManagerConfig()
        self._lock = threading.RLock()
        """Guards creation and deletion; lookups read the map without it."""
        self._logs: dict[TopicPartition, Log] = {}
        self.cleaner: LogCleaner | None = None
        if cleaner_config is not None and cleaner_config.enable_cleaner:
            self.cleaner = LogCleaner(cleaner_config, self.dirs.all, self._logs, self.log_dir_failure_channel, time)
        cleaner_manager, dirs = self.cleaner.cleaner_manager if self.cleaner is not None else None, self.dirs
        periods = maintenance_periods or MaintenancePeriods()
        self.maintenance = LogMaintenance(
            self.all_logs, self.future_logs.all, dirs, self._checkpoints, cleaner_manager, scheduler, time, periods
        )

    # -- start -------------------------------------------------------------------------------------------------------

    def startup(self) -> None:
        """Lock the directories, load all logs, and start the background tasks.

        Raises KafkaError if a directory is locked by another broker, listed twice, or has a partition that another one
        also has, or if no directory is usable. Raises OSError, naming the directory, if the disk is full, or if there
        are too few file descriptors or too little memory to load its logs.
        """
        self.dirs.open()
        try:
            self._load_logs()
        except BaseException:
            self.dirs.unlock_all()
            raise
        self.maintenance.startup()
        if self.cleaner is not None:
            self.cleaner.startup()
        for copy in self.future_logs.all():
            self._pause_cleaning(copy.topic_partition)

    def _load_logs(self) -> None:
        dirs, copies, threads = self.dirs, self.future_logs, self._recovery_threads
        loader = LogDirsLoader(dirs, self._checkpoints, self._open_log, self._logs, copies, threads, self._time)
        loader.load()
        for log in loader.deleted:
            self.maintenance.delete_later(log)

    def _open_log(
        self, log_dir: Path, recovery_point: int = 0, log_start_offset: int = 0, had_clean_shutdown: bool = False
    ) -> Log:
        """Open the log of a directory, or create it, with the configuration of its topic."""
        return Log(
            log_dir,
            self.configs.of(parse_topic_partition_name(log_dir).topic),
            recovery_point,
            self._scheduler,
            self._time,
            log_start_offset=log_start_offset,
            had_clean_shutdown=had_clean_shutdown,
            producer_config=self.producer_config,
            log_dir_failure_channel=self.log_dir_failure_channel,
            keep_topic_id=self._keep_topic_ids,
        )

    # -- logs --------------------------------------------------------------------------------------------------------

    @property
    def log_dirs(self) -> list[Path]:
        """All directories."""
        return self.dirs.all

    @property
    def live_log_dirs(self) -> list[Path]:
        """The directories that are online."""
        return self.dirs.live

    def is_log_dir_online(self, directory: Path) -> bool:
        """Whether the directory's disk has not failed."""
        return self.dirs.is_online(directory)

    def all_logs(self) -> list[Log]:
        """All logs."""
        return list(self._logs.values())

    def _logs_and_copies(self) -> list[Log]:
        return self.all_logs() + self.future_logs.all()

    def get_log(self, topic_partition: TopicPartition) -> Log | None:
        """The log of a partition, or None."""
        return self._logs.get(topic_partition)

    def get_or_create_log(
        self, topic_partition: TopicPartition, config: LogConfig | None = None, alterations: int | None = None
    ) -> Log:
        """Return the log of a partition; a new one is created in the live directory with the fewest logs.

        Raises ApiError KAFKA_STORAGE_ERROR if no directory can take it, and what ``LogConfigs.set_topic`` raises; after
        ``abandon``, ProcessKilledError if the log would be new.
        """
        with self._lock:
            log = self._logs.get(topic_partition)
            if log is None:
                if self.dirs.is_abandoned:
                    raise ProcessKilledError
                if config is not None:
                    self.configs.set_topic(topic_partition.topic, config, alterations)
                log = self._create_log(topic_partition)
                self._logs[topic_partition] = log
            return log

    def _create_log(self, topic_partition: TopicPartition) -> Log:
        reason = "all are offline"
        for directory in self.dirs.next_for(topic_partition, [log.parent_dir for log in self._logs.values()]):
            log_dir = directory / log_dir_name(topic_partition)
            existed = log_dir.exists()
            try:
                check_open_files(SPARE_FILES)
                log = self._open_log(log_dir)
            except OSError as error:
                self.dirs.fail(directory, f"Cannot create a log for {topic_partition}", error)
                reason = f"{directory}: {error.strerror}"
                if not existed:
                    shutil.rmtree(log_dir, ignore_errors=True)  # the files that did fit on the disk
                continue
            logger.info("Created log for partition %s in %s with %s", topic_partition, log.dir, log.config)
            return log
        message = f"cannot create a log for {topic_partition} in any log directory ({reason})"
        raise Errors.KAFKA_STORAGE_ERROR.exception(message)

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
        for log in self._logs_and_copies():
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
        with self.future_logs.lock:
            for topic_partition, offset in offsets.items():
                log = self._logs.get(topic_partition)
                if log is not None:
                    # The cleaner never touches the active segment.
                    with self._without_cleaning(log, pause=offset < log.active_segment.base_offset):
                        truncated |= log.truncate_to(offset)
                    self.future_logs.truncate_to([topic_partition], offset)
        if truncated:
            self.maintenance.checkpoint_recovery_point_offsets()

    def truncate_fully_and_start_at(self, topic_partition: TopicPartition, new_offset: int) -> None:
        """Remove all messages; the next one gets ``new_offset``."""
        with self.future_logs.lock:
            log = self._logs.get(topic_partition)
            if log is None:
                return
            with self._without_cleaning(log):
                log.truncate_fully_and_start_at(new_offset)
            copy = self.future_logs.get(topic_partition)
            if copy is not None:
                copy.truncate_fully_and_start_at(new_offset)
        self.maintenance.checkpoint_recovery_point_offsets()

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

    # -- moves to another directory ----------------------------------------------------------------------------------

    def create_future_log(self, topic_partition: TopicPartition, directory: Path) -> Log:
        """Begin a copy of a log in another directory. The log is not compacted until the copy has replaced it.

        Raises ApiError KAFKA_STORAGE_ERROR.
        """
        with self._lock:
            self._pause_cleaning(topic_partition)
            try:
                copy = self._open_log(directory / log_future_dir_name(topic_partition))
            except OSError as error:
                self._resume_cleaning(topic_partition)
                self.dirs.fail(directory, f"Cannot create a copy of {topic_partition}", error)
                raise Errors.KAFKA_STORAGE_ERROR.exception(f"{directory}: {error.strerror}") from error
            current = self._logs[topic_partition]
            copy.truncate_fully_and_start_at(current.log_start_offset)
            if current.topic_id is not None:
                copy.assign_topic_id(current.topic_id)
            self.future_logs.add(copy)
            return copy

    def remove_future_log(self, topic_partition: TopicPartition) -> None:
        """Give up a copy, and delete its files."""
        with self._lock:
            copy = self.future_logs.pop(topic_partition)
            if copy is not None:
                self._resume_cleaning(topic_partition)
                self._delete_directory_of(copy)

    def replace_current_with_future_log(self, topic_partition: TopicPartition) -> Log | None:
        """Let a complete copy replace its log, whose files are deleted later; None if the copy is not complete.

        After a crash between the two renames, the next start does the second one.
        """
        with self._lock:
            copy, current = self.future_logs.get(topic_partition), self._logs.get(topic_partition)
            if copy is None or current is None:
                return None
            with current.exclusively():
                if copy.log_end_offset != current.log_end_offset:
                    return None
                current.rename_dir(current.dir.with_name(log_delete_dir_name(topic_partition)))
                copy.rename_dir(copy.dir.with_name(log_dir_name(topic_partition)))
                current.retire()
                self._logs[topic_partition] = copy
                self.future_logs.pop(topic_partition)
            for directory in (current.dir.parent, copy.dir.parent):
                self._checkpoint_all(directory)
            self._resume_cleaning(topic_partition)
            self.maintenance.delete_later(current)
            logger.info("Moved the log of %s from %s to %s", topic_partition, current.parent_dir, copy.parent_dir)
            return copy

    def _pause_cleaning(self, topic_partition: TopicPartition) -> None:
        if self.cleaner is not None:
            self.cleaner.cleaner_manager.abort_and_pause_cleaning(topic_partition)

    def _resume_cleaning(self, topic_partition: TopicPartition) -> None:
        if self.cleaner is not None:
            self.cleaner.cleaner_manager.resume_cleaning([topic_partition])

    def _delete_directory_of(self, log: Log) -> None:
        log.rename_dir(log.dir.with_name(log_delete_dir_name(log.topic_partition)))
        logger.info("Log for %s is renamed to %s and scheduled for deletion", log.topic_partition, log.dir)
        self.maintenance.delete_later(log)

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
            for directory in dict.fromkeys(log.dir.parent for log in logs):
                self._checkpoint_all(directory)
            for log in logs:
                try:
                    self._delete_directory_of(log)
                    self.remove_future_log(log.topic_partition)
                except ApiError as error:
                    errors[log.topic_partition] = error
        return errors

    def _checkpoint_all(self, directory: Path) -> None:
        if self.cleaner is not None:
            self.cleaner.cleaner_manager.update_checkpoints(directory)
        self._checkpoints.write_log_start_offsets(directory)
        self._checkpoints.write_recovery_points(directory)

    # -- disk failures -----------------------------------------------------------------------------------------------

    def handle_log_dir_failure(self, directory: Path) -> list[TopicPartition]:
        """Remove all logs of a directory whose disk has failed. Returns their partitions.

        Raises KafkaError if no directory is left: a broker cannot work without a disk.
        """
        with self._lock:
            lost = [log.topic_partition for log in self.all_logs() if log.dir.parent == directory]
            for topic_partition in lost:
                del self._logs[topic_partition]
                self.future_logs.pop(topic_partition)
            self.future_logs.take_offline(directory)
            self.dirs.unlock(directory)
        if self.cleaner is not None:
            self.cleaner.cleaner_manager.handle_log_dir_failure(directory)
        logger.error("Log directory %s is offline with these logs: %s", directory, ", ".join(map(str, lost)) or "none")
        self.dirs.check_any_is_live()
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
            self.dirs.unlock_all()

    def abandon(self) -> None:
        """Leave all directories as a killed process does: nothing more is flushed, trimmed or checkpointed."""
        self.dirs.abandon()

    def resize_recovery_thread_pool(self, threads: int) -> None:
        """Set the number of threads per directory that close the logs; the next start uses its own configuration."""
        self._recovery_threads = threads

    def _close_logs_in(self, directory: Path) -> None:
        def close(log: Log) -> None:
            log.flush()
            log.close()

        logs = [log for log in self._logs_and_copies() if log.dir.parent == directory]
        with ThreadPoolExecutor(self._recovery_threads, f"log-closing-{directory.name}") as pool:
            closed = [future.exception() for future in [pool.submit(close, log) for log in logs]]
        self._checkpoints.write_recovery_points(directory)
        self._checkpoints.write_log_start_offsets(directory)
        errors = [error for error in closed if error is not None]
        if errors:
            logger.error("Error while closing %d logs in %s; the first one: %s", len(errors), directory, errors[0])
        if not errors and self.is_log_dir_online(directory):
            try:
                (directory / CLEAN_SHUTDOWN_FILE).touch()
            except OSError as error:
                self.dirs.fail(directory, "Cannot write the marker of a clean shutdown", error)
