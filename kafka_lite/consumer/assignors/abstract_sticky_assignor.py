"""Balanced assignments that change as little as possible from one rebalance to the next.

Kafka 2.4: clients/.../consumer/internals/AbstractStickyAssignor.java · book 5.1.3
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import AbstractPartitionAssignor, Subscription, ordered_members
from kafka_lite.consumer.generation import NO_GENERATION_ID

Shares = dict[str, list[TopicPartition]]
"""The partitions of each member, by its id."""


class MemberData(NamedTuple):
    """The partitions that a member claims to have owned, and the generation."""

    partitions: Collection[TopicPartition]
    generation: int = NO_GENERATION_ID


@dataclass(frozen=True)
class Claims:
    """The previous owners, as all members report them. A member that was away may claim partitions that others own
    now."""

    owners: Mapping[TopicPartition, str]
    """The member with the newest claim to each partition."""
    contested: frozenset[TopicPartition]
    """Claimed by two members in the same generation. They cannot both be right, so neither is believed."""

    @staticmethod
    def of(members: Mapping[str, MemberData]) -> Claims:
        """Resolve the members' claims."""
        newest: dict[TopicPartition, tuple[int, set[str]]] = {}
        for member, (partitions, generation) in members.items():
            for partition in partitions:
                known, claimants = newest.setdefault(partition, (generation, set()))
                if generation > known:
                    newest[partition] = generation, {member}
                elif generation == known:
                    claimants.add(member)
        return Claims(
            {partition: next(iter(those)) for partition, (_, those) in newest.items() if len(those) == 1},
            frozenset(partition for partition, (_, those) in newest.items() if len(those) > 1),
        )

    def must_be_given_up_first(self, partition: TopicPartition, new_owner: str) -> bool:
        """Whether another member may still be reading the partition."""
        return partition in self.contested or self.owners.get(partition, new_owner) != new_owner


class AbstractStickyAssignor(AbstractPartitionAssignor):
    """Has two goals. First, members differ by as few partitions as their subscriptions allow. Second, each member keeps
    as many of its previous partitions as the first goal permits.

    ::

        C0: a b    C1: c d    C2: e f          C2 is gone:
        round-robin:   C0: a c e   C1: b d f   (b and c change hands as well)
        sticky:        C0: a b e   C1: c d f

    The assignor keeps no state in the group: each member tells the leader what it owned, and in which generation.
    Subclasses decide how. If all members have the same subscription, as usual, two passes are enough. Otherwise
    partitions are moved one by one until no move would bring two members closer.
    """

    @abstractmethod
    def member_data(self, subscription: Subscription) -> MemberData:
        """The member's previous assignment; empty if it reports none."""

    def claims(self, subscriptions: Mapping[str, Subscription]) -> Claims:
        """The previous owners of all partitions."""
        return Claims.of({member: self.member_data(each) for member, each in subscriptions.items()})

    def assign_partitions(
        self, partition_counts: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> dict[str, list[TopicPartition]]:
        """The partitions of each member, by member id."""
        members = ordered_members(subscriptions)
        wishes = {member: frozenset(subscriptions[member].topics) for member in members}
        wanted_by = {topic: [member for member in members if topic in wishes[member]] for topic in partition_counts}
        partitions = [
            TopicPartition(topic, number)
            for topic, count in sorted(partition_counts.items())
            for number in range(count)
        ]
        owners = self.claims(subscriptions).owners
        had: Shares = {member: [] for member in members}
        for partition in partitions:
            owner = owners.get(partition)
            if owner is not None and partition.topic in wishes[owner]:
                had[owner].append(partition)
        if len(set(wishes.values())) == 1:
            return share_equally(partitions, had)
        _assign_the_rest(partitions, had, wanted_by)
        _balance(had, wanted_by)
        return had


def share_equally(partitions: Collection[TopicPartition], had: Shares) -> Shares:
    """All members have the same subscription: each keeps part of what it had, then those with less are filled up in
    turn.

    ::

        7 partitions, 3 members: quota 7 // 3 = 2, and extra 7 % 3 = 1 member has one more
        C0 had a b c d   keeps a b c (the extra one)      ─▶ a b c
        C1 had e         keeps e          hungry          ─▶ e d
        C2 is new                         hungry          ─▶ f g
    """
    quota, extra = divmod(len(partitions), len(had))
    shares: Shares = {}
    hungry, sated = deque[str](), deque[str]()
    for member, owned in had.items():
        limit = quota + 1 if extra > 0 and len(owned) > quota else quota
        extra -= limit > quota
        # Keep the lowest numbers across all topics, so that the partitions given up are spread across topics, too.
        shares[member] = sorted(owned, key=lambda each: (each.partition, each.topic))[:limit]
        if len(owned) < quota:
            hungry.append(member)
        elif limit == quota:
            sated.append(member)
    hungry, sated = deque(sorted(hungry)), deque(sorted(sated))
    for partition in _not_in(shares, partitions):
        member = hungry.popleft() if hungry else sated.popleft()
        shares[member].append(partition)
        if len(shares[member]) < quota:
            hungry.append(member)
        elif len(shares[member]) == quota:
            sated.append(member)  # it gets one more when no member is hungry, if there are extra partitions
    return shares


def _not_in(shares: Shares, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
    taken = {partition for share in shares.values() for partition in share}
    return [partition for partition in partitions if partition not in taken]


def _assign_the_rest(partitions: Iterable[TopicPartition], shares: Shares, wanted_by: Mapping[str, list[str]]) -> None:
    """Give each unassigned partition to the member with the fewest. Partitions with few subscribers come first."""
    left = _not_in(shares, partitions)
    for partition in sorted(left, key=lambda each: (len(wanted_by[each.topic]), each)):
        member = min(wanted_by[partition.topic], key=lambda each: len(shares[each]))
        shares[member].append(partition)


def _balance(shares: Shares, wanted_by: Mapping[str, list[str]]) -> None:
    """Move partitions from members with many to members with few, until no move would bring two members closer.

    Each move reduces the sum of the squares of the share sizes, so the loop ends.
    """
    moved = True
    while moved:
        moved = False
        for owner in sorted(shares, key=lambda each: -len(shares[each])):
            for partition in reversed(list(shares[owner])):  # start with the most recently added ones
                poorest = min(wanted_by[partition.topic], key=lambda each: len(shares[each]))
                if len(shares[owner]) > len(shares[poorest]) + 1:
                    shares[owner].remove(partition)
                    shares[poorest].append(partition)
                    moved = True
