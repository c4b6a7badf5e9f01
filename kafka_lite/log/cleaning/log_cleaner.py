"""Compacts logs in the background: of each key only the newest value stays.

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
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.throttler import Throttler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.cleaning.cleaner import Cleaner
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.cleaning.cleaner_stats import CleanerStats, PreCleanStats
from kafka_lite.log.cleaning.log_cleaner_manager import LogCleanerManager
from kafka_lite.log.cleaning.log_cleaning_state import LogCleaningAbortedError, ThreadShutdownError
from kafka_lite.log.cleaning.log_to_clean import LogToClean
from kafka_lite.log.cleaning.skimpy_offset_map import SkimpyOffsetMap
from kafka_lite.log.log import Log
from kafka_lite.log.log_dir_failure_channel import LogDirFailureChannel

logger = logging.getLogger(__name__)


class LogCleaner:
    """A pool of threads that look for the filthiest compacted log, clean it, and look again.

    ::

        LogCleaner ── Throttler                 how much all of them may read and write in a second
            │    └─── LogCleanerManager         which log is next, which are taken, how far each is clean
            ├── CleanerThread 0 ── Cleaner ── OffsetMap
            └── CleanerThread 1 ── Cleaner ── OffsetMap

    Who truncates or deletes a log stops its cleaning first. The methods for that are the manager's.
    """

    def __init__(
        self,
        config: CleanerConfig,
        log_dirs: Sequence[Path],
        logs: Mapping[TopicPartition, Log],
        log_dir_failure_channel: LogDirFailureChannel,
        time: Time,
    ) -> None:
        """``logs`` changes under this object, as logs are created and deleted."""
        self.config = config
        """What holds now; ``reconfigure`` replaces it."""
        self.cleaner_manager = LogCleanerManager(log_dirs, logs, log_dir_failure_channel, time)
        self.throttler = Throttler(config.max_io_bytes_per_second, time)
        self.cleaners: list[CleanerThread] = []
        self._failures = log_dir_failure_channel
        self._time = time
        self._lock = threading.Lock()
        """A reconfiguration and a shutdown come from different threads, and neither may undo the other's work."""
        self._is_running = False

    def startup(self) -> None:
        """Start the threads. Raises ValueError when their memory is too small for a single key."""
        with self._lock:
            self._is_running = True
            self._start_cleaners(self._new_cleaners(self.config))

    def shutdown(self) -> None:
        """Stop the threads; a cleaning that is under way is given up."""
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
        self.cleaners = cleaners  # not before: a thread that has not begun must not be counted among the dead

    def _shutdown_cleaners(self) -> None:
        logger.info("Shutting down the log cleaner")
        # They leave the list first: a thread that ends because it was told to must not be counted among the dead.
        stopping, self.cleaners = self.cleaners, []
        for cleaner in stopping:
            cleaner.initiate_shutdown()
        for cleaner in stopping:
            cleaner.await_shutdown()

    # -- another configuration ---------------------------------------------------------------------------------------

    def validate_reconfiguration(self, config: CleanerConfig) -> None:
        """Raise ConfigError when the number of threads would change by more than a factor of two, or become 0.

        A slip of the finger must not take all memory, nor bring the cleaning to a stop; who means it goes in steps.
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
        """Let new threads with this configuration take the place of the old ones (and of those that have died).

        What the old ones have cleaned and not swapped in yet is thrown away; the new ones begin where the checkpoint
        says that the log is clean. Pauses of partitions (``abort_and_pause_cleaning``) stay. A shutdown is final.

        Raises ValueError and OSError when there is no memory for the new threads; then the old ones go on.
        """
        with self._lock:
            cleaners = self._new_cleaners(config) if self._is_running else []
            if config.max_io_bytes_per_second != self.config.max_io_bytes_per_second:
                logger.info("The log cleaner may read and write %s bytes/s now", config.max_io_bytes_per_second)
                self.throttler.update_desired_rate_per_second(config.max_io_bytes_per_second)
            self.config = config
            if self._is_running:
                self._shutdown_cleaners()
                self._start_cleaners(cleaners)

    def await_cleaned(self, topic_partition: TopicPartition, offset: int, max_wait_ms: int = 60_000) -> bool:
        """Wait until the log is clean below ``offset``; false when that takes too long. For tests."""
        deadline = _time.monotonic() + max_wait_ms / 1000
        while self.cleaner_manager.all_cleaner_checkpoints().get(topic_partition, -1) < offset:
            if _time.monotonic() >= deadline:
                return False
            _time.sleep(0.05)
        return True

    # -- for those who want to be alone with a log -------------------------------------------------------------------

    def abort_cleaning(self, topic_partition: TopicPartition) -> None:
        """Stop the cleaning of a partition, if there is one, and wait until it has stopped."""
        self.cleaner_manager.abort_cleaning(topic_partition)

    def abort_and_pause_cleaning(self, topic_partition: TopicPartition) -> None:
        """The same, and let none begin before it is resumed."""
        self.cleaner_manager.abort_and_pause_cleaning(topic_partition)

    def resume_cleaning(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """End one pause of each partition."""
        self.cleaner_manager.resume_cleaning(topic_partitions)

    # -- numbers for metrics -----------------------------------------------------------------------------------------

    @property
    def max_buffer_utilization_percent(self) -> int:
        """How full the fullest offset map of the threads' last cleanings was."""
        return int(100 * max((cleaner.last_stats.buffer_utilization for cleaner in self.cleaners), default=0))

    @property
    def cleaner_recopy_percent(self) -> int:
        """How much of what the threads' last cleanings read they wrote again."""
        read = sum(cleaner.last_stats.bytes_read for cleaner in self.cleaners)
        return 100 * sum(cleaner.last_stats.bytes_written for cleaner in self.cleaners) // max(read, 1)

    @property
    def max_clean_time_secs(self) -> int:
        """How long the longest of the threads' last cleanings took."""
        return int(max((cleaner.last_stats.elapsed_secs for cleaner in self.cleaners), default=0))

    @property
    def max_compaction_delay_secs(self) -> int:
        """By how much a log has exceeded ``max.compaction.lag.ms``, at most, when the threads last looked."""
        return (
            max((cleaner.last_pre_clean_stats.max_compaction_delay_ms for cleaner in self.cleaners), default=0) // 1000
        )

    @property
    def dead_thread_count(self) -> int:
        """How many threads have died of an error."""
        return sum(1 for cleaner in self.cleaners if not cleaner.is_alive())


