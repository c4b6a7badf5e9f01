"""Compacts logs in the background: only the newest value of each key is retained.

Kafka 0.10.2: core/.../log/LogCleaner.scala (CleanerThread) · book 6.1.6
"""

from __future__ import annotations

import logging
import threading
import time as _time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.rates.throttler import Throttler
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.cleaning.cleaner import Cleaner
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.cleaning.cleaner_stats import CleanerStats, PreCleanStats
from kafka_lite.log.cleaning.log_cleaner_manager import LogCleanerManager
from kafka_lite.log.cleaning.log_to_clean import LogToClean
from kafka_lite.log.cleaning.skimpy_offset_map import SkimpyOffsetMap
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.log import Log
from kafka_lite.log.log_cleaning_state import LogCleaningAbortedError, ThreadShutdownError

logger = logging.getLogger(__name__)


class LogCleaner:
    """A pool of threads that repeatedly pick the dirtiest compacted log and clean it.

    ::

        LogCleaner ── Throttler                 limits the bytes per second that all threads read and write
            │    └─── LogCleanerManager         which log is next, which are being cleaned, how far each is clean
            ├── CleanerThread 0 ── Cleaner ── OffsetMap
            └── CleanerThread 1 ── Cleaner ── OffsetMap

    A caller that truncates or deletes a log must first stop its cleaning; the methods for that delegate to the manager.
    """

    def __init__(
        self,
        config: CleanerConfig,
        log_dirs: Sequence[Path],
        logs: Mapping[TopicPartition, Log],
        log_dir_failure_channel: LogDirFailureChannel,
        time: Time,
    ) -> None:
        """``logs`` is live: it changes as logs are created and deleted."""
        self.config = config
        """The current configuration; ``reconfigure`` replaces it."""
        self.cleaner_manager = LogCleanerManager(log_dirs, logs, log_dir_failure_channel, time)
        self.throttler = Throttler(config.max_io_bytes_per_second, time)
        self.cleaners: list[CleanerThread] = []
        self._failures = log_dir_failure_channel
        self._time = time
        self._lock = threading.Lock()
        """Reconfiguration and shutdown run in different threads, and neither may undo the other."""
        self._is_running = False

    def startup(self) -> None:
        """Start the threads. Raises ValueError if their memory is too small for a single key."""
        with self._lock:
            self._is_running = True
            self._start_cleaners(self._new_cleaners(self.config))

    def shutdown(self) -> None:
        """Stop the threads; a cleaning in progress is abandoned."""
        with self._lock:
            self._is_running = False
            self._shutdown_cleaners()

    def _new_cleaners(self, config: CleanerConfig) -> list[CleanerThread]:
        return [
            CleanerThread(number, config, self.cleaner_manager, self.throttler, self._failures, self._time)
            for number in range(config.num_threads)
        ]

    def _start_cleaners(self, cleaners: list[CleanerThread]) -> None:
        logger.info("Starting the log cleaner with %d threads", len(cleaners))
        for cleaner in cleaners:
            cleaner.start()
        self.cleaners = cleaners  # only now: a thread that has not started must not count as dead

    def _shutdown_cleaners(self) -> None:
        logger.info("Shutting down the log cleaner")
        # Clear the list first: a thread that ends because of the shutdown must not count as dead.
        stopping, self.cleaners = self.cleaners, []
        for cleaner in stopping:
            cleaner.initiate_shutdown()
        for cleaner in stopping:
            cleaner.await_shutdown()

    # -- reconfiguration ---------------------------------------------------------------------------------------------

    def validate_reconfiguration(self, config: CleanerConfig) -> None:
        """Raise ConfigError if the number of threads would become 0 or change by more than a factor of two.

        A typo must not use up all memory or stop the cleaning; a larger change takes several steps.
        """
        current, wanted = self.config.num_threads, config.num_threads
        if wanted < 1:
            raise _bad_thread_number(wanted, "Log cleaner threads should be at least 1")
        if wanted < current // 2:
            message = f"Log cleaner threads cannot be reduced to less than half the current value {current}"
            raise _bad_thread_number(wanted, message)
        if wanted > current * 2:
            message = f"Log cleaner threads cannot be increased to more than double the current value {current}"
            raise _bad_thread_number(wanted, message)

    def reconfigure(self, config: CleanerConfig) -> None:
        """Replace the threads (including dead ones) by new ones with this configuration.

        Output of the old threads that is not swapped in yet is discarded; the new threads continue from the checkpoint.
        Pauses of partitions (``abort_and_pause_cleaning``) stay in effect. After a shutdown, no threads are started.

        Raises ValueError or OSError if the new threads cannot get their memory; the old ones then keep running.
        """
        with self._lock:
            cleaners = self._new_cleaners(config) if self._is_running else []
            if config.max_io_bytes_per_second != self.config.max_io_bytes_per_second:
                logger.info("Log cleaner I/O is now limited to %s bytes/s", config.max_io_bytes_per_second)
                self.throttler.update_desired_rate_per_second(config.max_io_bytes_per_second)
            self.config = config
            if self._is_running:
                self._shutdown_cleaners()
                self._start_cleaners(cleaners)

    def await_cleaned(self, topic_partition: TopicPartition, offset: int, max_wait_ms: int = 60_000) -> bool:
        """Wait until the log is clean below ``offset``. Returns False if that takes too long. For tests."""
        deadline = _time.monotonic() + max_wait_ms / 1000
        while self.cleaner_manager.all_cleaner_checkpoints().get(topic_partition, -1) < offset:
            if _time.monotonic() >= deadline:
                return False
            _time.sleep(0.05)
        return True

    # -- for callers that need exclusive access to a log -------------------------------------------------------------

    def abort_cleaning(self, topic_partition: TopicPartition) -> None:
        """Abort a partition's cleaning, if one is in progress, and wait until it has stopped."""
        self.cleaner_manager.abort_cleaning(topic_partition)

    def abort_and_pause_cleaning(self, topic_partition: TopicPartition) -> None:
        """Like ``abort_cleaning``, but no new cleaning starts until ``resume_cleaning``."""
        self.cleaner_manager.abort_and_pause_cleaning(topic_partition)

    def resume_cleaning(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Undo one pause of each partition."""
        self.cleaner_manager.resume_cleaning(topic_partitions)

    # -- metrics -----------------------------------------------------------------------------------------------------

    @property
    def max_buffer_utilization_percent(self) -> int:
        """How full the fullest offset map was, over the threads' last cleanings."""
        return int(100 * max((cleaner.last_stats.buffer_utilization for cleaner in self.cleaners), default=0))

    @property
    def cleaner_recopy_percent(self) -> int:
        """Bytes written as a percentage of bytes read, over the threads' last cleanings."""
        read = sum(cleaner.last_stats.bytes_read for cleaner in self.cleaners)
        return 100 * sum(cleaner.last_stats.bytes_written for cleaner in self.cleaners) // max(read, 1)

    @property
    def max_clean_time_secs(self) -> int:
        """Duration of the longest of the threads' last cleanings."""
        return int(max((cleaner.last_stats.elapsed_secs for cleaner in self.cleaners), default=0))

    @property
    def max_compaction_delay_secs(self) -> int:
        """The most by which a log exceeded ``max.compaction.lag.ms`` when the threads last checked."""
        return (
            max((cleaner.last_pre_clean_stats.max_compaction_delay_ms for cleaner in self.cleaners), default=0) // 1000
        )

    @property
    def dead_thread_count(self) -> int:
        """Number of threads that died of an error."""
        return sum(1 for cleaner in self.cleaners if not cleaner.is_alive())


def _bad_thread_number(wanted: int, message: str) -> ConfigError:
    return ConfigError("log.cleaner.threads", wanted, message)


class CleanerThread(ShutdownableThread):
    """Cleans one log after another, dirtiest first; pauses for ``log.cleaner.backoff.ms`` if there is none to clean."""

    def __init__(
        self,
        thread_id: int,
        config: CleanerConfig,
        manager: LogCleanerManager,
        throttler: Throttler,
        log_dir_failure_channel: LogDirFailureChannel,
        time: Time,
    ) -> None:
        super().__init__(f"kafka-log-cleaner-thread-{thread_id}")
        self.last_stats = CleanerStats(time)
        """Statistics of the last completed cleaning."""
        self.last_pre_clean_stats = PreCleanStats()
        self._config = config
        self._manager = manager
        self._failures = log_dir_failure_channel
        self._offset_map = SkimpyOffsetMap(config.dedupe_buffer_size_per_thread)
        self._cleaner = Cleaner(thread_id, self._offset_map, config, throttler, time, self._check_done, self.pause)

    def _check_done(self, topic_partition: TopicPartition) -> None:
        """Raise ThreadShutdownError or LogCleaningAbortedError if the cleaning must stop."""
        if not self.is_running:
            raise ThreadShutdownError("the cleaner thread is shutting down")
        self._manager.check_cleaning_aborted(topic_partition)

    def do_work(self) -> None:
        """Clean a log, or pause."""
        if not self.clean_filthiest_log():
            self.pause(self._config.backoff_ms)
        self._manager.maintain_uncleanable_partitions()

    def on_exit(self) -> None:
        """Free the memory."""
        self._offset_map.close()

    def clean_filthiest_log(self) -> bool:
        """Clean the dirtiest log, then delete old segments of compacted logs. Returns False if no log was cleaned."""
        pre_clean_stats = PreCleanStats()
        cleanable = self._manager.grab_filthiest_compacted_log(pre_clean_stats)
        cleaned = False
        if cleanable is not None:
            self.last_pre_clean_stats = pre_clean_stats
            cleaned = self._clean_log(cleanable)
        self._delete_old_segments()
        return cleaned

    def _clean_log(self, cleanable: LogToClean) -> bool:
        """Clean a log. Returns False if that failed, so that the thread backs off before it tries again."""
        end_offset = cleanable.first_dirty_offset
        try:
            end_offset, stats = self._cleaner.clean(cleanable)
            self._record_stats(cleanable, end_offset, stats)
            return True
        except ThreadShutdownError:
            raise
        except LogCleaningAbortedError as aborted:
            logger.info("%s", aborted)
            return True
        except OSError as error:
            message = f"Failed to clean up log for {cleanable.topic_partition} in dir {cleanable.log.dir.parent}"
            self._failures.maybe_add_offline_log_dir(cleanable.log.dir.parent, message, error)
        except MemoryError:
            logger.warning("Not enough memory to clean log %s; trying again later", cleanable.log.name)
        except Exception as error:  # noqa: BLE001 - no error may prevent the other logs from being cleaned
            if not (isinstance(error, ApiError) and error.error is Errors.KAFKA_STORAGE_ERROR):  # already reported
                self._mark_uncleanable(cleanable.log)
        finally:
            self._manager.done_cleaning(cleanable.topic_partition, cleanable.log.dir.parent, end_offset)
        return False

    def _mark_uncleanable(self, log: Log) -> None:
        logger.exception("Unexpected error while cleaning log %s: its partition is marked as uncleanable", log.name)
        self._manager.mark_partition_uncleanable(log.dir.parent, log.topic_partition)

    def _delete_old_segments(self) -> None:
        """Delete old segments of compacted logs, as retention does for other logs. No thread cleans them meanwhile."""
        deletable = self._manager.deletable_logs()
        try:
            for log in deletable.values():
                try:
                    log.delete_old_segments()
                except KafkaError as error:
                    logger.error("Cannot delete old segments of %s: %s", log.name, error)
        finally:
            self._manager.done_deleting(deletable)

    def _record_stats(self, cleanable: LogToClean, end_offset: int, stats: CleanerStats) -> None:
        self.last_stats = stats
        summary = stats.summary(self._cleaner.id, cleanable.log.name, cleanable.first_dirty_offset, end_offset)
        logger.info("%s", summary)
        before = self.last_pre_clean_stats
        if before.delayed_partitions:
            logger.info(
                "Cleanable partitions: %d, Delayed partitions: %d, max delay: %d ms",
                before.cleanable_partitions,
                before.delayed_partitions,
                before.max_compaction_delay_ms,
            )
        if stats.invalid_messages_read:
            logger.warning("Found %d invalid messages during compaction", stats.invalid_messages_read)
