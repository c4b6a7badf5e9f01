"""The committed offsets of one group, in memory: what OffsetFetch is answered from.

Kafka 0.10.2: core/.../coordinator/GroupMetadata.scala (offsets, pendingOffsetCommits) · book 3.5.5
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """A commit that is in the log, and where: of two commits the one further back in the log counts."""

    appended_offset: int
    """Offset of the batch in ``__consumer_offsets``."""
    offset_and_metadata: OffsetAndMetadata


class OffsetCache:
    """What is committed, and what is about to be.

    ::

        prepare_commit ──▶ pending ──▶ append to __consumer_offsets ──▶ on_commit_append ──▶ committed
                              ╰─────────────▶ refused by the log ─────▶ fail_commit ───────▶ (forgotten)

    An offset can be read only when it is committed: what is answered to a consumer must survive the broker. Several
    commits of one partition can be under way, and their appends may be answered in any order. Whatever the order, the
    cache ends with the one that is last in the log, as a broker that reads the log anew does.

    Only to be touched with the group's lock held.
    """

    def __init__(self) -> None:
        self._committed: dict[TopicPartition, CommittedOffset] = {}
        self._pending: dict[TopicPartition, list[OffsetAndMetadata]] = {}

    def __len__(self) -> int:
        return len(self._committed)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is committed, or about to be."""
        return not self._committed and not self._pending

    def get(self, topic_partition: TopicPartition) -> OffsetAndMetadata | None:
        """The committed offset of a partition."""
        committed = self._committed.get(topic_partition)
        return committed.offset_and_metadata if committed is not None else None

    def all_offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of all partitions."""
        return {tp: committed.offset_and_metadata for tp, committed in self._committed.items()}

    def is_pending(self, topic_partition: TopicPartition) -> bool:
        """Whether a commit of the partition is under way."""
        return topic_partition in self._pending

    def initialize(self, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Take over what was read from the log."""
        self._committed.update(offsets)

    def prepare_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """The offsets are about to be appended."""
        for topic_partition, offset in offsets.items():
            self._pending.setdefault(topic_partition, []).append(offset)

    def on_commit_append(self, offsets: Mapping[TopicPartition, OffsetAndMetadata], appended_offset: int) -> None:
        """The offsets are in the log, in the batch at ``appended_offset``.

        A commit that is not pending any more was deleted meanwhile, and stays deleted.
        """
        for topic_partition, offset in offsets.items():
            if self._end_pending(topic_partition, offset):
                known = self._committed.get(topic_partition)
                if known is None or known.appended_offset < appended_offset:
                    self._committed[topic_partition] = CommittedOffset(appended_offset, offset)

    def fail_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """The log has refused the offsets: those that were committed before stay."""
        for topic_partition, offset in offsets.items():
            self._end_pending(topic_partition, offset)

    def _end_pending(self, topic_partition: TopicPartition, offset: OffsetAndMetadata) -> bool:
        """Whether this very commit was pending: another one of the same values has an end of its own."""
        pending = self._pending.get(topic_partition, [])
        for position, candidate in enumerate(pending):
            if candidate is offset:
                del pending[position]
                if not pending:
                    del self._pending[topic_partition]
                return True
        return False

    def remove(self, topic_partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        """Forget partitions; returns what was committed for them."""
        removed = {}
        for topic_partition in topic_partitions:
            self._pending.pop(topic_partition, None)
            committed = self._committed.pop(topic_partition, None)
            if committed is not None:
                removed[topic_partition] = committed.offset_and_metadata
        return removed

    def remove_if(
        self, is_expired: Callable[[TopicPartition, OffsetAndMetadata], bool]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Forget what has expired and is not being committed anew; returns it."""
        expired = {
            tp: committed.offset_and_metadata
            for tp, committed in self._committed.items()
            if tp not in self._pending and is_expired(tp, committed.offset_and_metadata)
        }
        for topic_partition in expired:
            del self._committed[topic_partition]
        return expired
