"""A member of a share group: its subscription, its epochs, and the partitions that it reads.

Kafka 4.1: group-coordinator/.../group/modern/share/ShareGroupMember.java, ShareGroupAssignmentBuilder.java · book 5.2.2
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.consumer_group_member import JOIN_GROUP_MEMBER_EPOCH
from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions


@dataclass(frozen=True, slots=True)
class ShareGroupMember:
    """A value: every change makes another member."""

    member_id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: frozenset[str] = frozenset()
    member_epoch: int = JOIN_GROUP_MEMBER_EPOCH
    previous_member_epoch: int = -1
    """The epoch before: the response that raised it may have been lost."""
    state: MemberState = MemberState.STABLE
    assigned: TopicIdPartitions = field(default_factory=dict)
    """The partitions that it may read. Others may have them, too."""

    @property
    def instance_id(self) -> None:
        """There are no static members in share groups."""

    def moved_to(self, target_epoch: int, target: TopicIdPartitions) -> ShareGroupMember:
        """The member with the target: at once, since nobody has to give up anything for it."""
        if self.member_epoch == target_epoch:
            return self
        return replace(
            self,
            state=MemberState.STABLE,
            member_epoch=target_epoch,
            previous_member_epoch=self.member_epoch,
            assigned=target,
        )

    def check_epoch(self, epoch: int) -> None:
        """Raise FENCED_MEMBER_EPOCH for an epoch that is neither the member's nor the one before.

        A member that joins again may always do so. (Kafka 4.1 refuses that until the old session has expired.)
        """
        if epoch in (self.member_epoch, self.previous_member_epoch, JOIN_GROUP_MEMBER_EPOCH):
            return
        relation = "greater" if epoch > self.member_epoch else "smaller"
        middle = (
            ""
            if relation == "greater"
            else (f", and it does not match the previous member epoch ({self.previous_member_epoch})")
        )
        raise Errors.FENCED_MEMBER_EPOCH.exception(
            f"The share group member has a {relation} member epoch ({epoch}) than the one known by the group "
            f"coordinator ({self.member_epoch}){middle}. The member must abandon all its partitions and rejoin."
        )
