"""State that a log derives from its messages: the epochs of the leaders and the producers that wrote them.

Kafka 0.11: core/.../log/Log.scala (leaderEpochCache, producerStateManager); since 3.1 UnifiedLog · book 6.2.2, 10.3
"""

from __future__ import annotations

import threading
from pathlib import Path

from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry, LeaderEpochCheckpointFile
from kafka_lite.log.leader_epoch_file_cache import UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET, LeaderEpochFileCache
from kafka_lite.log.loading.producer_state_loader import rebuild_producer_state
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.log.producers.producer_state_manager import LastRecord, ProducerStateManager
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.record.record import MAGIC_V2


class DerivedState:
    """The leader epochs and the producers of a log, which can be read from its batches again, as after a crash.

    ::

        batches        │ epoch 0, producer 7 │ epoch 0 │ epoch 2, producer 9 │ epoch 2, producer 7 │
        epochs         │ 0 begins at 20                │ 2 begins at 45                            │
        producers      snapshots at 20, 45                             in memory: 7 and 9, as of 58

    They follow the log, which reports whatever changes its range, under its lock. Queries from other threads take that
    lock themselves. Messages of formats before v2 carry no leader epochs, and then there is no ``leader_epoch_cache``.
    Raises OSError if a file cannot be written.
    """

    def __init__(
        self,
        directory: Path,
        magic: int,
        producer_config: ProducerStateManagerConfig | None,
        topic_partition: TopicPartition,
        lock: threading.RLock,
        time: Time,
    ) -> None:
        self._topic_partition = topic_partition
        self._lock = lock
        self._time = time
        self.leader_epoch_cache = self._open_leader_epoch_cache(directory, magic)
        self.producers = ProducerStateManager(topic_partition, directory, producer_config)

    def _open_leader_epoch_cache(self, directory: Path, magic: int) -> LeaderEpochFileCache | None:
        if magic < MAGIC_V2:
            return None
        return LeaderEpochFileCache(self._topic_partition, LeaderEpochCheckpointFile(directory))

    def use_format(self, magic: int, directory: Path) -> None:
        """Read the leader epochs, or forget them, if the format of new messages requires it."""
        if (magic >= MAGIC_V2) != (self.leader_epoch_cache is not None):
            self.leader_epoch_cache = self._open_leader_epoch_cache(directory, magic)

    # -- leader epochs -----------------------------------------------------------------------------------------------

    @property
    def latest_epoch(self) -> int:
        """The newest known leader epoch, or -1 if there is none."""
        return self.leader_epoch_cache.latest_epoch if self.leader_epoch_cache is not None else UNDEFINED_EPOCH

    def end_offset_for_epoch(self, leader_epoch: int, log_end_offset: int) -> EpochEntry:
        """Return (epoch, end offset) of the newest epoch that is not newer, or (-1, -1) if unknown."""
        if self.leader_epoch_cache is None:
            return EpochEntry(UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)
        return self.leader_epoch_cache.end_offset_for(leader_epoch, log_end_offset)

    def epoch_for_offset(self, offset: int) -> int:
        """The epoch in which the message at ``offset`` was appended, or -1 if unknown."""
        return self.leader_epoch_cache.epoch_for_offset(offset) if self.leader_epoch_cache is not None else -1

    def truncate_leader_epochs(self, end_offset: int) -> None:
        """Forget epochs that begin at or after ``end_offset``."""
        if self.leader_epoch_cache is not None:
            self.leader_epoch_cache.truncate_from_end(end_offset)

    # -- producers ---------------------------------------------------------------------------------------------------

    def remove_expired_producers(self) -> None:
        """Remove producers that have not written for ``producer.id.expiration.ms``."""
        with self._lock:
            self.producers.remove_expired_producers(self._time.milliseconds())

    def last_records_of_active_producers(self) -> dict[int, LastRecord]:
        """The last record of every known producer."""
        with self._lock:
            return self.producers.last_records()

    def maybe_start_transaction_verification(
        self, producer_id: int, sequence: int, epoch: int, supports_epoch_bump: bool = False
    ) -> VerificationGuard | None:
        """Begin to verify that this partition is part of the producer's transaction, or continue.

        Returns None if the transaction is already open in this log, and nothing needs to be verified. Raises ApiError
        INVALID_PRODUCER_EPOCH. ``supports_epoch_bump``: see ``ProducerStateManager.maybe_start_verification``.
        """
        with self._lock:
            now_ms = self._time.milliseconds()
            return self.producers.maybe_start_verification(producer_id, sequence, epoch, now_ms, supports_epoch_bump)

    def on_high_watermark_updated(self, high_watermark: int) -> None:
        """Forget the transactions whose markers are replicated."""
        if self.producers.transactions.ended:
            with self._lock:
                self.producers.on_high_watermark_updated(high_watermark)

    # -- changes of the log's range ------------------------------------------------------------------------------------

    def on_log_start_offset_incremented(self, log_start_offset: int) -> None:
        """Forget what lies below the new log start offset."""
        if self.leader_epoch_cache is not None:
            self.leader_epoch_cache.truncate_from_start(log_start_offset)
        self.producers.on_log_start_offset_incremented(log_start_offset)

    def truncate_to(self, segments: LogSegments, log_start_offset: int, log_end_offset: int) -> None:
        """The log has been truncated, and ends here: forget later epochs, and read the producers again."""
        self.truncate_leader_epochs(log_end_offset)
        now_ms = self._time.milliseconds()
        rebuild_producer_state(
            self.producers, segments, log_start_offset, log_end_offset, now_ms, reload_from_clean_shutdown=False
        )

    def truncate_fully_and_start_at(self, new_offset: int) -> None:
        """Forget everything: the log is empty, and begins at ``new_offset``."""
        self.truncate_leader_epochs(new_offset)
        self.producers.truncate_fully_and_start_at(new_offset)

    # -- files -------------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Force the leader epochs to disk. Producers need not be: recovery reads them from the batches."""
        if self.leader_epoch_cache is not None:
            self.leader_epoch_cache.flush()

    def update_directory(self, directory: Path) -> None:
        """Use the new directory after the partition's directory has been renamed."""
        self.producers.update_directory(directory)
        if self.leader_epoch_cache is not None:
            self.leader_epoch_cache.set_directory(directory)
