"""Decides what a heartbeat changes in a group, and what the member is told.

Kafka 4.1: group-coordinator/.../group/GroupMetadataManager.java (consumerGroupHeartbeat) · book 5.2.1, 5.4.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern import consumer_group_records as group_records
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_config import ConsumerGroupConfig
from kafka_lite.coordinator.group.modern.consumer_group_member import (
    JOIN_GROUP_MEMBER_EPOCH,
    LEAVE_GROUP_STATIC_MEMBER_EPOCH,
    ConsumerGroupMember,
)
from kafka_lite.coordinator.group.modern.current_assignment_builder import next_assignment
from kafka_lite.coordinator.group.modern.group_change import GroupChange
from kafka_lite.coordinator.group.modern.heartbeat_checks import says_nothing
from kafka_lite.coordinator.group.modern.regular_expressions import matching_topics
from kafka_lite.coordinator.group.modern.target_assignment_builder import target_changes
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions, from_structs, in_order, is_subset
from kafka_lite.coordinator.group.modern.topics_image import TopicsImage, hash_of_topics
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

logger = logging.getLogger(__name__)

_new_response = ConsumerGroupHeartbeatResponse.maker("member_id", "member_epoch", "heartbeat_interval_ms", "assignment")

Visible = Callable[[Iterable[str]], frozenset[str]]
"""Leaves the topics that the client may describe."""


def every_topic(topics: Iterable[str]) -> frozenset[str]:
    """A ``Visible`` that hides none."""
    return frozenset(topics)


@dataclass(frozen=True, slots=True)
class HeartbeatClient:
    """The client that sends heartbeats, as known from the connection and the request's header."""

    client_id: str
    client_host: str
    """Address as Java prints it: ``/127.0.0.1``."""
    visible: Visible = every_topic


