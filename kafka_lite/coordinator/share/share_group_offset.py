"""The state of a share partition, as a record of ``__share_group_state`` has it.

Kafka 4.1: share-coordinator/.../coordinator/share/ShareGroupOffset.java · book 10.3
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.coordinator.share.persister import (
    DEFAULT_LEADER_EPOCH,
    DEFAULT_STATE_EPOCH,
    UNINITIALIZED_EPOCH,
    UNINITIALIZED_START_OFFSET,
    PartitionStateBatchData,
    PartitionStateData,
    PersisterStateBatch,
)
from kafka_lite.coordinator.share.persister_state_batch_combiner import combine_state_batches

NO_TIMESTAMP = 0


@dataclass(frozen=True, slots=True)
class ShareGroupOffset:
    """Where a group is in a partition: before ``start_offset`` everything is done, after it the batches count.

    ::

        offsets      ... 9 │ 10   11   12   13   14   15   16 │ 17 ...
                           │ ╰─ acked ─╯    ╰─ available, 2 ─╯ │
                 done      │ start offset         a gap: as new │ not delivered yet
    """

    snapshot_epoch: int
    """Counts the snapshots."""

    leader_epoch: int
    start_offset: int
    state_batches: tuple[PersisterStateBatch, ...] = ()
    state_epoch: int = DEFAULT_STATE_EPOCH
    create_timestamp: int = NO_TIMESTAMP
    write_timestamp: int = NO_TIMESTAMP
    """Of the snapshot; later than ``create_timestamp`` if an idle partition's state was written once more."""

    @property
    def is_of_a_cold_partition(self) -> bool:
        """Whether the snapshot was written because nothing had changed for a long time."""
        return self.create_timestamp != self.write_timestamp

    def merge(self, update: ShareGroupOffset) -> ShareGroupOffset:
        """The state after an update, whose epoch or offset may be -1: not changed."""
        start_offset = _changed(update.start_offset, UNINITIALIZED_START_OFFSET, self.start_offset)
        return ShareGroupOffset(
            self.snapshot_epoch,
            _changed(update.leader_epoch, UNINITIALIZED_EPOCH, self.leader_epoch),
            start_offset,
            combine_state_batches(self.state_batches, update.state_batches, start_offset),
            self.state_epoch,
            self.create_timestamp,
            self.write_timestamp,
        )

    def next_snapshot(self, data: PartitionStateBatchData, now_ms: int) -> ShareGroupOffset:
        """The snapshot that is written instead of an update with this data."""
        start_offset = _changed(data.start_offset, UNINITIALIZED_START_OFFSET, self.start_offset)
        return ShareGroupOffset(
            self.snapshot_epoch + 1,
            _changed(data.leader_epoch, UNINITIALIZED_EPOCH, self.leader_epoch),
            start_offset,
            combine_state_batches(self.state_batches, data.state_batches, start_offset),
            _changed(data.state_epoch, UNINITIALIZED_EPOCH, self.state_epoch),
            now_ms,
            now_ms,
        )

    def update(self, data: PartitionStateBatchData) -> ShareGroupOffset:
        """The update with this data: only what changes."""
        batches = combine_state_batches((), data.state_batches, data.start_offset)
        return ShareGroupOffset(self.snapshot_epoch, data.leader_epoch, data.start_offset, batches)

    @classmethod
    def initial(cls, data: PartitionStateData, snapshot_epoch: int, now_ms: int) -> ShareGroupOffset:
        """The first state after an initialization."""
        return cls(snapshot_epoch, DEFAULT_LEADER_EPOCH, data.start_offset, (), data.state_epoch, now_ms, now_ms)


def _changed(value: int, unchanged: int, before: int) -> int:
    return before if value == unchanged else value
