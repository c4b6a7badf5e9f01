"""How the partitions of a group's topics are shared among its members.

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
from kafka_lite.consumer.group.group_rebalance_config import NO_GENERATION_ID
from kafka_lite.protocol.messages import consumer_protocol
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version

logger = logging.getLogger(__name__)

PROTOCOL_TYPE = "consumer"
SUBSCRIPTION_VERSION = 3
"""What is written; later versions are read as well, and readers of earlier ones skip what was added."""
ASSIGNMENT_VERSION = 0


class RebalanceProtocol(IntEnum):
    """What members do with their partitions while the group rebalances (KIP-429)."""

    EAGER = 0
    """Before it joins, a member gives up all that it has."""
    COOPERATIVE = 1
    """A member goes on reading all that it has, and gives up afterwards what it has not been assigned again."""


@dataclass(frozen=True)
class Subscription:
    """What a member wants to read, as it tells the group's leader."""

    topics: tuple[str, ...]
    user_data: bytes | None = None
    """The assignor's own."""
    owned_partitions: tuple[TopicPartition, ...] = ()
    """What the member goes on reading while it joins, if its client tells."""
    generation_id: int = NO_GENERATION_ID
    """In which generation it was assigned these; unknown before version 2."""
    group_instance_id: str | None = None
    """Of a static member."""


@dataclass(frozen=True)
class Assignment:
    """What a member shall read, as the leader tells it."""

    partitions: tuple[TopicPartition, ...]
    user_data: bytes | None = None


@dataclass(frozen=True)
class MemberInfo:
    """A member, in an order that outlives restarts of static members: they come first, by their instance ids."""

    member_id: str
    group_instance_id: str | None = None
    sort_key: tuple[bool, str] = field(init=False)

    def __post_init__(self) -> None:
        key = (self.group_instance_id is None, self.group_instance_id or self.member_id)
        object.__setattr__(self, "sort_key", key)  # the one way to set a field of a frozen dataclass


class PartitionAssignor(ABC):
    """Runs in the member that is the group's leader, for all: the brokers know nothing of partitions to share."""

    name: str
    """What members call it when they agree on one."""
    supported_protocols: tuple[RebalanceProtocol, ...] = (RebalanceProtocol.EAGER,)
    """With COOPERATIVE, it must not assign a partition that another member owns before that one has given it up."""

    def configure(self, configs: Mapping[str, object]) -> None:  # noqa: B027 - override it or not
        """Called once with the consumer's configuration."""

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:  # noqa: ARG002
        """What this assignor, in each member, has to say to itself in the leader."""
        return None

    def on_assignment(self, assignment: Assignment, generation_id: int) -> None:  # noqa: B027
        """In each member: this is what it got."""

    @abstractmethod
    def assign(self, cluster: Cluster, subscriptions: Mapping[str, Subscription]) -> dict[str, Assignment]:
        """What each member shall read, by member id. Every member must be in the result."""


class AbstractPartitionAssignor(PartitionAssignor):
    """For assignors that need to know no more of the cluster than how many partitions each topic has."""

    def assign(self, cluster: Cluster, subscriptions: Mapping[str, Subscription]) -> dict[str, Assignment]:
        """Have the partitions of all topics that somebody reads shared, topics by name; those without any are left out.

        Every member gets an answer, be it an empty one.
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
        """The partitions of each member; ``partition_counts`` has the topics that there are, by name."""


def members_of(topic: str, subscriptions: Mapping[str, Subscription]) -> list[str]:
    """The ids of the members that want to read a topic, in their order."""
    return [member for member in ordered_members(subscriptions) if topic in subscriptions[member].topics]


def ordered_members(subscriptions: Mapping[str, Subscription]) -> list[str]:
    """All member ids in the order of ``MemberInfo``: any member that were leader would find the same one."""
    infos = [MemberInfo(member, subscription.group_instance_id) for member, subscription in subscriptions.items()]
    return [info.member_id for info in sorted(infos, key=lambda each: each.sort_key)]


# ── What travels ──────────────────────────────────────────────────────────────────────────────────────────────────────


def serialize_subscription(subscription: Subscription) -> bytes:
    """For JoinGroup."""
    message = ConsumerProtocolSubscription(
        topics=sorted(subscription.topics),
        user_data=subscription.user_data,
        owned_partitions=_by_topic(subscription.owned_partitions),
        generation_id=subscription.generation_id,
    )
    return encode_with_version(message, SUBSCRIPTION_VERSION)


def deserialize_subscription(data: bytes, group_instance_id: str | None = None) -> Subscription:
    """Out of the answer to the leader's JoinGroup. Raises SchemaError."""
    message = decode_with_version(ConsumerProtocolSubscription, data, lenient=True)
    return Subscription(
        tuple(message.topics),
        message.user_data,
        _partitions(message.owned_partitions),
        max(NO_GENERATION_ID, message.generation_id),
        group_instance_id,
    )


def serialize_assignment(assignment: Assignment) -> bytes:
    """For the leader's SyncGroup."""
    message = ConsumerProtocolAssignment(
        assigned_partitions=_by_topic(assignment.partitions), user_data=assignment.user_data
    )
    return encode_with_version(message, ASSIGNMENT_VERSION)


def deserialize_assignment(data: bytes) -> Assignment:
    """Out of the answer to SyncGroup; nothing at all is nothing to read. Raises SchemaError."""
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
