"""How far a sink task has got, and what of it is committed.

Kafka 0.10.2: connect/runtime/.../connect/runtime/WorkerSinkTask.java (currentOffsets, lastCommittedOffsets,
onCommitCompleted) · book 8.3.7
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata

logger = logging.getLogger(__name__)

Offsets = Mapping[TopicPartition, OffsetAndMetadata]


class SinkOffsets:
    """The offsets of a task's partitions; each is that of the next record.

    ::

        consumed ─▶ delivered: current ─▶ the task's pre_commit ─▶ committable ─▶ commit ─▶ committed

    Commits are asynchronous, and one may be given up for taking too long. So each has a number, and the outcome of one
    that is not the last one is ignored.
    """

    def __init__(self) -> None:
        self.current: dict[TopicPartition, OffsetAndMetadata] = {}
        """After the records that were put."""
        self.committed: dict[TopicPartition, OffsetAndMetadata] = {}
        self.committing = False
        self.failures = 0
        """Commits that have failed since the last one that succeeded."""
        self._consumed: dict[TopicPartition, OffsetAndMetadata] = {}
        self._number = 0
        self._began_ms = 0.0

    # ── records ───────────────────────────────────────────────────────────────────────────────────────────────────

    def assigned(self, positions: Mapping[TopicPartition, int]) -> None:
        """After a rebalance: the positions are current and committed, and nothing is consumed yet."""
        self.current = {partition: OffsetAndMetadata(position) for partition, position in positions.items()}
        self.committed = dict(self.current)
        self._consumed = {}

    def consumed(self, partition: TopicPartition, offset: int) -> None:
        """A record is part of the batch, or was dropped by a transformation."""
        self._consumed[partition] = OffsetAndMetadata(offset + 1)

    def delivered(self) -> None:
        """The task has taken the batch."""
        self.current.update(self._consumed)
        self._consumed = {}

    def dropped(self) -> None:
        """The batch is given up."""
        self._consumed = {}

    def rewound(self, partition: TopicPartition, offset: int) -> None:
        """The task continues at another offset, which counts as committed: it has stored it itself."""
        self.current[partition] = self.committed[partition] = OffsetAndMetadata(offset)

    def rewind_to_committed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The task could not write what it was given, and gives up its batch. Returns where to continue."""
        self.current = dict(self.committed)
        self._consumed = {}
        return self.committed

    # ── commits ───────────────────────────────────────────────────────────────────────────────────────────────────

    def begin_commit(self, now_ms: float) -> int:
        """The number of a new commit."""
        self.committing, self._began_ms = True, now_ms
        self._number += 1
        return self._number

    def committable(self, provided: Offsets) -> Offsets | None:
        """The offsets to commit, of those that the task provided: only of its partitions, and not beyond what it was
        given. None if nothing has changed since the last commit."""
        wanted = dict(self.committed)
        for partition, offset in provided.items():
            if partition not in wanted:
                logger.warning("Ignoring invalid offset %s of %s: partition not assigned", offset, partition)
            elif offset.offset > self.current[partition].offset:
                logger.warning("Ignoring invalid offset %s of %s: not yet consumed", offset, partition)
            else:
                wanted[partition] = offset
        return None if not provided or wanted == self.committed else wanted

    def end_commit(self, number: int, error: BaseException | None, committed: Offsets | None) -> None:
        """Note the outcome of a commit. That of one that is not the last one is ignored. ``committed`` is None if there
        was nothing to commit."""
        if number != self._number:
            logger.debug("Commit %d has ended after commit %d was begun", number, self._number)
            return
        self.committing = False
        if error is not None:
            logger.error("Commit of offsets failed: %s", error)
            self.failures += 1
            return
        self.failures = 0
        if committed is not None:
            self.committed = dict(committed)

    def is_overdue(self, now_ms: float, timeout_ms: float) -> bool:
        """Whether a commit is in progress, and takes too long."""
        return self.committing and now_ms >= self._began_ms + timeout_ms

    def give_up(self) -> None:
        """Wait no longer for the commit in progress."""
        self.committing = False
        self.failures += 1
