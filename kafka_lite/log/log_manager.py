"""All logs of a broker: opens them at the start, looks after them in the background, closes them at the end.

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
"""So many files more must be free to open when a log is made."""


class LogManager:
    """The logs in one or more directories (``log.dirs``), each on a disk of its own if it is to be of use.

    ::

        log.dirs       /disk1                                  /disk2
                       .lock                                   .lock
                       recovery-point-offset-checkpoint        recovery-point-offset-checkpoint
                       log-start-offset-checkpoint             log-start-offset-checkpoint
                       topic-0/  other-1/                      topic-1/
                       old-0.9f86d081…-delete/

    A new log goes to the directory that has the fewest. In the background, by the scheduler:

    * retention      deletes old segments (log.retention.check.interval.ms)
    * flush          of the logs whose flush.ms is over
    * checkpoints    of recovery points and log start offsets
    * expiry         of producers that have not written for producer.id.expiration.ms
    * deletion       of the files of deleted partitions

    Compacted logs have threads of their own, the LogCleaner's, which also do retention for them.

    A directory whose disk fails goes offline: its logs are given up, the others go on.
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
        """Without a ``cleaner_config``, or with one that says so, there is no compaction."""
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
        """Guards creation and deletion; look-ups take the map as it is."""
        self._checkpoint_lock = threading.Lock()
        """One checkpoint at a time: the scheduler and a deletion must not take away each other's temporary file."""
        self._logs: dict[TopicPartition, Log] = {}
        self._live_dirs: list[Path] = []
        self._locks: dict[Path, FileLock] = {}
        self.cleaner: LogCleaner | None = None
        if cleaner_config is not None and cleaner_config.enable_cleaner:
            self.cleaner = LogCleaner(cleaner_config, self.log_dirs, self._logs, self.log_dir_failure_channel, time)

    # -- start -------------------------------------------------------------------------------------------------------

    def startup(self) -> None:
        """Lock the directories, load all logs, and begin with the background tasks.

        Raises KafkaError when a directory is in use by another broker, twice in the list, holds the same partition as
        another one, or when none can be used at all; OSError, which names the directory, when its disk is full or
        there are too few open files or too little memory to load its logs.
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
        """Create what is missing and take the locks; directories that cannot be used go offline."""
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
                    # Some of its logs are loaded: others would be made anew, and what they held be taken for gone.
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
        """Load the logs of one directory with num.recovery.threads.per.data.dir threads."""
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
        # From now on a crash must be noticed.
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
        """The directories that can be used."""
        return [directory for directory in self._live_dirs if self.is_log_dir_online(directory)]

    def is_log_dir_online(self, directory: Path) -> bool:
        """Whether the directory's disk has not failed."""
        return not self.log_dir_failure_channel.has_offline_log_dir(directory)

    def all_logs(self) -> list[Log]:
        """All logs."""
        return list(self._logs.values())

    def get_log(self, topic_partition: TopicPartition) -> Log | None:
        """The log of a partition, if there is one."""
        return self._logs.get(topic_partition)

    def get_or_create_log(
        self, topic_partition: TopicPartition, config: LogConfig | None = None, alterations: int | None = None
    ) -> Log:
        """The log of a partition; a new one goes to the live directory with the fewest logs.

        Raises ApiError KAFKA_STORAGE_ERROR when none can take it, and what ``LogConfigs.set_topic`` raises.
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
                    shutil.rmtree(log_dir, ignore_errors=True)  # with what there was room for
                continue
            logger.info("Created log for partition %s in %s with %s", topic_partition, log.dir, config)
            return log
        message = f"no log directory can take a new log for {topic_partition} ({reason})"
        raise Errors.KAFKA_STORAGE_ERROR.exception(message)

    def _next_log_dirs(self) -> list[Path]:
        """The live directories, the one with the fewest logs first."""
        if len(self.log_dirs) == 1:
            return self.live_log_dirs
        counts = Counter(log.parent_dir for log in self._logs.values())
        return sorted(self.live_log_dirs, key=lambda directory: counts[str(directory)])

    def update_topic_config(self, topic: str, config: LogConfig) -> None:
        """The topic's configuration has been changed: its logs obey the new one from now on."""
        with self._lock:
            self.configs.alter_topic(topic, config)
            self._apply_configs()

    def update_default_config(self, config: LogConfig) -> None:
        """The broker's defaults have been changed: so are those of all logs, whose topics' overrides stay."""
        with self._lock:
            self.configs.set_default(config)
            self._apply_configs()

    def _apply_configs(self) -> None:
        for log in self.all_logs():
            config = self.configs.of(log.topic_partition.topic)
            if config is not log.config:
                was_compacted = log.config.compact
                log.update_config(config)
                if was_compacted and not config.compact and self.cleaner is not None:
                    self.cleaner.abort_cleaning(log.topic_partition)

    # -- truncation --------------------------------------------------------------------------------------------------

    def truncate_to(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Truncate logs, and write the checkpoint: a crash must not find recovery points beyond the logs' ends."""
        truncated = False
        for topic_partition, offset in offsets.items():
            log = self._logs.get(topic_partition)
            if log is not None:
                # The cleaner leaves the active segment alone.
                with self._without_cleaning(log, pause=offset < log.active_segment.base_offset):
                    truncated |= log.truncate_to(offset)
        if truncated:
            self.checkpoint_recovery_point_offsets()

    def truncate_fully_and_start_at(self, topic_partition: TopicPartition, new_offset: int) -> None:
        """Empty a log; its next message has ``new_offset``."""
        log = self._logs.get(topic_partition)
        if log is not None:
            with self._without_cleaning(log):
                log.truncate_fully_and_start_at(new_offset)
            self.checkpoint_recovery_point_offsets()

    @contextlib.contextmanager
    def _without_cleaning(self, log: Log, *, pause: bool = True) -> Iterator[None]:
        """Stop the cleaner while a log is truncated; what it has then is not clean beyond the active segment's base."""
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
        """Give up the logs of deleted partitions; returns what went wrong, if anything did (KAFKA_STORAGE_ERROR).

        Their directories get other names at once, so that a topic of the same name can be created, and are removed
        after ``file.delete.delay.ms``. The checkpoints are written once for all of them.
        """
        errors = {}
        with self._lock:
            logs = [log for tp in topic_partitions if (log := self._logs.pop(tp, None)) is not None]
            if self.cleaner is not None:
                for log in logs:
                    self.cleaner.abort_cleaning(log.topic_partition)
            # First, or a new topic of that name could inherit the log start offset after a crash.
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
        """Delete the segments that retention does not keep, of logs that are not compacted."""
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
        """Flush the logs whose flush.ms is over."""

        def flush_if_due(log: Log) -> None:
            if self._time.milliseconds() - log.last_flush_time_ms >= log.config.flush_ms:
                log.flush()

        self._for_each_log("flush", flush_if_due)

    def remove_expired_producers(self) -> None:
        """Let every log forget the producers that have long been silent."""
        self._for_each_log("expiry of producers", Log.remove_expired_producers)

    def _for_each_log(
        self, task: str, run: Callable[[Log], int | None], logs: Iterable[Log] | None = None
    ) -> Iterable[int]:
        """Run it on logs, by default all; that one log fails must not keep the others from it."""
        results = []
        for log in self.all_logs() if logs is None else logs:
            try:
                results.append(run(log) or 0)
            except ApiError as error:
                logger.error("Error in %s of %s: %s", task, log.topic_partition, error)
        return results

    def checkpoint_recovery_point_offsets(self) -> None:
        """Write down how far each log is on disk, so that recovery need not read everything."""
        for directory in self.live_log_dirs:
            self._checkpoint(directory, self._recovery_points_of, lambda log: log.recovery_point)

    def checkpoint_log_start_offsets(self) -> None:
        """Write down the log start offsets that are not simply where the first segment begins."""
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

    # -- failures of disks -------------------------------------------------------------------------------------------

    def _fail(self, directory: Path, message: str, error: OSError) -> bool:
        """Whether the directory is offline now."""
        self.log_dir_failure_channel.maybe_add_offline_log_dir(directory, message, error)
        return not self.is_log_dir_online(directory)

    def handle_log_dir_failure(self, directory: Path) -> list[TopicPartition]:
        """Give up all logs of a directory whose disk has failed; returns their partitions.

        Raises KafkaError when it was the last one: a broker without a disk is of no use.
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

    # -- stop --------------------------------------------------------------------------------------------------------

    def shutdown(self) -> None:
        """Flush and close all logs, write the checkpoints and the marker of a clean shutdown, and unlock."""
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
        """With so many threads per directory the logs will be closed; the next start has its own number."""
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
    """Leave some files for others: a broker full of logs still needs them for connections and for ZooKeeper.

    Raises OSError EMFILE.
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
    """The log start offset if the files do not tell it."""
    return log.log_start_offset if log.log_start_offset > log.segments.first.base_offset else None


def _read_checkpoint(checkpoint: OffsetCheckpointFile, what: str) -> dict[TopicPartition, int]:
    """A lost checkpoint costs time, not data: then everything is recovered from the beginning."""
    try:
        return checkpoint.read()
    except (CheckpointFormatError, OSError) as error:
        logger.warning("The %s are lost, taking 0 for all logs: %s", what, error)
        return {}
