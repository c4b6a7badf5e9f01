"""Assigns the partitions of a group's topics to its members.

Kafka 0.10.2: clients/.../consumer/internals/PartitionAssignor.java (Subscription, Assignment),
AbstractPartitionAssignor.java, ConsumerProtocol.java · book 5.1.3
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from kafka_lite.clients.cluster import Cluster
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.generation import NO_GENERATION_ID
from kafka_lite.protocol.messages import consumer_protocol
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version

logger = logging.getLogger(__name__)

PROTOCOL_TYPE = "consumer"
SUBSCRIPTION_VERSION = 3
"""The version that is written. Later versions can be read, and readers of earlier ones skip added fields."""
ASSIGNMENT_VERSION = 0


class RebalanceProtocol(IntEnum):
    """How members treat their partitions during a rebalance (KIP-429)."""

    EAGER = 0
    """A member gives up all its partitions before it joins."""
    COOPERATIVE = 1
    """A member keeps reading its partitions, and afterwards gives up those that it was not assigned again."""


@dataclass(frozen=True)
class Subscription:
    """A member's subscription, as sent to the group's leader."""

    topics: tuple[str, ...]
    user_data: bytes | None = None
    """Data of the member's assignor for the leader's assignor."""
    owned_partitions: tuple[TopicPartition, ...] = ()
    """The partitions that the member keeps reading while it joins, if its client reports them."""
    generation_id: int = NO_GENERATION_ID
    """The generation in which these were assigned; unknown before version 2."""
    group_instance_id: str | None = None
    """The instance id of a static member."""


@dataclass(frozen=True)
class Assignment:
    """A member's partitions, as sent by the leader."""

    partitions: tuple[TopicPartition, ...]
    user_data: bytes | None = None


@dataclass(frozen=True)
class MemberInfo:
    """A member, sortable in an order that survives restarts of static members: they come first, by instance id."""

    member_id: str
    group_instance_id: str | None = None
    sort_key: tuple[bool, str] = field(init=False)

    def __post_init__(self) -> None:
        key = (self.group_instance_id is None, self.group_instance_id or self.member_id)
        object.__setattr__(self, "sort_key", key)  # the only way to set a field of a frozen dataclass


class PartitionAssignor(ABC):
    """Runs in the group's leader, for all members. The brokers know nothing of the assignment."""

    name: str
    """The name by which members elect a common assignor."""
    supported_protocols: tuple[RebalanceProtocol, ...] = (RebalanceProtocol.EAGER,)
    """With COOPERATIVE, it must not assign a partition before its current owner has given it up."""

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027 - override it or not
        """Called once with the consumer's configuration."""

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:  # noqa: ARG002
        """Data from this member's assignor for the leader's assignor."""
        return None

    def on_assignment(self, assignment: Assignment, generation_id: int) -> None:  # noqa: B027
        """Called in each member with its new assignment."""

    @abstractmethod
    def assign(self, cluster: Cluster, subscriptions: Mapping[str, Subscription]) -> dict[str, Assignment]:
        """The assignment of each member, by member id. Every member must be in the result."""


class AbstractPartitionAssignor(PartitionAssignor):
    """The base of assignors that need only the number of partitions per topic."""

    def assign(self, cluster: Cluster, subscriptions: Mapping[str, Subscription]) -> dict[str, Assignment]:
        """Assign the partitions of all subscribed topics, sorted by name. Topics without partitions are left out.

        Every member is in the result, even without partitions.
        """
        topics = {topic for subscription in subscriptions.values() for topic in subscription.topics}
        partition_counts = {}
        for topic in sorted(topics):
            count = cluster.partition_count_for_topic(topic)
            if count:
                partition_counts[topic] = count
            else:
                logger.debug("Skipping assignment for topic %s since no metadata is available", topic)
        shares = self.assign_partitions(partition_counts, subscriptions)
        return {member: Assignment(tuple(shares.get(member, ()))) for member in subscriptions}

    @abstractmethod
    def assign_partitions(
        self, partition_counts: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> dict[str, list[TopicPartition]]:
        """The partitions of each member, by member id. ``partition_counts`` has every existing topic, sorted by
        name."""


def members_of(topic: str, subscriptions: Mapping[str, Subscription]) -> list[str]:
    """The ids of the members that subscribe to a topic, in order."""
    return [member for member in ordered_members(subscriptions) if topic in subscriptions[member].topics]


def ordered_members(subscriptions: Mapping[str, Subscription]) -> list[str]:
    """All member ids in the order of ``MemberInfo``, so that any leader would compute the same assignment."""
    infos = [MemberInfo(member, subscription.group_instance_id) for member, subscription in subscriptions.items()]
    return [info.member_id for info in sorted(infos, key=lambda each: each.sort_key)]


# ── What travels ──────────────────────────────────────────────────────────────────────────────────────────────────────


def serialize_subscription(subscription: Subscription) -> bytes:
    """The bytes for a JoinGroup request."""
    message = ConsumerProtocolSubscription(
        topics=sorted(subscription.topics),
        user_data=subscription.user_data,
        owned_partitions=_by_topic(subscription.owned_partitions),
        generation_id=subscription.generation_id,
    )
    return encode_with_version(message, SUBSCRIPTION_VERSION)


def deserialize_subscription(data: bytes, group_instance_id: str | None = None) -> Subscription:
    """A subscription from the leader's JoinGroup response. Raises SchemaError."""
    message = decode_with_version(ConsumerProtocolSubscription, data, lenient=True)
    return Subscription(
        tuple(message.topics),
        message.user_data,
        _partitions(message.owned_partitions),
        max(NO_GENERATION_ID, message.generation_id),
        group_instance_id,
    )


def serialize_assignment(assignment: Assignment) -> bytes:
    """The bytes for the leader's SyncGroup request."""
    message = ConsumerProtocolAssignment(
        assigned_partitions=_by_topic(assignment.partitions), user_data=assignment.user_data
    )
    return encode_with_version(message, ASSIGNMENT_VERSION)


def deserialize_assignment(data: bytes) -> Assignment:
    """An assignment from a SyncGroup response; empty bytes are no partitions. Raises SchemaError."""
    if not data:
        return Assignment(())
    message = decode_with_version(ConsumerProtocolAssignment, data, lenient=True)
    return Assignment(_partitions(message.assigned_partitions), message.user_data)


def _by_topic(partitions: Sequence[TopicPartition]) -> list[consumer_protocol.TopicPartition]:
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return [consumer_protocol.TopicPartition(topic=topic, partitions=numbers) for topic, numbers in topics.items()]


def _partitions(topics: Iterable[consumer_protocol.TopicPartition]) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(each.topic, partition) for each in topics for partition in each.partitions)
