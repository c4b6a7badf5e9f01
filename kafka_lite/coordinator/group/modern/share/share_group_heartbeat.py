"""Decides what a heartbeat of a member of a share group changes, and what it is answered.

Kafka 4.1: group-coordinator/.../group/GroupMetadataManager.java (shareGroupHeartbeat, updateTargetAssignment,
maybeCreateInitializeShareGroupStateRequest), GroupCoordinatorService.java (throwIfShareGroupHeartbeatRequestIsInvalid)
· book 5.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.assignor.group_spec import ShareGroupPartitionAssignor
from kafka_lite.coordinator.group.modern.assignor.simple_assignor import SimpleAssignor
from kafka_lite.coordinator.group.modern.consumer_group_heartbeat import HeartbeatClient
from kafka_lite.coordinator.group.modern.consumer_group_member import (
    JOIN_GROUP_MEMBER_EPOCH,
    LEAVE_GROUP_MEMBER_EPOCH,
)
from kafka_lite.coordinator.group.modern.share import share_group_records as group_records
from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup, ShareGroupChange
from kafka_lite.coordinator.group.modern.share.share_group_member import ShareGroupMember
from kafka_lite.coordinator.group.modern.share.state_partitions import of_topics
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupConfig
from kafka_lite.coordinator.group.modern.target_assignment_builder import changed_targets, group_spec
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions, in_order
from kafka_lite.coordinator.group.modern.topics_image import TopicMetadata, TopicsImage, hash_of_topics
from kafka_lite.protocol.messages.api_76_share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from kafka_lite.protocol.wire_types import MAX_STRING_BYTES

logger = logging.getLogger(__name__)

ASSIGNOR: ShareGroupPartitionAssignor = SimpleAssignor()


def check_share_heartbeat(request: ShareGroupHeartbeatRequest) -> None:
    """Checks that need no group. Raises INVALID_REQUEST, with Kafka's message."""
    _refuse_if(not request.member_id, "MemberId can't be empty.")
    _refuse_if(not request.group_id, "GroupId can't be empty.")
    _refuse_if(request.rack_id == "", "RackId can't be empty.")
    names = (request.group_id, request.member_id)
    _refuse_if(any(len(name.encode()) > MAX_STRING_BYTES for name in names), "A name is too long.")
    joins = request.member_epoch == JOIN_GROUP_MEMBER_EPOCH
    _refuse_if(joins and not request.subscribed_topic_names, "SubscribedTopicNames must be set in first request.")
    _refuse_if(request.member_epoch < LEAVE_GROUP_MEMBER_EPOCH, "MemberEpoch is invalid.")


def _refuse_if(is_wrong: bool, message: str) -> None:
    if is_wrong:
        raise Errors.INVALID_REQUEST.exception(message)


