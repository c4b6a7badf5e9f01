"""Gives every partition to some member of a share group, and every member some partition.

Kafka 4.1: group-coordinator/.../group/assignor/SimpleAssignor.java · book 5.1.3
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import cycle
from uuid import UUID

from kafka_lite.common.utils import java_string_hash
from kafka_lite.coordinator.group.modern.assignor.group_spec import Assignment, GroupSpec
from kafka_lite.coordinator.group.modern.topic_partitions import grouped, pairs

Pair = tuple[UUID, int]


class SimpleAssignor:
    """A partition may have several members, and a member several partitions.

    ::

        1. the hash of its id leads each member to one partition: even with more members than partitions, all have one
        2. partitions that are nobody's by that keep the members of the last target, as far as those have room
        3. the rest is dealt out in turn

    It computes what Kafka's computes, but goes through members and topics in their order, so that the same question
    always has the same answer.
    """

    name = "simple"

    def assign(self, group: GroupSpec) -> Assignment:
        """See ShareGroupPartitionAssignor."""
        if not group.members:
            return {}
        owned = _assign_alike(group) if group.is_homogeneous else _assign_by_subscription(group)
        return {member_id: grouped(owned.get(member_id, ())) for member_id in group.members}


def _partitions_of(group: GroupSpec, topic_ids: Iterable[UUID]) -> list[Pair]:
    """The partitions of these topics that may be assigned."""
    return [
        (topic_id, number)
        for topic_id in sorted(topic_ids)
        for number in range(group.num_partitions[topic_id])
        if group.is_assignable(topic_id, number)
    ]


def _by_hash(member_ids: Iterable[str], partitions: list[Pair]) -> dict[str, Pair]:
    """The partition that each member's id leads to; none if there are no partitions."""
    if not partitions:
        return {}
    return {each: partitions[abs(java_string_hash(each)) % len(partitions)] for each in member_ids}


def _current(group: GroupSpec) -> dict[Pair, list[str]]:
    """The members of each partition by the last target."""
    found: dict[Pair, list[str]] = {}
    for member_id in sorted(group.members):
        for pair in pairs(group.members[member_id].assigned):
            found.setdefault(pair, []).append(member_id)
    return found


def _assign_alike(group: GroupSpec) -> dict[str, set[Pair]]:
    """All members subscribe to the same topics."""
    member_ids = sorted(group.members)
    targets = _partitions_of(group, group.members[member_ids[0]].topic_ids)
    quota = -(-len(targets) // len(member_ids))
    hashed = _by_hash(member_ids, targets)
    owned = {member_id: {pair} for member_id, pair in hashed.items()}
    taken = set(hashed.values())
    by_hash, assignable = frozenset(taken), frozenset(targets)
    for pair, members in _current(group).items():
        for member_id in members:
            has_room = len(owned.setdefault(member_id, set())) < quota
            if pair in assignable and pair not in by_hash and has_room:
                owned[member_id].add(pair)
                taken.add(pair)
    _deal(member_ids, [pair for pair in targets if pair not in taken], owned, quota)
    return owned


def _deal(member_ids: list[str], free: list[Pair], owned: dict[str, set[Pair]], quota: int) -> None:
    """Deal out what is free in turn. Members that have more than the quota are left out, unless all have."""
    turns = cycle(member_ids)
    for pair in free:
        in_turn = [next(turns) for _ in member_ids]
        member_id = next((each for each in in_turn if len(owned.setdefault(each, set())) <= quota), in_turn[0])
        while next(turns) != member_id:
            pass
        owned[member_id].add(pair)


def _assign_by_subscription(group: GroupSpec) -> dict[str, set[Pair]]:
    """Members subscribe to different topics."""
    current = _current(group)
    wanted = {each: _partitions_of(group, group.members[each].topic_ids) for each in sorted(group.members)}
    owned: dict[str, set[Pair]] = {}
    by_hash: set[Pair] = set()
    for member_id, partitions in wanted.items():
        for pair in _by_hash([member_id], partitions).values():
            owned.setdefault(member_id, set()).add(pair)
            by_hash.add(pair)
    dealt = _deal_by_topic(wanted, by_hash | current.keys(), owned)
    assignable = {member_id: frozenset(partitions) for member_id, partitions in wanted.items()}
    for pair, members in current.items():
        for member_id in members:
            if pair in assignable[member_id] and pair not in by_hash and pair not in dealt:
                owned.setdefault(member_id, set()).add(pair)
    return _with_orphans(wanted, owned)


def _deal_by_topic(wanted: Mapping[str, list[Pair]], taken: set[Pair], owned: dict[str, set[Pair]]) -> set[Pair]:
    """Deal out each topic's free partitions in turn among its subscribers; returns them."""
    subscribers: dict[UUID, list[str]] = {}
    free: dict[UUID, list[Pair]] = {}
    for member_id, partitions in wanted.items():
        for topic_id in dict.fromkeys(topic_id for topic_id, _ in partitions):
            subscribers.setdefault(topic_id, []).append(member_id)
            free.setdefault(topic_id, [pair for pair in partitions if pair[0] == topic_id and pair not in taken])
    for topic_id, partitions in sorted(free.items()):
        for pair, member_id in zip(partitions, cycle(subscribers[topic_id]), strict=False):
            owned.setdefault(member_id, set()).add(pair)
    return {pair for partitions in free.values() for pair in partitions}


def _with_orphans(wanted: Mapping[str, list[Pair]], owned: dict[str, set[Pair]]) -> dict[str, set[Pair]]:
    """Deal out what only members had that do not subscribe to its topic any more. (Kafka 4.1 leaves that to nobody
    until the next epoch, in which it is in no last target.)"""
    _deal_by_topic(wanted, set().union(*owned.values()), owned)
    return owned
