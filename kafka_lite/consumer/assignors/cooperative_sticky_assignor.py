"""Sticky assignment for members that keep reading while the group rebalances.

Kafka 2.4: clients/.../consumer/CooperativeStickyAssignor.java · book 5.1.3
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.abstract_sticky_assignor import AbstractStickyAssignor, MemberData
from kafka_lite.consumer.assignors.partition_assignor import (
    Assignment,
    PartitionAssignor,
    RebalanceProtocol,
    Subscription,
)
from kafka_lite.consumer.assignors.sticky_assignor import decode_user_data
from kafka_lite.consumer.generation import NO_GENERATION_ID


class AssignmentError(KafkaError):
    """An assignor has violated the rules of its rebalance protocol."""


_GENERATION = struct.Struct(">i")


class CooperativeStickyAssignor(AbstractStickyAssignor):
    """Assigns a partition that moves to no member at first.

    ::

                             had          is to have   first rebalance   second rebalance
        C0                   a b c d      a b          a b  (c d go)     a b
        C1, which is new     –            c d          –                 c d

    Members keep reading their partitions while they join. If *c* were assigned to C1 at once, both might read it,
    because C1 learns of it at the same time as C0. So C0 gives it up first, and joins again because it did; then *c* is
    free.

    A member's subscription lists its owned partitions and, since version 2, their generation. Before, the generation
    was in the user data: Java writes an int32, librdkafka the format of ``StickyAssignor``.
    """

    name = "cooperative-sticky"
    supported_protocols = (RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER)

    def __init__(self) -> None:
        self._generation = NO_GENERATION_ID

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:  # noqa: ARG002
        """The generation in which this member was assigned its owned partitions."""
        return _GENERATION.pack(self._generation)

    def on_assignment(self, assignment: Assignment, generation_id: int) -> None:  # noqa: ARG002
        """Remember the generation."""
        self._generation = generation_id

    def member_data(self, subscription: Subscription) -> MemberData:
        """The member's owned partitions and their generation."""
        generation, user_data = subscription.generation_id, subscription.user_data
        if generation == NO_GENERATION_ID and user_data:
            is_java = len(user_data) == _GENERATION.size
            generation = _GENERATION.unpack(user_data)[0] if is_java else decode_user_data(user_data).generation
        return MemberData(subscription.owned_partitions, generation)

    def assign_partitions(
        self, partition_counts: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> dict[str, list[TopicPartition]]:
        """The partitions of each member, without those that another member must give up first."""
        claims = self.claims(subscriptions)
        return {
            member: [each for each in share if not claims.must_be_given_up_first(each, member)]
            for member, share in super().assign_partitions(partition_counts, subscriptions).items()
        }


def validate_cooperative_assignment(
    assignor: PartitionAssignor, subscriptions: Mapping[str, Subscription], assignment: Mapping[str, Assignment]
) -> None:
    """Check that no partition is assigned before its owner has given it up. Raises AssignmentError before members are
    told."""
    if isinstance(assignor, CooperativeStickyAssignor):
        return  # it may deliberately ignore the older of two claims
    added: set[TopicPartition] = set()
    revoked: set[TopicPartition] = set()
    for member, share in assignment.items():
        owned = set(subscriptions[member].owned_partitions)
        added |= set(share.partitions) - owned
        revoked |= owned - set(share.partitions)
    if added & revoked:
        taken = ", ".join(str(each) for each in sorted(added & revoked))
        raise AssignmentError(
            f"Assignor {assignor.name} supports the COOPERATIVE protocol and violates its requirements: it has "
            f"assigned {taken} while other members still own them. Omit them until their owners have given them up."
        )
