"""The committed offsets of one group, in memory. OffsetFetch is served from here.

Kafka 0.10.2: core/.../coordinator/GroupMetadata.scala (offsets, pendingOffsetCommits) · book 3.5.5
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata

NOT_APPENDED = -1
"""The position of a commit whose append is in progress."""


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """A commit in the log and its position. Of two commits, the one further back in the log counts."""

    appended_offset: int
    """Offset of the batch in ``__consumer_offsets``."""
    offset_and_metadata: OffsetAndMetadata


class OffsetCache:
    """The committed and the pending offsets of a group.

    ::

        prepare_commit ──▶ pending ──▶ append to __consumer_offsets ──▶ on_commit_append ──▶ committed
                              ╰─────────────▶ refused by the log ─────▶ fail_commit ───────▶ (forgotten)

    An offset can be fetched only once it is committed: what a consumer is told must survive a crash of the broker.
    Several commits of one partition can be in progress, and their appends may complete in any order. The cache always
    ends with the commit that is last in the log, as if a broker had read the log again.

    Offsets committed in a transaction (KIP-98) are pending until its marker is in the log, per producer::

        prepare_txn_commit ─▶ pending ─▶ append ─▶ on_txn_commit_append ─▶ marker ─▶ complete_txn ─▶ committed

    Callers must hold the group's lock.
    """

    def __init__(self) -> None:
        self._committed: dict[TopicPartition, CommittedOffset] = {}
        self._pending: dict[TopicPartition, list[OffsetAndMetadata]] = {}
        self._pending_in_txn: dict[int, dict[TopicPartition, CommittedOffset]] = {}
        """By producer id. An offset whose append is in progress has NOT_APPENDED."""

    def __len__(self) -> int:
        return len(self._committed)

    @property
    def is_empty(self) -> bool:
        """Whether there are neither committed nor pending offsets."""
        return not self._committed and not self._pending and not self._pending_in_txn

    def get(self, topic_partition: TopicPartition) -> OffsetAndMetadata | None:
        """The committed offset of a partition."""
        committed = self._committed.get(topic_partition)
        return committed.offset_and_metadata if committed is not None else None

    def all_offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of all partitions."""
        return {tp: committed.offset_and_metadata for tp, committed in self._committed.items()}

    def is_pending(self, topic_partition: TopicPartition) -> bool:
        """Whether a commit of the partition is in progress."""
        return topic_partition in self._pending

    def initialize(self, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Take over offsets that were read from the log."""
        self._committed.update(offsets)

    def prepare_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Mark the offsets as pending, before they are appended to the log."""
        for topic_partition, offset in offsets.items():
            self._pending.setdefault(topic_partition, []).append(offset)

    def on_commit_append(self, offsets: Mapping[TopicPartition, OffsetAndMetadata], appended_offset: int) -> None:
        """Mark the offsets as committed: they are in the log, in the batch at ``appended_offset``.

        A commit that is no longer pending was deleted in the meantime, and stays deleted.
        """
        for topic_partition, offset in offsets.items():
            if self._end_pending(topic_partition, offset):
                known = self._committed.get(topic_partition)
                if known is None or known.appended_offset < appended_offset:
                    self._committed[topic_partition] = CommittedOffset(appended_offset, offset)

    def fail_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Drop the pending offsets, whose append failed. Earlier commits remain."""
        for topic_partition, offset in offsets.items():
            self._end_pending(topic_partition, offset)

    # ── in transactions ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def producers_in_txn(self) -> Collection[int]:
        """The producers whose transactions have offsets here."""
        return self._pending_in_txn.keys()

    def is_stable(self, topic_partition: TopicPartition) -> bool:
        """Whether neither a commit of the partition nor a transaction with one is in progress."""
        in_txn = any(topic_partition in offsets for offsets in self._pending_in_txn.values())
        return not in_txn and not self.is_pending(topic_partition)

    def remove_from_txns(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Forget partitions in all transactions: their commits bring nothing back."""
        for topic_partition in topic_partitions:
            for offsets in self._pending_in_txn.values():
                offsets.pop(topic_partition, None)

    def initialize_txn(self, producer_id: int, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Take over offsets of an open transaction that were read from the log."""
        self._pending_in_txn.setdefault(producer_id, {}).update(offsets)

    def prepare_txn_commit(self, producer_id: int, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Mark a producer's offsets as pending, before they are appended to the log."""
        pending = self._pending_in_txn.setdefault(producer_id, {})
        pending.update({tp: CommittedOffset(NOT_APPENDED, offset) for tp, offset in offsets.items()})

    def on_txn_commit_append(
        self, producer_id: int, offsets: Mapping[TopicPartition, OffsetAndMetadata], appended_offset: int
    ) -> None:
        """The offsets are in the log, in the batch at ``appended_offset``; they stay pending until the marker."""
        pending = self._pending_in_txn.get(producer_id, {})
        for topic_partition, offset in offsets.items():
            known = pending.get(topic_partition)
            if known is not None and known.offset_and_metadata is offset:
                pending[topic_partition] = CommittedOffset(appended_offset, offset)

    def fail_txn_commit(self, producer_id: int, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Drop pending offsets whose append failed."""
        pending = self._pending_in_txn.get(producer_id, {})
        for topic_partition, offset in offsets.items():
            known = pending.get(topic_partition)
            if known is not None and known.offset_and_metadata is offset:
                del pending[topic_partition]
        if not pending:
            self._pending_in_txn.pop(producer_id, None)

    def complete_txn(self, producer_id: int, *, commit: bool) -> None:
        """The producer's marker is in the log: commit its pending offsets, or drop them.

        A commit outside the transaction that is further back in the log stays.
        """
        for topic_partition, pending in self._pending_in_txn.pop(producer_id, {}).items():
            known = self._committed.get(topic_partition)
            if commit and (known is None or known.appended_offset < pending.appended_offset):
                self._committed[topic_partition] = pending

    # ── ends of pending commits ───────────────────────────────────────────────────────────────────────────────────

    def _end_pending(self, topic_partition: TopicPartition, offset: OffsetAndMetadata) -> bool:
        """Remove this commit from the pending ones (by identity: an equal one ends separately); false if it was not
        there."""
        pending = self._pending.get(topic_partition, [])
        for position, candidate in enumerate(pending):
            if candidate is offset:
                del pending[position]
                if not pending:
                    del self._pending[topic_partition]
                return True
        return False

    def remove(self, topic_partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        """Forget partitions; returns their committed offsets."""
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
        """Forget offsets that have expired and have no pending commit; returns them."""
        expired = {
            tp: committed.offset_and_metadata
            for tp, committed in self._committed.items()
            if tp not in self._pending and is_expired(tp, committed.offset_and_metadata)
        }
        for topic_partition in expired:
            del self._committed[topic_partition]
        return expired