@dataclass(frozen=True, slots=True)
class ShareHeartbeatDecision:
    """Decides about heartbeats of one share group at one moment.

    A heartbeat has four parts: the member is created or updated; the group epoch grows if a subscription, a subscribed
    topic or the set of initialized partitions has changed; then the target is computed, and the member has it at
    once; at last, partitions without state become initializing.
    """

    config: ShareGroupConfig
    topics: TopicsImage
    now_ms: int
    retry_after_ms: int
    """How long a partition is initializing before the share coordinator is asked once more."""

    def heartbeat(
        self, change: ShareGroupChange, request: ShareGroupHeartbeatRequest, client: HeartbeatClient
    ) -> ShareGroupHeartbeatResponse:
        """A member joins, or stays. Raises ApiError; the caller then takes the change back."""
        group = change.group
        if len(group.members) >= self.config.max_size and request.member_id not in group.members:
            raise Errors.GROUP_MAX_SIZE_REACHED.exception(
                f"The share group has reached its maximum capacity of {self.config.max_size} members."
            )
        before = self._known_member(group, request)
        updated = _updated(before, request, client)
        if group.members.get(updated.member_id) != updated:
            change.add(group_records.member_subscription(group.group_id, updated))
        self._raise_epoch(change, updated.subscribed_topic_names != before.subscribed_topic_names)
        if group.group_epoch > group.assignment_epoch:
            self._compute_target(change)
        member = updated.moved_to(group.assignment_epoch, group.target.get(updated.member_id, {}))
        if member != updated:
            change.add(group_records.current_assignment(group.group_id, member))
        response = ShareGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.member_epoch,
            heartbeat_interval_ms=self.config.heartbeat_interval_ms,
        )
        if (
            request.member_epoch == JOIN_GROUP_MEMBER_EPOCH
            or request.subscribed_topic_names is not None
            or member.assigned != before.assigned
        ):
            response.assignment = _assignment(member)
        return response

    def begin_initializing(self, change: ShareGroupChange) -> TopicIdPartitions:
        """Note the partitions of subscribed topics that have no state, and return them: the share coordinator is to be
        asked once the log has the note."""
        group = change.group
        asked = {
            topic_id: numbers
            for topic_id, numbers in group.partitions.initializing.items()
            if self.now_ms - group.asked_at_ms.get(topic_id, -self.retry_after_ms) < self.retry_after_ms
        }
        topics = self._topics(group.subscribed_topics())
        missing = group.partitions.missing(topics, asked)
        if missing:
            names = {topic.topic_id: topic.name for topic in topics}
            change.add(group_records.state_partitions(group.group_id, group.partitions.begin(missing, names)))
            group.asked_at_ms.update(dict.fromkeys(missing, self.now_ms))
        return missing

    def fence(self, change: ShareGroupChange, member_ids: Iterable[str]) -> None:
        """Remove members, which raises the group epoch."""
        group = change.group
        for member_id in member_ids:
            change.extend(group_records.member_tombstones(group.group_id, member_id))
        hashed = hash_of_topics(group.subscribed_topics(), self.topics)
        change.add(group_records.group_epoch(group.group_id, group.group_epoch + 1, hashed))

    def _known_member(self, group: ShareGroup, request: ShareGroupHeartbeatRequest) -> ShareGroupMember:
        """The member as it was, or a new one."""
        if request.member_epoch == JOIN_GROUP_MEMBER_EPOCH and request.member_id not in group.members:
            logger.info("Member %s joins share group %s", request.member_id, group.group_id)
            return ShareGroupMember(request.member_id)
        member = group.member(request.member_id)
        member.check_epoch(request.member_epoch)
        return member

    def _raise_epoch(self, change: ShareGroupChange, subscription_changed: bool) -> None:
        group = change.group
        is_pending = self._is_assignment_pending(group)
        if not subscription_changed and not is_pending and group.topics_version is self.topics.version:
            return
        hashed = hash_of_topics(group.subscribed_topics(), self.topics)
        group.topics_version = self.topics.version
        if subscription_changed or is_pending or hashed != group.metadata_hash:
            change.add(group_records.group_epoch(group.group_id, group.group_epoch + 1, hashed))
            logger.info("Raised the epoch of share group %s to %d", group.group_id, group.group_epoch)

    def _is_assignment_pending(self, group: ShareGroup) -> bool:
        """Whether a partition is initialized that nobody has. (Kafka 4.1 looks at topics, too, to which nobody
        subscribes any more, and then raises the epoch with every heartbeat.)"""
        topic_ids = [topic.topic_id for topic in self._topics(group.subscribed_topics())]
        assignable = of_topics(group.partitions.initialized, topic_ids)
        return assignable != of_topics(group.assigned_partitions(), topic_ids)

    def _topics(self, names: Iterable[str]) -> list[TopicMetadata]:
        """The topics that exist, of those with these names."""
        return [topic for name in sorted(names) if (topic := self.topics.topic(name)) is not None]

    def _compute_target(self, change: ShareGroupChange) -> None:
        group = change.group
        target = ASSIGNOR.assign(group_spec(group, self.topics, group.partitions.initialized))
        change.extend(
            group_records.target_assignment(group.group_id, member_id, partitions)
            for member_id, partitions in changed_targets(group, target)
        )
        change.add(group_records.target_epoch(group.group_id, group.group_epoch))
        logger.info("Assigned group %s for epoch %d with %s", group.group_id, group.group_epoch, ASSIGNOR.name)


def _updated(
    member: ShareGroupMember, request: ShareGroupHeartbeatRequest, client: HeartbeatClient
) -> ShareGroupMember:
    """The member with what the request says; null means that nothing has changed."""
    names = request.subscribed_topic_names
    return replace(
        member,
        rack_id=request.rack_id or member.rack_id,
        client_id=client.client_id,
        client_host=client.client_host,
        subscribed_topic_names=member.subscribed_topic_names if names is None else frozenset(names),
    )


def _assignment(member: ShareGroupMember) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=numbers) for topic_id, numbers in in_order(member.assigned)
        ]
    )
