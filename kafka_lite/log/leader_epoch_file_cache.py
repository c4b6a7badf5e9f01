"""Tracks which leader wrote which messages: the start offset of every leader epoch of a partition.

Kafka 0.11 and later: core/.../server/epoch/LeaderEpochFileCache (KIP-101, KIP-279) · book 6.2.2
"""

from __future__ import annotations

import bisect
import logging
import threading
from pathlib import Path
from typing import Final

from kafka_lite.common.sendable import Buffer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.checkpoint_file import CheckpointFormatError
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry, LeaderEpochCheckpointFile
from kafka_lite.log.log_append_info import LogAppendInfo
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.record.records import batches

logger = logging.getLogger(__name__)

UNDEFINED_EPOCH: Final = -1
UNDEFINED_EPOCH_OFFSET = -1


class LeaderEpochFileCache:
    """Epochs and their start offsets, both ascending, in memory and in a checkpoint file.

    ::

        epoch          0            2         5
        start offset   0            120       180
        log            │ ─ epoch 0 ─│─epoch 2─│─ epoch 5 ─ ... log end

    A returning follower asks the leader where the follower's last epoch ends, and truncates its log to that offset.
    This removes messages that only an old leader had, but no acknowledged ones. (Up to 0.10 Kafka truncated to the high
    watermark, which lags, so too much could be removed.)
    """

    def __init__(self, topic_partition: TopicPartition, checkpoint: LeaderEpochCheckpointFile) -> None:
        """Read the checkpoint; a malformed one counts as empty, since recovery and new epochs fill it again."""
        self._topic_partition = topic_partition
        self._checkpoint = checkpoint
        self._lock = threading.RLock()
        self._entries: list[EpochEntry] = []
        self._unsynced = False
        """Whether there is an epoch that may not be on disk yet."""
        try:
            stored = checkpoint.read()
        except CheckpointFormatError as error:
            logger.warning("Cannot read the leader epochs of %s; starting without them: %s", topic_partition, error)
            stored = []
        for entry in stored:
            self._insert(entry)

    @property
    def entries(self) -> list[EpochEntry]:
        """All entries in ascending order."""
        with self._lock:
            return list(self._entries)

    @property
    def latest_entry(self) -> EpochEntry | None:
        """The entry of the newest epoch, or None."""
        with self._lock:
            return self._entries[-1] if self._entries else None

    @property
    def earliest_entry(self) -> EpochEntry | None:
        """The entry of the oldest epoch that still has messages, or None."""
        with self._lock:
            return self._entries[0] if self._entries else None

    @property
    def latest_epoch(self) -> int:
        """The newest epoch, or -1 if there is none."""
        entries = self._entries  # without the lock, which every append would take: changes replace the list
        return entries[-1].epoch if entries else UNDEFINED_EPOCH

    def assign(self, epoch: int, start_offset: int, *, sync: bool = True) -> None:
        """Record that ``epoch`` begins at ``start_offset``. A no-op if it is already the newest epoch.

        Conflicting entries (with the same or a later epoch, or the same or a later offset) are removed. Without
        ``sync`` the write is not forced to disk; ``flush`` does that. Raises ValueError for negative numbers, OSError
        if the checkpoint cannot be written.
        """
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"leader epoch {epoch} cannot start at offset {start_offset}")
        with self._lock:
            if self._insert(EpochEntry(epoch, start_offset)):
                self._unsynced = True  # even if the write fails, for example on a full disk
                self._checkpoint.write(self._entries, sync=sync)
                self._unsynced = not sync

    def flush(self) -> None:
        """Force entries that were written without ``sync`` to disk, before the recovery point passes their messages.

        Above the recovery point they need not be on disk: recovery reads the epochs from the batches. Raises OSError.
        """
        if self._unsynced:
            with self._lock:
                self._checkpoint.write(self._entries)
                self._unsynced = False

    def assign_from(self, records: Buffer, info: LogAppendInfo) -> None:
        """Record the epochs of batches that are about to be appended.

        A leader that writes an old format has no epochs. Then all entries are removed, and after the next election
        replicas truncate to the high watermark again.
        """
        if info.last_leader_epoch == self.latest_epoch:
            return
        if info.magic < MAGIC_V2:
            self.clear_and_flush()
            return
        for batch in batches(records):
            if batch.partition_leader_epoch >= 0:
                self.assign_newer(batch.partition_leader_epoch, batch.base_offset)

    def assign_newer(self, epoch: int, start_offset: int) -> None:
        """Record an epoch found in a batch, but only if it is newer than all known epochs."""
        if epoch > self.latest_epoch:
            self.assign(epoch, start_offset)

    def _insert(self, new: EpochEntry) -> bool:
        latest = self._entries[-1] if self._entries else None
        if latest is not None and latest.epoch == new.epoch and latest.start_offset <= new.start_offset:
            return False
        kept = [entry for entry in self._entries if entry.epoch < new.epoch and entry.start_offset < new.start_offset]
        removed = self._entries[len(kept) :]
        if any(entry.start_offset != new.start_offset for entry in removed):
            logger.warning("Leader epoch %s of %s replaces %s", new, self._topic_partition, removed)
        self._entries = [*kept, new]
        return True

    def end_offset_for(self, requested_epoch: int, log_end_offset: int) -> EpochEntry:
        """Return the newest epoch that is not newer than the requested one, and its end offset.

        * The newest epoch ends at the log end offset.
        * Any other epoch ends where the next known one begins.
        * An epoch older than all known ones ends at or before the start of the first one; that start is returned.
        * (-1, -1) is returned for -1 and for an epoch newer than all known ones: the end is not known here.
        """
        with self._lock:
            undefined = EpochEntry(UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)
            if requested_epoch == UNDEFINED_EPOCH or not self._entries:
                return undefined
            if requested_epoch == self._entries[-1].epoch:
                return EpochEntry(requested_epoch, log_end_offset)
            higher = bisect.bisect_right(self._entries, requested_epoch, key=lambda entry: entry.epoch)
            if higher == len(self._entries):
                return undefined
            epoch = self._entries[higher - 1].epoch if higher > 0 else requested_epoch
            return EpochEntry(epoch, self._entries[higher].start_offset)

    def epoch_for_offset(self, offset: int) -> int:
        """The epoch in which the message at ``offset`` was appended, or -1 if unknown."""
        with self._lock:
            higher = bisect.bisect_right(self._entries, offset, key=lambda entry: entry.start_offset)
            return self._entries[higher - 1].epoch if higher > 0 else UNDEFINED_EPOCH

    def truncate_from_end(self, end_offset: int) -> None:
        """Remove epochs that begin at or after ``end_offset``, to which the log has been truncated."""
        with self._lock:
            kept = [entry for entry in self._entries if entry.start_offset < end_offset]
            self._replace(kept)

    def truncate_from_start(self, start_offset: int) -> None:
        """Remove epochs that end before ``start_offset``; the epoch at that offset now begins there."""
        with self._lock:
            older = [entry for entry in self._entries if entry.start_offset <= start_offset]
            if older:
                self._replace([EpochEntry(older[-1].epoch, start_offset), *self._entries[len(older) :]])

    def clear_and_flush(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._replace([])

    def set_directory(self, directory: Path) -> None:
        """Use the new directory after the partition's directory has been renamed."""
        self._checkpoint.set_directory(directory)

    def _replace(self, entries: list[EpochEntry]) -> None:
        # Not forced to disk, as in Kafka: after a crash the loader truncates the entries again to match the log.
        if entries != self._entries:
            self._entries = entries
            try:
                self._checkpoint.write(entries, sync=False)
            except OSError:
                self._unsynced = True
                raise