@dataclass(frozen=True, slots=True)
class HeartbeatDecision:
    """Decides about heartbeats of one group at one moment.

    A heartbeat has three parts: the member is created or updated, which raises the group epoch; then the target is
    computed if the group epoch is above its epoch; then the member takes a step towards the target.
    """

    config: ConsumerGroupConfig
    topics: TopicsImage
    now_ms: int

    def heartbeat(
        self, change: GroupChange, request: ConsumerGroupHeartbeatRequest, client: HeartbeatClient
    ) -> ConsumerGroupHeartbeatResponse:
        """A member joins, or stays. Raises ApiError; the caller then takes the change back."""
        group = change.group
        if len(group.members) >= self.config.max_size and request.member_id not in group.members:
            raise Errors.GROUP_MAX_SIZE_REACHED.exception(
                f"The consumer group has reached its maximum capacity of {self.config.max_size} members."
            )
        owned = None if request.topic_partitions is None else from_structs(request.topic_partitions)
        before = self._known_member(change, request, owned)
        member = self.advance(change, before, _updated(before, request, client), owned, client.visible)
        is_told = _is_full(request) or member.assigned != before.assigned
        assignment = _assignment(member) if is_told else None
        return _new_response(member.member_id, member.member_epoch, self.config.heartbeat_interval_ms, assignment)

    def advance(
        self,
        change: GroupChange,
        before: ConsumerGroupMember,
        updated: ConsumerGroupMember,
        owned: TopicIdPartitions | None,
        visible: Visible = every_topic,
    ) -> ConsumerGroupMember:
        """The three parts. Returns the member after its step."""
        group = change.group
        known = group.members.get(updated.member_id)
        if known is not updated and known != updated:
            change.add(group_records.member_subscription(group.group_id, updated))
        means_others = self._resolve_expressions(change, updated, visible)
        self._raise_epoch(change, means_others or not updated.has_same_subscription(before))
        if group.group_epoch > group.assignment_epoch:
            self._compute_target(change)
        return self._reconcile(change, updated.member_id, owned)

    # ── the member ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _known_member(
        self, change: GroupChange, request: ConsumerGroupHeartbeatRequest, owned: TopicIdPartitions | None
    ) -> ConsumerGroupMember:
        """The member as it was, or a new one."""
        group, member_id = change.group, request.member_id
        joins = request.member_epoch == JOIN_GROUP_MEMBER_EPOCH
        if request.instance_id is not None:
            return self._known_static_member(change, request, owned)
        if joins and member_id not in group.members:
            logger.info("Member %s joins consumer group %s", member_id, group.group_id)
            return ConsumerGroupMember(member_id)
        member = group.member(member_id)
        _check_epoch(member, request.member_epoch, owned)
        return member

    def _known_static_member(
        self, change: GroupChange, request: ConsumerGroupHeartbeatRequest, owned: TopicIdPartitions | None
    ) -> ConsumerGroupMember:
        group, member_id, instance_id = change.group, request.member_id, request.instance_id
        existing = group.static_member(instance_id)
        if request.member_epoch != JOIN_GROUP_MEMBER_EPOCH:
            member = checked_static_member(group, member_id, instance_id)
            _check_epoch(member, request.member_epoch, owned)
            return member
        if existing is None:
            logger.info("Static member %s, %s, joins consumer group %s", member_id, instance_id, group.group_id)
            return group.members.get(member_id) or ConsumerGroupMember(member_id)
        if existing.member_epoch != LEAVE_GROUP_STATIC_MEMBER_EPOCH and existing.classic is None:
            raise Errors.UNRELEASED_INSTANCE_ID.exception(
                f"Static member {member_id} with instance id {instance_id} cannot join the group because the instance "
                f"id is owned by {existing.member_id} member."
            )
        return replaced_static_member(change, existing, member_id)

    # ── the group epoch ───────────────────────────────────────────────────────────────────────────────────────────────

    def _resolve_expressions(self, change: GroupChange, member: ConsumerGroupMember, visible: Visible) -> bool:
        """Find the topics of the member's regular expression if it is new or old, and those of all expressions if the
        topics may have changed. Expressions that no member has any more are forgotten when a subscription changes.

        Returns whether an expression means other topics now, so that members are to have other partitions.
        As in Kafka, the client whose heartbeat comes first decides which topics may be seen.
        """
        group = change.group
        if member.subscribed_topic_regex is None and not group.expressions:
            return False
        before = dict(group.expressions)
        have_topics_changed = group.topics_version is not self.topics.version
        asked = expressions_of(group) if have_topics_changed else {member.subscribed_topic_regex}
        for expression in sorted(each for each in asked if each is not None):
            known = group.expressions.get(expression)
            is_old = known is None or self.now_ms - known.timestamp_ms >= self.config.regex_refresh_interval_ms
            if is_old or have_topics_changed:
                found = matching_topics(expression, visible(self.topics.topic_names()))
                if known is None or is_old or found != known.topics:
                    change.add(group_records.regular_expression(group.group_id, expression, found, self.now_ms))
        if change.records or have_topics_changed:
            forget_unused_expressions(change)
        return any(now.topics != before[each].topics for each, now in group.expressions.items() if each in before)

    def _raise_epoch(self, change: GroupChange, subscription_changed: bool) -> None:
        """Raise the group epoch if a subscription, or any of the subscribed topics, has changed."""
        group = change.group
        if not subscription_changed and not change.records and group.topics_version is self.topics.version:
            return
        hashed = self.hash_of(group)
        group.topics_version = self.topics.version
        if subscription_changed or hashed != group.metadata_hash:
            change.add(group_records.group_epoch(group.group_id, group.group_epoch + 1, hashed))
            logger.info("Raised the epoch of consumer group %s to %d", group.group_id, group.group_epoch)

    def hash_of(self, group: ConsumerGroup) -> int:
        """The hash of the topics that the group subscribes to."""
        return hash_of_topics(group.subscribed_topics(), self.topics)

    # ── target and reconciliation ─────────────────────────────────────────────────────────────────────────────────────

    def _compute_target(self, change: GroupChange) -> None:
        group = change.group
        name = group.preferred_assignor(self.config.default_assignor)
        assignor = self.config.assignors.get(name) or self.config.assignors[self.config.default_assignor]
        change.extend(target_changes(group, assignor, self.topics))
        logger.info("Assigned group %s for epoch %d with %s", group.group_id, group.group_epoch, assignor.name)

    def _reconcile(self, change: GroupChange, member_id: str, owned: TopicIdPartitions | None) -> ConsumerGroupMember:
        group = change.group
        member = group.members[member_id]
        target = group.target.get(member_id, {})
        stepped = next_assignment(member, group.assignment_epoch, target, group.epoch_of, owned)
        if stepped is not member and stepped != member:
            change.add(group_records.current_assignment(group.group_id, stepped))
        return stepped

    # ── leaving ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def leaving_member(self, change: GroupChange, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupMember | None:
        """A member leaves; None for a static member that will be back, which is noted. Raises ApiError."""
        group, member_id = change.group, request.member_id
        if request.instance_id is None:
            member = group.member(member_id)
        else:
            member = checked_static_member(group, member_id, request.instance_id)
        logger.info("Member %s leaves consumer group %s: %d", member_id, group.group_id, request.member_epoch)
        if request.instance_id is not None and request.member_epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH:
            away = replace(member, member_epoch=LEAVE_GROUP_STATIC_MEMBER_EPOCH, pending_revocation={})
            change.add(group_records.current_assignment(group.group_id, away))
            return None
        return member

    def fence(self, change: GroupChange, member_ids: Iterable[str]) -> None:
        """Remove members, which raises the group epoch: the others get their partitions."""
        group = change.group
        for member_id in member_ids:
            change.extend(group_records.member_tombstones(group.group_id, member_id))
        forget_unused_expressions(change)
        change.add(group_records.group_epoch(group.group_id, group.group_epoch + 1, self.hash_of(group)))