def _bad_thread_number(wanted: int, message: str) -> ConfigError:
    return ConfigError("log.cleaner.threads", wanted, message)


class CleanerThread(ShutdownableThread):
    """Cleans one log after the other, the filthiest first; pauses ``log.cleaner.backoff.ms`` when none needs it."""

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
        """Of the last cleaning that came to its end."""
        self.last_pre_clean_stats = PreCleanStats()
        self._config = config
        self._manager = manager
        self._failures = log_dir_failure_channel
        self._offset_map = SkimpyOffsetMap(config.dedupe_buffer_size_per_thread)
        self._cleaner = Cleaner(thread_id, self._offset_map, config, throttler, time, self._check_done, self.pause)

    def _check_done(self, topic_partition: TopicPartition) -> None:
        """Raises ThreadShutdownError or LogCleaningAbortedError when it is time to stop."""
        if not self.is_running:
            raise ThreadShutdownError("the cleaner thread is to end")
        self._manager.check_cleaning_aborted(topic_partition)

    def do_work(self) -> None:
        """Clean a log, or pause."""
        if not self.clean_filthiest_log():
            self.pause(self._config.backoff_ms)
        self._manager.maintain_uncleanable_partitions()

    def on_exit(self) -> None:
        """Give the memory back."""
        self._offset_map.close()

    def clean_filthiest_log(self) -> bool:
        """Clean the log that needs it most, then delete old segments of compacted logs; false when none needed it."""
        pre_clean_stats = PreCleanStats()
        cleanable = self._manager.grab_filthiest_compacted_log(pre_clean_stats)
        cleaned = False
        if cleanable is not None:
            self.last_pre_clean_stats = pre_clean_stats
            cleaned = self._clean_log(cleanable)
        self._delete_old_segments()
        return cleaned

    def _clean_log(self, cleanable: LogToClean) -> bool:
        """False when it did not work: then there is no hurry to try again."""
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
            logger.warning("No memory to clean log %s now, it will be tried again", cleanable.log.name)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not keep the other logs from being cleaned
            if not (isinstance(error, ApiError) and error.error is Errors.KAFKA_STORAGE_ERROR):  # that is known already
                self._mark_uncleanable(cleanable.log)
        finally:
            self._manager.done_cleaning(cleanable.topic_partition, cleanable.log.dir.parent, end_offset)
        return False

    def _mark_uncleanable(self, log: Log) -> None:
        logger.exception("Unexpected error while cleaning log %s: its partition is marked as uncleanable", log.name)
        self._manager.mark_partition_uncleanable(log.dir.parent, log.topic_partition)

    def _delete_old_segments(self) -> None:
        """What retention does for all other logs; here nobody cleans them at the same time."""
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
