"""Tracks which log is dirtiest, which logs are being cleaned, and up to where each is clean.

Kafka 0.10.2: core/.../log/LogCleanerManager.scala · book 6.1.6
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kafka_lite.common.errors import ApiError, KafkaError
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.checkpoint_file import CheckpointFormatError
from kafka_lite.log.checkpoints.offset_checkpoint_file import CLEANER_OFFSET_CHECKPOINT_FILE, OffsetCheckpointFile
from kafka_lite.log.cleaning.cleaner_stats import PreCleanStats
from kafka_lite.log.cleaning.log_to_clean import LogToClean, cleanable_offsets, max_compaction_delay_ms
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.log import Log
from kafka_lite.log.log_cleaning_state import VALID_PREVIOUS_STATES, LogCleaningAbortedError, LogCleaningState

logger = logging.getLogger("kafka_lite.log.cleaning.log_cleaner")  # as in Kafka: one logger for all cleaning


class LogCleanerManager:
    """The cleaning state of every partition, shared by the cleaner threads and callers that need a log to themselves.

    ::

        cleaner thread                      caller that truncates, deletes or changes a log
        grab_filthiest_compacted_log        abort_and_pause_cleaning      waits until the thread has stopped
        check_cleaning_aborted  (often)     ...
        done_cleaning                       resume_cleaning

    ``cleaner-offset-checkpoint`` in each log directory holds the first dirty offset of each log: everything below it
    has been compacted together. It is written when a cleaning ends. After a crash during a cleaning, the cleaning is
    repeated, with the same result.

    One lock guards all state.
    """

    def __init__(
        self,
        log_dirs: Sequence[Path],
        logs: Mapping[TopicPartition, Log],
        log_dir_failure_channel: LogDirFailureChannel,
        time: Time,
    ) -> None:
        """``logs`` is live: it changes as logs are created and deleted."""
        self._logs = logs
        self._failures = log_dir_failure_channel
        self._time = time
        self._checkpoints = {
            directory: OffsetCheckpointFile(directory / CLEANER_OFFSET_CHECKPOINT_FILE) for directory in log_dirs
        }
        self._states: dict[TopicPartition, LogCleaningState] = {}
        """Partitions in state NONE are not in the map."""
        self._pauses: dict[TopicPartition, int] = {}
        self._uncleanable: set[tuple[Path, TopicPartition]] = set()
        self._lock = threading.RLock()
        self._stopped = threading.Condition(self._lock)
        """Notified when a thread has stopped working on a log."""
        self.dirtiest_log_cleanable_ratio = 0.0
        self._last_run_ms = time.hi_res_ms()

    # -- states ------------------------------------------------------------------------------------------------------

    def cleaning_state(self, topic_partition: TopicPartition) -> LogCleaningState:
        """The cleaning state of a partition."""
        return self._states.get(topic_partition, LogCleaningState.NONE)

    def paused_count(self, topic_partition: TopicPartition) -> int:
        """How many pauses of a partition have not been resumed yet."""
        return self._pauses.get(topic_partition, 0)

    def _change(self, topic_partition: TopicPartition, state: LogCleaningState) -> None:
        """Change the state. Raises KafkaError if the transition is not in the table, which would be a bug."""
        current = self.cleaning_state(topic_partition)
        if current not in VALID_PREVIOUS_STATES[state]:
            raise KafkaError(
                f"the cleaning state of {topic_partition} cannot change from {current.value} to {state.value}"
            )
        if state is LogCleaningState.NONE:
            del self._states[topic_partition]
        else:
            self._states[topic_partition] = state

    def _pause(self, topic_partition: TopicPartition) -> None:
        self._change(topic_partition, LogCleaningState.LOG_CLEANING_PAUSED)
        self._pauses[topic_partition] = self.paused_count(topic_partition) + 1

    def _is_free(self, topic_partition: TopicPartition, log: Log) -> bool:
        """Whether a cleaner thread may take the log."""
        return topic_partition not in self._states and (log.dir.parent, topic_partition) not in self._uncleanable

    # -- for the cleaner threads -------------------------------------------------------------------------------------

    def grab_filthiest_compacted_log(self, pre_clean_stats: PreCleanStats | None = None) -> LogToClean | None:
        """Return the log with the highest cleanable ratio among those that need cleaning, and mark it as in progress.

        Returns None if no log needs cleaning, or all that do are taken.
        """
        stats = pre_clean_stats or PreCleanStats()
        with self._lock:
            self._last_run_ms = self._time.hi_res_ms()
            dirty = [log for log in self._dirty_logs(stats) if log.total_bytes > 0]
            self.dirtiest_log_cleanable_ratio = max((log.cleanable_ratio for log in dirty), default=0.0)
            cleanable = [log for log in dirty if log.is_cleanable]
            if not cleanable:
                return None
            stats.cleanable_partitions = len(cleanable)
            filthiest = max(cleanable, key=lambda log: log.cleanable_ratio)
            self._change(filthiest.topic_partition, LogCleaningState.LOG_CLEANING_IN_PROGRESS)
            return filthiest

    def _dirty_logs(self, stats: PreCleanStats) -> Iterable[LogToClean]:
        now_ms = self._time.milliseconds()
        last_clean = self.all_cleaner_checkpoints()
        for topic_partition, log in list(self._logs.items()):
            if not log.config.compact or not self._is_free(topic_partition, log):
                continue
            try:
                yield self._log_to_clean(topic_partition, log, last_clean.get(topic_partition), now_ms, stats)
            except (OSError, ApiError) as error:
                logger.warning("Cannot compute how dirty %s is, so it is not cleaned: %s", log.name, error)
                self.mark_partition_uncleanable(log.dir.parent, topic_partition)

    def _log_to_clean(
        self,
        topic_partition: TopicPartition,
        log: Log,
        last_clean_offset: int | None,
        now_ms: int,
        stats: PreCleanStats,
    ) -> LogToClean:
        offsets = cleanable_offsets(log, last_clean_offset, now_ms)
        if offsets.force_update_checkpoint:
            self.update_checkpoints(log.dir.parent, {topic_partition: offsets.first_dirty_offset})
        delay_ms = max_compaction_delay_ms(log, offsets.first_dirty_offset, now_ms)
        stats.update_max_compaction_delay(delay_ms)
        return LogToClean(
            topic_partition,
            log,
            offsets.first_dirty_offset,
            offsets.first_uncleanable_dirty_offset,
            need_compaction_now=delay_ms > 0,
        )

    def check_cleaning_aborted(self, topic_partition: TopicPartition) -> None:
        """Raise LogCleaningAbortedError if the thread that cleans the partition has been asked to stop."""
        if self.cleaning_state(topic_partition) is LogCleaningState.LOG_CLEANING_ABORTED:
            raise LogCleaningAbortedError(f"cleaning of {topic_partition} was aborted")

    def done_cleaning(self, topic_partition: TopicPartition, log_dir: Path, end_offset: int) -> None:
        """End a cleaning, finished or not; the checkpoint moves to ``end_offset`` only if it was not aborted."""
        with self._lock:
            if self.cleaning_state(topic_partition) is LogCleaningState.LOG_CLEANING_IN_PROGRESS:
                self.update_checkpoints(log_dir, {topic_partition: end_offset})
            self._done(topic_partition)

    def _done(self, topic_partition: TopicPartition) -> None:
        if self.cleaning_state(topic_partition) is LogCleaningState.LOG_CLEANING_ABORTED:
            self._pause(topic_partition)
            self._stopped.notify_all()
        else:
            self._change(topic_partition, LogCleaningState.NONE)

    def deletable_logs(self) -> dict[TopicPartition, Log]:
        """Return the compacted logs that nobody is working on, and mark them as in progress.

        This includes logs that are not ``compact,delete``: they may have segments below their start offset.
        """
        with self._lock:
            deletable = {
                topic_partition: log
                for topic_partition, log in list(self._logs.items())
                if log.config.compact and self._is_free(topic_partition, log)
            }
            for topic_partition in deletable:
                self._change(topic_partition, LogCleaningState.LOG_CLEANING_IN_PROGRESS)
            return deletable

    def done_deleting(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """End the deletion of old segments in these logs."""
        with self._lock:
            for topic_partition in topic_partitions:
                self._done(topic_partition)

    # -- for all other callers ---------------------------------------------------------------------------------------

    def abort_cleaning(self, topic_partition: TopicPartition) -> None:
        """Abort a partition's cleaning, if one is in progress, and wait until it has stopped."""
        with self._lock:
            self.abort_and_pause_cleaning(topic_partition)
            self.resume_cleaning([topic_partition])

    def abort_and_pause_cleaning(self, topic_partition: TopicPartition) -> None:
        """Abort a partition's cleaning, wait until it has stopped, and prevent new ones until ``resume_cleaning``."""
        with self._lock:
            while self.cleaning_state(topic_partition) is LogCleaningState.LOG_CLEANING_ABORTED:
                self._stopped.wait()  # another caller has asked the thread to stop, and it has not stopped yet
            if self.cleaning_state(topic_partition) is not LogCleaningState.LOG_CLEANING_IN_PROGRESS:
                self._pause(topic_partition)
                return
            self._change(topic_partition, LogCleaningState.LOG_CLEANING_ABORTED)
            while self.cleaning_state(topic_partition) is not LogCleaningState.LOG_CLEANING_PAUSED:
                self._stopped.wait()

    def resume_cleaning(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Undo one pause of each partition. Raises KafkaError if one is not paused."""
        with self._lock:
            for topic_partition in topic_partitions:
                if self.cleaning_state(topic_partition) is not LogCleaningState.LOG_CLEANING_PAUSED:
                    raise KafkaError(f"cleaning of {topic_partition} cannot be resumed: it is not paused")
                self._pauses[topic_partition] -= 1
                if self._pauses[topic_partition] == 0:
                    del self._pauses[topic_partition]
                    self._change(topic_partition, LogCleaningState.NONE)

    def pause_cleaning_for_non_compacted_partitions(self) -> dict[TopicPartition, Log]:
        """Return the logs that are not compacted and that nobody is working on, and pause them for retention.

        They must be paused because a topic may become compacted at any time.
        """
        with self._lock:
            found = {
                topic_partition: log
                for topic_partition, log in list(self._logs.items())
                if not log.config.compact and topic_partition not in self._states
            }
            for topic_partition in found:
                self._pause(topic_partition)
            return found

    # -- checkpoints -------------------------------------------------------------------------------------------------

    def all_cleaner_checkpoints(self) -> dict[TopicPartition, int]:
        """The first dirty offset of every log that has been cleaned."""
        with self._lock:
            found: dict[TopicPartition, int] = {}
            for directory in self._checkpoints:
                found.update(self._read(directory))
            return found

    def update_checkpoints(
        self,
        log_dir: Path,
        offsets: Mapping[TopicPartition, int] | None = None,
        to_remove: TopicPartition | None = None,
    ) -> None:
        """Write first dirty offsets, or remove a partition's. Entries of deleted logs are removed as well."""
        with self._lock:
            if log_dir not in self._checkpoints:
                return
            updated = {tp: offset for tp, offset in self._read(log_dir).items() if tp in self._logs and tp != to_remove}
            updated.update(offsets or {})
            try:
                self._checkpoints[log_dir].write(updated)
            except OSError as error:
                self._fail(log_dir, error)

    def maybe_truncate_checkpoint(self, log_dir: Path, topic_partition: TopicPartition, offset: int) -> None:
        """Lower the checkpoint of a log that was truncated to ``offset``: nothing beyond that is clean."""
        with self._lock:
            if self._read(log_dir).get(topic_partition, 0) > offset:
                self.update_checkpoints(log_dir, {topic_partition: offset})

    def _read(self, log_dir: Path) -> dict[TopicPartition, int]:
        """Read a checkpoint. If it is lost, the logs are cleaned again from their start."""
        checkpoint = self._checkpoints.get(log_dir)
        if checkpoint is None:
            return {}
        try:
            return checkpoint.read()
        except CheckpointFormatError as error:
            logger.warning("The logs in %s will be cleaned from their start: %s", log_dir, error)
        except OSError as error:
            self._fail(log_dir, error)
        return {}

    def _fail(self, log_dir: Path, error: OSError) -> None:
        message = f"Failed to access {CLEANER_OFFSET_CHECKPOINT_FILE} in {log_dir}"
        self._failures.maybe_add_offline_log_dir(log_dir, message, error)

    def handle_log_dir_failure(self, log_dir: Path) -> None:
        """Drop the checkpoint of a log directory whose disk has failed."""
        with self._lock:
            self._checkpoints.pop(log_dir, None)

    # -- logs that cannot be cleaned ---------------------------------------------------------------------------------

    def mark_partition_uncleanable(self, log_dir: Path, topic_partition: TopicPartition) -> None:
        """Exclude a partition until the broker restarts: cleaning it failed unexpectedly and would fail again."""
        with self._lock:
            self._uncleanable.add((log_dir, topic_partition))

    def uncleanable_partitions(self, log_dir: Path) -> set[TopicPartition]:
        """The partitions of a log directory that are excluded from cleaning."""
        with self._lock:
            return {topic_partition for directory, topic_partition in self._uncleanable if directory == log_dir}

    def uncleanable_bytes(self, log_dir: Path) -> int:
        """How many cleanable bytes those partitions have."""
        now_ms = self._time.milliseconds()
        last_clean = self.all_cleaner_checkpoints()
        total = 0
        for topic_partition in self.uncleanable_partitions(log_dir):
            log = self._logs.get(topic_partition)
            if log is not None:
                offsets = cleanable_offsets(log, last_clean.get(topic_partition), now_ms)
                total += LogToClean(topic_partition, log, *offsets[:2]).cleanable_bytes
        return total

    def maintain_uncleanable_partitions(self) -> None:
        """Remove deleted partitions from the set: a new topic of the same name starts with a clean log."""
        with self._lock:
            self._uncleanable = {(directory, tp) for directory, tp in self._uncleanable if tp in self._logs}

    # -- metrics -----------------------------------------------------------------------------------------------------

    @property
    def max_dirty_percent(self) -> int:
        """The cleanable ratio of the dirtiest log when a thread last checked, in percent."""
        return int(100 * self.dirtiest_log_cleanable_ratio)

    @property
    def time_since_last_run_ms(self) -> int:
        """Milliseconds since a thread last looked for a log to clean."""
        return int(self._time.hi_res_ms() - self._last_run_ms)