def expressions_of(group: ConsumerGroup) -> set[str | None]:
    """The regular expressions that members subscribe to; None if a member has none."""
    return {member.subscribed_topic_regex for member in group.members.values()}


def forget_unused_expressions(change: GroupChange) -> None:
    """Delete the expressions that no member has any more. It goes through all members."""
    group = change.group
    if group.expressions:
        for unused in sorted(group.expressions.keys() - expressions_of(group)):
            change.add(group_records.regular_expression_tombstone(group.group_id, unused))


def replaced_static_member(change: GroupChange, existing: ConsumerGroupMember, member_id: str) -> ConsumerGroupMember:
    """A static member was restarted, or upgraded: it has another member id, and the same partitions."""
    group = change.group
    logger.info("Static member %s of group %s is back as %s", existing.member_id, group.group_id, member_id)
    returned = replace(existing, member_id=member_id, member_epoch=0, previous_member_epoch=0)
    target = group.target.get(existing.member_id, {})
    change.extend(group_records.member_tombstones(group.group_id, existing.member_id))
    change.add(group_records.member_subscription(group.group_id, returned))
    change.add(group_records.target_assignment(group.group_id, member_id, target))
    change.add(group_records.current_assignment(group.group_id, returned))
    return returned


def checked_static_member(group: ConsumerGroup, member_id: str, instance_id: str | None) -> ConsumerGroupMember:
    """The static member. Raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if another member has the instance id."""
    member = group.static_member(instance_id)
    if member is None:
        raise Errors.UNKNOWN_MEMBER_ID.exception(f"Instance id {instance_id} is unknown.")
    if member.member_id != member_id:
        raise Errors.FENCED_INSTANCE_ID.exception(
            f"Static member {member_id} with instance id {instance_id} was fenced by member {member.member_id}."
        )
    return member


def _check_epoch(member: ConsumerGroupMember, epoch: int, owned: TopicIdPartitions | None) -> None:
    """Raise FENCED_MEMBER_EPOCH for an epoch that is not the member's.

    The one before is accepted if the member owns no more than it should: the response with the new one may have been
    lost. A member that joins again says that it owns nothing, and so may always do so. (Kafka accepts that since 4.2;
    before, a member that was fenced waits until its old session has expired.)
    """
    if epoch in (member.member_epoch, JOIN_GROUP_MEMBER_EPOCH):
        return
    if epoch == member.previous_member_epoch and owned is not None and is_subset(owned, member.assigned):
        return
    relation = "greater" if epoch > member.member_epoch else "smaller"
    raise Errors.FENCED_MEMBER_EPOCH.exception(
        f"The consumer group member has a {relation} member epoch ({epoch}) than the one known by the group "
        f"coordinator ({member.member_epoch}). The member must abandon all its partitions and rejoin."
    )


def _updated(
    member: ConsumerGroupMember, request: ConsumerGroupHeartbeatRequest, client: HeartbeatClient
) -> ConsumerGroupMember:
    """The member with what the request says, in which null means unchanged; the same member if nothing is new."""
    is_same_client = member.client_id == client.client_id and member.client_host == client.client_host
    if member.classic is None and is_same_client and says_nothing(request):
        return member
    names, expression = request.subscribed_topic_names, request.subscribed_topic_regex
    timeout_ms = request.rebalance_timeout_ms
    return replace(
        member,
        instance_id=request.instance_id or member.instance_id,
        rack_id=request.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        client_id=client.client_id,
        client_host=client.client_host,
        subscribed_topic_names=member.subscribed_topic_names if names is None else frozenset(names),
        subscribed_topic_regex=member.subscribed_topic_regex if expression is None else expression or None,
        server_assignor=request.server_assignor or member.server_assignor,
        classic=None,
    )


def _is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the member has said everything, so that it needs to be told everything."""
    has_topics = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    says_all = request.rebalance_timeout_ms != -1 and has_topics and request.topic_partitions is not None
    return request.member_epoch == JOIN_GROUP_MEMBER_EPOCH or says_all


def _assignment(member: ConsumerGroupMember) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, partitions=numbers) for topic_id, numbers in in_order(member.assigned)
        ]
    )
