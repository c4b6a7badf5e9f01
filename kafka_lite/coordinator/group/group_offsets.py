"""Requests about a group's offsets: commit, fetch, delete.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala (handleCommitOffsets, handleFetchOffsets); until 0.9
core/.../server/OffsetManager.scala · book 3.5.4, 3.5.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import UNKNOWN_MEMBER_ID
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.offset_and_metadata import INVALID_OFFSET, NO_METADATA, OffsetAndMetadata
from kafka_lite.coordinator.group.offsets_log import COMMIT_ERRORS
from kafka_lite.log.producers.verification_state_entry import VerificationGuard

logger = logging.getLogger(__name__)

NOTHING_COMMITTED = OffsetAndMetadata(INVALID_OFFSET, NO_METADATA, commit_timestamp_ms=-1)

TXN_COMMIT_ERRORS = {Errors.STALE_MEMBER_EPOCH: Errors.ILLEGAL_GENERATION}
"""The errors that producers know instead of those of consumers."""

Outcomes = Mapping[TopicPartition, Errors]
FetchedOffset = tuple[OffsetAndMetadata, Errors]
OnVerified = Callable[[Errors, VerificationGuard | None], None]
Verify = Callable[[TopicPartition, OnVerified], None]
"""Asks the transaction coordinator whether a partition of ``__consumer_offsets`` is part of a producer's transaction.
Calls back now or later: with an error, or with the guard to append with (None: the transaction is open in the log)."""


def without_verification(_topic_partition: TopicPartition, on_verified: OnVerified) -> None:
    """A ``Verify`` that trusts the producer."""
    on_verified(Errors.NONE, None)


@dataclass(frozen=True, slots=True)
class Committer:
    """The sender of a commit: a member in a generation, or a client without membership (generation -1, no member
    id)."""

    member_id: str = UNKNOWN_MEMBER_ID
    generation_id: int = -1
    """The generation, or the member epoch in a group of KIP-848."""
    group_instance_id: str | None = None
    knows_member_epochs: bool = False
    """Whether the request is of a version that may have a member epoch."""

    @property
    def claims_membership(self) -> bool:
        """Whether the sender says that it is a member."""
        return self.generation_id >= 0 or self.member_id != UNKNOWN_MEMBER_ID or self.group_instance_id is not None


class GroupOffsets:
    """Serves OffsetCommit, TxnOffsetCommit, OffsetFetch and OffsetDelete for the coordinator's groups.

    A commit is checked like every request of a member: a consumer whose partitions were reassigned must not move back
    the offset of their new owner. The response is sent when the commit is in the log. From then on it can be fetched.
    """

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator
        self._groups = coordinator.group_manager

    # ── OffsetCommit ──────────────────────────────────────────────────────────────────────────────────────────────

    def handle_commit_offsets(
        self,
        group_id: str,
        committer: Committer,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        respond: Callable[[Outcomes], None],
    ) -> None:
        """Store offsets. Calls ``respond`` once, when they are stored or refused."""
        error = self._coordinator.check_group(group_id, may_be_nameless=True)
        group = self._groups.get_group(group_id)
        if error is Errors.NONE and group is None:
            if committer.generation_id < 0:
                group = self._groups.get_or_create_group(group_id)  # only its offsets are kept here
            else:
                # The group has moved or was forgotten.
                error = Errors.GROUP_ID_NOT_FOUND if committer.knows_member_epochs else Errors.ILLEGAL_GENERATION
        if error is not Errors.NONE or group is None:
            respond(dict.fromkeys(offsets, error))
            return
        with group.lock:
            error = self._check_commit(group, committer)
            if error is Errors.NONE:
                self._groups.store_offsets(group, offsets, respond)
        if error is not Errors.NONE:
            respond(dict.fromkeys(offsets, error))

    def _check_commit(self, group: GroupMetadata, committer: Committer) -> Errors:
        """Check whether this commit is allowed now. A member's commit also counts as a heartbeat."""
        if group.is_in(GroupState.DEAD):
            return Errors.COORDINATOR_NOT_AVAILABLE
        if group.share is not None:
            return Errors.GROUP_ID_NOT_FOUND
        if group.modern is not None:
            return _check_modern_commit(group.modern, committer)
        if group.is_in(GroupState.EMPTY) and committer.generation_id < 0:
            return Errors.NONE
        if not committer.claims_membership:
            return Errors.UNKNOWN_MEMBER_ID
        try:
            member = group.checked_member(committer.member_id, committer.group_instance_id, committer.generation_id)
        except ApiError as failure:
            return failure.error
        if group.is_in(GroupState.AWAITING_SYNC):
            return Errors.REBALANCE_IN_PROGRESS
        self._coordinator.rebalancer.schedule_next_heartbeat_expiration(group, member)
        return Errors.NONE

    # ── TxnOffsetCommit ───────────────────────────────────────────────────────────────────────────────────────────

    def handle_txn_commit_offsets(
        self,
        group_id: str,
        producer: ProducerIdAndEpoch,
        committer: Committer,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        respond: Callable[[Outcomes], None],
        verify: Verify = without_verification,
    ) -> None:
        """Store offsets that count once the producer's transaction is committed. Calls ``respond`` once.

        Old producers do not know the consumer's member and generation (KIP-447), so a commit without them is accepted.
        """

        def on_verified(error: Errors, guard: VerificationGuard | None) -> None:
            if error is Errors.NONE:
                error = self._coordinator.check_group(group_id)  # again: the group may have moved meanwhile
            if error is Errors.NONE:
                group = self._groups.get_or_create_group(group_id)
                with group.lock:
                    error = self._check_txn_commit(group, committer)
                    if error is Errors.NONE:
                        self._groups.store_offsets(group, offsets, respond, producer, guard)
            if error is not Errors.NONE:
                respond(dict.fromkeys(offsets, COMMIT_ERRORS.get(error, error)))

        error = self._coordinator.check_group(group_id)
        if error is Errors.NONE:
            verify(self._groups.topic_partition_for(group_id), on_verified)
        else:
            respond(dict.fromkeys(offsets, error))

    @staticmethod
    def _check_txn_commit(group: GroupMetadata, committer: Committer) -> Errors:
        if group.is_in(GroupState.DEAD):
            return Errors.COORDINATOR_NOT_AVAILABLE
        if group.share is not None:
            return Errors.GROUP_ID_NOT_FOUND
        if group.modern is not None:
            # A producer's version says nothing of its consumer, so every member may commit.
            known = replace(committer, knows_member_epochs=True)
            error = _check_modern_commit(group.modern, known) if committer.claims_membership else Errors.NONE
            return TXN_COMMIT_ERRORS.get(error, error)
        is_outside = group.is_in(GroupState.EMPTY) and committer.generation_id < 0
        if is_outside or not committer.claims_membership:
            return Errors.NONE
        try:
            group.checked_member(committer.member_id, committer.group_instance_id, committer.generation_id)
        except ApiError as failure:
            return failure.error
        return Errors.NONE

    # ── OffsetFetch ───────────────────────────────────────────────────────────────────────────────────────────────

    def handle_fetch_offsets(
        self,
        group_id: str,
        partitions: Collection[TopicPartition] | None,
        *,
        require_stable: bool = False,
        member: tuple[str | None, int] = (None, -1),
    ) -> dict[TopicPartition, FetchedOffset]:
        """The committed offsets of the partitions (None: of all). A partition without a commit gets offset -1 and no
        error.

        With ``require_stable``, a partition with a pending commit gets UNSTABLE_OFFSET_COMMIT, and the client asks
        again. ``member`` is the member id and epoch of a sender of KIP-848. Raises ApiError for the group as a whole.
        """
        error = self._coordinator.check_group(group_id, may_be_nameless=True)
        if error is not Errors.NONE:
            raise error.exception()
        group = self._groups.get_group(group_id)
        if group is None:
            return dict.fromkeys(partitions or (), (NOTHING_COMMITTED, Errors.NONE))
        with group.lock:
            if group.is_in(GroupState.DEAD):
                return dict.fromkeys(partitions or (), (NOTHING_COMMITTED, Errors.NONE))
            if group.modern is not None:
                group.modern.check_fetch(*member)
            wanted = group.offsets.all_offsets() if partitions is None else partitions
            return {tp: _fetched(group, tp, require_stable) for tp in wanted}

    # ── OffsetDelete, deleted topics ──────────────────────────────────────────────────────────────────────────────

    def handle_delete_offsets(
        self, group_id: str, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, Errors]:
        """Delete the offsets of partitions that no member subscribes to. Raises ApiError for the group as a whole."""
        error = self._coordinator.check_group(group_id)
        if error is not Errors.NONE:
            raise error.exception()
        group = self._groups.get_group(group_id)
        if group is None:
            raise Errors.GROUP_ID_NOT_FOUND.exception()
        with group.lock:
            if group.is_in(GroupState.DEAD) or group.share is not None:
                raise Errors.GROUP_ID_NOT_FOUND.exception()
            if group.modern is None and not group.is_in(GroupState.EMPTY) and not group.is_consumer_group:
                raise Errors.NON_EMPTY_GROUP.exception()
            outcomes = {
                tp: Errors.GROUP_SUBSCRIBED_TO_TOPIC if _is_read(group, tp) else Errors.NONE for tp in partitions
            }
            deletable = [tp for tp, outcome in outcomes.items() if outcome is Errors.NONE]
            removed = self._groups.cleanup_group_metadata([group], lambda g: _remove(g, deletable))
        self._groups.metrics.deleted(removed)
        return outcomes

    def handle_deleted_partitions(self, partitions: Iterable[TopicPartition]) -> None:
        """Delete the committed offsets of partitions whose topics were deleted."""
        gone = list(partitions)
        removed = self._groups.cleanup_group_metadata(self._groups.current_groups, lambda g: _remove(g, gone))
        logger.info("Removed %d offsets of deleted partitions %s", removed, ", ".join(map(str, gone)))


