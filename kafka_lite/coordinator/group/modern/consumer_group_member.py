"""A member of a group of KIP-848: its subscription, its epochs, and the partitions that it has.

Kafka 4.1: group-coordinator/.../group/modern/consumer/ConsumerGroupMember.java · book 5.2.2
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions

JOIN_GROUP_MEMBER_EPOCH = 0
"""The epoch in the first heartbeat of a member."""
LEAVE_GROUP_MEMBER_EPOCH = -1
LEAVE_GROUP_STATIC_MEMBER_EPOCH = -2
"""The epoch in the last heartbeat of a static member that will be back, and of that member until then."""


@dataclass(frozen=True, slots=True)
class ClassicMember:
    """The part of a member that only those have that still send JoinGroup."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    """Name and metadata of each assignor that it supports, the preferred one first. None of them is asked."""

    @property
    def protocol_name(self) -> str:
        """The protocol that it is told to be the group's."""
        return self.protocols[0][0]

    @property
    def metadata(self) -> bytes:
        """Its subscription. All of its protocols have the same topics."""
        return self.protocols[0][1]


@dataclass(frozen=True, slots=True)
class ConsumerGroupMember:
    """A value: every change makes another member."""

    member_id: str
    instance_id: str | None = None
    """The name of a static member."""
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    """How long the member may take to give up partitions."""
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: frozenset[str] = frozenset()
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    member_epoch: int = JOIN_GROUP_MEMBER_EPOCH
    previous_member_epoch: int = -1
    """The epoch before: the response that raised it may have been lost."""
    state: MemberState = MemberState.STABLE
    assigned: TopicIdPartitions = field(default_factory=dict)
    """The partitions that the member may use."""
    pending_revocation: TopicIdPartitions = field(default_factory=dict)
    """The partitions that it must give up, and may still have."""
    classic: ClassicMember | None = None
    """Set for a member that sends JoinGroup instead of ConsumerGroupHeartbeat: it is not upgraded yet."""

    def is_reconciled_to(self, target_epoch: int) -> bool:
        """Whether the member has the target assignment of this epoch."""
        return self.state is MemberState.STABLE and self.member_epoch == target_epoch

    def has_same_subscription(self, other: ConsumerGroupMember) -> bool:
        """Whether the member subscribes to the same topics as the other."""
        return (
            self.subscribed_topic_names == other.subscribed_topic_names
            and self.subscribed_topic_regex == other.subscribed_topic_regex
        )
