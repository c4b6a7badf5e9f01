"""The question that an assignor answers, and the interface of assignors.

Kafka 4.1: group-coordinator/.../api/assignor/GroupSpec.java, ConsumerGroupPartitionAssignor.java,
ShareGroupPartitionAssignor.java · book 5.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions

Assignment = dict[str, dict[UUID, frozenset[int]]]
"""The target of each member, by member id."""


@dataclass(frozen=True, slots=True)
class MemberSpec:
    """A member, as an assignor sees it."""

    topic_ids: frozenset[UUID]
    """The topics that it subscribes to, of those that exist."""
    instance_id: str | None = None
    rack_id: str | None = None
    assigned: TopicIdPartitions = field(default_factory=dict)
    """Its target so far."""


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """All members, and the number of partitions of each topic."""

    members: Mapping[str, MemberSpec]
    num_partitions: Mapping[UUID, int]
    assignable: TopicIdPartitions | None = None
    """The partitions that may be assigned, in a share group; None: all."""

    def is_assignable(self, topic_id: UUID, partition: int) -> bool:
        """Whether a member may get the partition."""
        return self.assignable is None or partition in self.assignable.get(topic_id, ())

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members subscribe to the same topics."""
        return len({member.topic_ids for member in self.members.values()}) <= 1


class ConsumerGroupPartitionAssignor(Protocol):
    """Computes the target of every member. It is pure: the same question has the same answer."""

    @property
    def name(self) -> str:
        """The name by which members ask for it."""
        ...

    def assign(self, group: GroupSpec) -> Assignment:
        """The new target. Each partition of a topic with subscribers has exactly one member."""
        ...


class ShareGroupPartitionAssignor(Protocol):
    """Computes the target of every member of a share group. It is pure."""

    @property
    def name(self) -> str:
        """Its name in ``group.share.assignors``."""
        ...

    def assign(self, group: GroupSpec) -> Assignment:
        """The new target. Each assignable partition of a topic with subscribers has one member at least."""
        ...