def _remove(
    group: GroupMetadata, topic_partitions: Collection[TopicPartition]
) -> Mapping[TopicPartition, OffsetAndMetadata]:
    group.offsets.remove_from_txns(topic_partitions)
    return group.offsets.remove(topic_partitions)


def _is_read(group: GroupMetadata, topic_partition: TopicPartition) -> bool:
    has_members = group.has_modern_members or not group.is_in(GroupState.EMPTY)
    return has_members and group.is_subscribed_to_topic(topic_partition.topic)


def _check_modern_commit(group: ConsumerGroup, committer: Committer) -> Errors:
    """Check a commit in a group of KIP-848, where generations are member epochs."""
    try:
        group.check_commit(committer.member_id, committer.group_instance_id, committer.generation_id)
    except ApiError as failure:
        is_stale = failure.error is Errors.STALE_MEMBER_EPOCH and not committer.knows_member_epochs
        return Errors.UNSUPPORTED_VERSION if is_stale else failure.error
    member = group.members.get(committer.member_id)
    is_classic = member is not None and member.classic is not None
    if committer.generation_id >= 0 and not committer.knows_member_epochs and not is_classic:
        return Errors.UNSUPPORTED_VERSION
    return Errors.NONE


def _fetched(group: GroupMetadata, topic_partition: TopicPartition, require_stable: bool) -> FetchedOffset:
    if require_stable and not group.offsets.is_stable(topic_partition):
        return NOTHING_COMMITTED, Errors.UNSTABLE_OFFSET_COMMIT
    return group.offsets.get(topic_partition) or NOTHING_COMMITTED, Errors.NONE
