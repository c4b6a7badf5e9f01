"""Spreads partitions evenly, and moves as few as it can.

Kafka 4.1: group-coordinator/.../group/assignor/UniformAssignor.java, UniformHomogeneousAssignmentBuilder.java,
UniformHeterogeneousAssignmentBuilder.java · book 5.1.3
"""

from __future__ import annotations

from itertools import islice
from uuid import UUID

from kafka_lite.coordinator.group.modern.assignor.group_spec import Assignment, GroupSpec
from kafka_lite.coordinator.group.modern.topic_partitions import grouped, pairs

MAX_ROUNDS = 16
"""How often all topics are balanced. Each round about halves what is uneven; two are enough for usual subscriptions."""
Pair = tuple[UUID, int]


class UniformAssignor:
    """Balance before stickiness: the members' numbers of partitions differ by one at most, if all subscribe alike."""

    name = "uniform"

    def assign(self, group: GroupSpec) -> Assignment:
        """See ConsumerGroupPartitionAssignor."""
        owned = _assign_alike(group) if group.is_homogeneous else _HeterogeneousBuilder(group).build()
        return {member_id: grouped(partitions) if partitions else {} for member_id, partitions in owned.items()}


def _valid_pairs(group: GroupSpec, member_id: str) -> list[Pair]:
    """The partitions of a member's old target that still exist, and that it still subscribes to."""
    member, existing = group.members[member_id], group.num_partitions
    if not member.assigned:
        return []  # as with most members of a large group
    return [
        (topic_id, number)
        for topic_id, number in pairs(member.assigned)
        if topic_id in member.topic_ids and number < existing[topic_id]
    ]


def _assign_alike(group: GroupSpec) -> dict[str, list[Pair]]:
    """All members subscribe to the same topics: cut each down to its quota, then fill the others up to theirs.

    The members with most partitions get the higher quotas, so that they lose none without need.
    """
    kept: dict[str, list[Pair]] = {}
    taken: set[Pair] = set()
    for member_id in sorted(group.members):
        kept[member_id] = [pair for pair in _valid_pairs(group, member_id) if pair not in taken]
        taken.update(kept[member_id])
    topic_ids = next((member.topic_ids for member in group.members.values()), frozenset())
    everything = [(topic_id, n) for topic_id in sorted(topic_ids) for n in range(group.num_partitions[topic_id])]
    quota, extra = divmod(len(everything), len(kept)) if kept else (0, 0)
    by_size = sorted(kept, key=lambda member_id: (-len(kept[member_id]), member_id))
    quotas = {member_id: quota + (position < extra) for position, member_id in enumerate(by_size)}
    owned = {member_id: kept[member_id][: quotas[member_id]] for member_id in kept}
    assigned = {pair for partitions in owned.values() for pair in partitions}
    free = iter([pair for pair in everything if pair not in assigned])
    for member_id, partitions in owned.items():
        partitions.extend(islice(free, quotas[member_id] - len(partitions)))
    return owned


class _HeterogeneousBuilder:
    """Members subscribe to different topics: keep what is valid, give away what is free, then balance each topic."""

    def __init__(self, group: GroupSpec) -> None:
        self._num_partitions = group.num_partitions
        self._members = sorted(group.members)
        self._subscribers: dict[UUID, list[str]] = {}
        for member_id in self._members:
            for topic_id in group.members[member_id].topic_ids:
                self._subscribers.setdefault(topic_id, []).append(member_id)
        self._owners: dict[Pair, str] = {}
        self._sizes = dict.fromkeys(self._members, 0)
        for member_id in self._members:
            for pair in _valid_pairs(group, member_id):
                if pair not in self._owners:
                    self._give(pair, member_id)

    def build(self) -> dict[str, list[Pair]]:
        """The partitions of each member."""
        order = sorted(self._subscribers, key=self._urgency)
        for topic_id in order:
            for number in range(self._num_partitions[topic_id]):
                if (topic_id, number) not in self._owners:
                    self._give((topic_id, number), self._least_loaded(topic_id))
        for _ in range(MAX_ROUNDS):
            if not sum(self._balance(topic_id) for topic_id in order):
                break
        owned: dict[str, list[Pair]] = {member_id: [] for member_id in self._members}
        for pair in sorted(self._owners):
            owned[self._owners[pair]].append(pair)
        return owned

    def _urgency(self, topic_id: UUID) -> tuple[float, int, UUID]:
        """Topics with many partitions for each subscriber come first: they can even out the least later."""
        subscribers = len(self._subscribers[topic_id])
        return -self._num_partitions[topic_id] / subscribers, subscribers, topic_id

    def _least_loaded(self, topic_id: UUID) -> str:
        return min(self._subscribers[topic_id], key=lambda member_id: (self._sizes[member_id], member_id))

    def _give(self, pair: Pair, member_id: str) -> None:
        before = self._owners.get(pair)
        if before is not None:
            self._sizes[before] -= 1
        self._owners[pair] = member_id
        self._sizes[member_id] += 1

    def _balance(self, topic_id: UUID) -> int:
        """Move partitions of the topic from the fullest to the emptiest subscribers; returns how many moved."""
        owned: dict[str, list[int]] = {member_id: [] for member_id in self._subscribers[topic_id]}
        for number in range(self._num_partitions[topic_id]):
            owned[self._owners[topic_id, number]].append(number)
        moved = 0
        while True:
            givers = [member_id for member_id, numbers in owned.items() if numbers]
            if not givers:
                return moved
            fullest = max(givers, key=lambda member_id: (self._sizes[member_id], member_id))
            emptiest = self._least_loaded(topic_id)
            if self._sizes[fullest] - self._sizes[emptiest] <= 1:
                return moved
            number = owned[fullest].pop()
            owned[emptiest].append(number)
            self._give((topic_id, number), emptiest)
            moved += 1
