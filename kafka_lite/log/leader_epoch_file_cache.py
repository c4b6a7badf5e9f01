"""Which leader wrote what: the start offset of every leader epoch of a partition.

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

    A follower that comes back asks the leader where the last epoch it knows ends, and truncates its log to that
    offset: messages that only an old leader had are gone then, and no acknowledged one is (the high watermark, which
    Kafka used for that up to 0.10, lags behind and could take too much).
    """

    def __init__(self, topic_partition: TopicPartition, checkpoint: LeaderEpochCheckpointFile) -> None:
        """Read the checkpoint; a malformed one counts as empty, since recovery and new epochs fill it again."""
        self._topic_partition = topic_partition
        self._checkpoint = checkpoint
        self._lock = threading.RLock()
        self._entries: list[EpochEntry] = []
        self._unsynced = False
        """Whether an epoch was noted that may not be on disk yet."""
        try:
            stored = checkpoint.read()
        except CheckpointFormatError as error:
            logger.warning("Leader epochs of %s are lost: %s", topic_partition, error)
            stored = []
        for entry in stored:
            self._insert(entry)

    @property
    def entries(self) -> list[EpochEntry]:
        """All entries, ascending."""
        with self._lock:
            return list(self._entries)

    @property
    def latest_entry(self) -> EpochEntry | None:
        """The entry of the newest epoch."""
        with self._lock:
            return self._entries[-1] if self._entries else None

    @property
    def earliest_entry(self) -> EpochEntry | None:
        """The entry of the oldest epoch of which there are messages."""
        with self._lock:
            return self._entries[0] if self._entries else None

    @property
    def latest_epoch(self) -> int:
        """The newest epoch; -1 when there is none."""
        entries = self._entries  # without the lock, which every append would take: a change puts another list in place
        return entries[-1].epoch if entries else UNDEFINED_EPOCH

    def assign(self, epoch: int, start_offset: int, *, sync: bool = True) -> None:
        """Note that ``epoch`` begins at ``start_offset``, unless it is the newest one already.

        Entries that contradict it (an epoch as new, an offset as large) are removed. Without ``sync`` the disk is not
        waited for; ``flush`` does that. Raises ValueError for negative numbers, OSError when the checkpoint cannot be
        written.
        """
        if epoch < 0 or start_offset < 0:
            raise ValueError(f"leader epoch {epoch} cannot begin at offset {start_offset}")
        with self._lock:
            if self._insert(EpochEntry(epoch, start_offset)):
                self._unsynced = True  # also if the write fails, on a full disk for example
                self._checkpoint.write(self._entries, sync=sync)
                self._unsynced = not sync

    def flush(self) -> None:
        """Force to disk what was noted without ``sync``: before the recovery point passes messages of that epoch.

        Above the recovery point it need not be there: recovery reads the epochs out of the batches. Raises OSError.
        """
        if self._unsynced:
            with self._lock:
                self._checkpoint.write(self._entries)
                self._unsynced = False

    def assign_from(self, records: Buffer, info: LogAppendInfo) -> None:
        """Note the epochs of batches that are about to be appended.

        A leader that writes an old format has none: then all are forgotten, and truncation must go back to high
        watermarks after the next election.
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
        """The same, but only for an epoch that is newer than all known ones: what a batch in the log tells."""
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
        """The newest epoch that is not newer than the requested one, and the offset at which it ends.

        * The newest epoch ends at the log's end.
        * An epoch ends where the next one that is known begins.
        * Of an epoch older than all known ones only that is known: it ends at or before the start of the first.
        * (-1, -1) for -1 and for an epoch from the future: the answer is not known here.
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
        """The epoch in which the message at ``offset`` was appended; -1 when it is not known."""
        with self._lock:
            higher = bisect.bisect_right(self._entries, offset, key=lambda entry: entry.start_offset)
            return self._entries[higher - 1].epoch if higher > 0 else UNDEFINED_EPOCH

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget the epochs that begin at or behind ``end_offset``: the log has been truncated to it."""
        with self._lock:
            kept = [entry for entry in self._entries if entry.start_offset < end_offset]
            self._replace(kept)

    def truncate_from_start(self, start_offset: int) -> None:
        """Forget what lies before ``start_offset``; the epoch that goes on there begins there from now on."""
        with self._lock:
            older = [entry for entry in self._entries if entry.start_offset <= start_offset]
            if older:
                self._replace([EpochEntry(older[-1].epoch, start_offset), *self._entries[len(older) :]])

    def clear_and_flush(self) -> None:
        """Forget everything."""
        with self._lock:
            self._replace([])

    def set_directory(self, directory: Path) -> None:
        """Note that the partition's directory has been renamed."""
        self._checkpoint.set_directory(directory)

    def _replace(self, entries: list[EpochEntry]) -> None:
        # Not forced to disk, as in Kafka: after a crash the loader truncates the stored entries to the log once more.
        if entries != self._entries:
            self._entries = entries
            try:
                self._checkpoint.write(entries, sync=False)
            except OSError:
                self._unsynced = True
                raise
