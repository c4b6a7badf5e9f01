"""Requests about a group's offsets: commit, fetch, delete.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala (handleCommitOffsets, handleFetchOffsets); until 0.9
core/.../server/OffsetManager.scala · book 3.5.4, 3.5.5
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.member_metadata import UNKNOWN_MEMBER_ID
from kafka_lite.coordinator.group.offset_and_metadata import INVALID_OFFSET, NO_METADATA, OffsetAndMetadata

logger = logging.getLogger(__name__)

NOTHING_COMMITTED = OffsetAndMetadata(INVALID_OFFSET, NO_METADATA, commit_timestamp_ms=-1)

Outcomes = Mapping[TopicPartition, Errors]
FetchedOffset = tuple[OffsetAndMetadata, Errors]


@dataclass(frozen=True, slots=True)
class Committer:
    """The sender of a commit: a member in a generation, or a client without membership (generation -1, no member
    id)."""

    member_id: str = UNKNOWN_MEMBER_ID
    generation_id: int = -1
    group_instance_id: str | None = None

    @property
    def claims_membership(self) -> bool:
        """Whether the sender says that it is a member."""
        return self.generation_id >= 0 or self.member_id != UNKNOWN_MEMBER_ID or self.group_instance_id is not None


class GroupOffsets:
    """Serves OffsetCommit, OffsetFetch and OffsetDelete for the coordinator's groups.

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
                error = Errors.ILLEGAL_GENERATION  # the group has moved or was forgotten
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

    # ── OffsetFetch ───────────────────────────────────────────────────────────────────────────────────────────────

    def handle_fetch_offsets(
        self, group_id: str, partitions: Collection[TopicPartition] | None, *, require_stable: bool = False
    ) -> dict[TopicPartition, FetchedOffset]:
        """The committed offsets of the partitions (None: of all). A partition without a commit gets offset -1 and no
        error.

        With ``require_stable``, a partition with a pending commit gets UNSTABLE_OFFSET_COMMIT, and the client asks
        again. Raises ApiError for the group as a whole.
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
            if group.is_in(GroupState.DEAD):
                raise Errors.GROUP_ID_NOT_FOUND.exception()
            if not group.is_in(GroupState.EMPTY) and not group.is_consumer_group:
                raise Errors.NON_EMPTY_GROUP.exception()
            outcomes = {
                tp: Errors.GROUP_SUBSCRIBED_TO_TOPIC if _is_read(group, tp) else Errors.NONE for tp in partitions
            }
            deletable = [tp for tp, outcome in outcomes.items() if outcome is Errors.NONE]
            removed = self._groups.cleanup_group_metadata([group], lambda g: g.offsets.remove(deletable))
        self._groups.metrics.deleted(removed)
        return outcomes

    def handle_deleted_partitions(self, partitions: Iterable[TopicPartition]) -> None:
        """Delete the committed offsets of partitions whose topics were deleted."""
        gone = list(partitions)
        removed = self._groups.cleanup_group_metadata(self._groups.current_groups, lambda g: g.offsets.remove(gone))
        logger.info("Removed %d offsets of deleted partitions %s", removed, ", ".join(map(str, gone)))


def _is_read(group: GroupMetadata, topic_partition: TopicPartition) -> bool:
    return not group.is_in(GroupState.EMPTY) and group.is_subscribed_to_topic(topic_partition.topic)


def _fetched(group: GroupMetadata, topic_partition: TopicPartition, require_stable: bool) -> FetchedOffset:
    if require_stable and group.offsets.is_pending(topic_partition):
        return NOTHING_COMMITTED, Errors.UNSTABLE_OFFSET_COMMIT
    return group.offsets.get(topic_partition) or NOTHING_COMMITTED, Errors.NONE
