"""Balanced shares that change as little as possible from one rebalance to the next.

Kafka 0.11: clients/.../consumer/StickyAssignor.java, internals/AbstractStickyAssignor.java · book 5.1.3
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.partition_assignor import (
    AbstractPartitionAssignor,
    Assignment,
    Subscription,
    ordered_members,
)

NO_GENERATION = -1
_I16 = struct.Struct(">h")
_I32 = struct.Struct(">i")


class StickyAssignor(AbstractPartitionAssignor):
    """Two goals, the first of which comes first: members differ by as few partitions as their subscriptions allow;
    and of what a member had it keeps as much as that permits.

    ::

        C0: a b    C1: c d    C2: e f          C2 is gone:
        round-robin:   C0: a c e   C1: b d f   (b and c change hands as well)
        sticky:        C0: a b e   C1: c d f

    The assignor has no memory in the group: each member tells the leader, in the user data of its subscription, what it
    had, and in which generation. If two members claim one partition, the newer claim counts. The user data::

        topics:array of (topic:string | partitions:array of int32) | generation:int32   (0.11 had no generation)
    """

    name = "sticky"

    def __init__(self) -> None:
        self._assignment: tuple[TopicPartition, ...] | None = None
        self._generation = NO_GENERATION

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:  # noqa: ARG002
        """What this member had."""
        return None if self._assignment is None else encode_user_data(self._assignment, self._generation)

    def on_assignment(self, assignment: Assignment, generation_id: int) -> None:
        """Remember it for the next rebalance."""
        self._assignment, self._generation = assignment.partitions, generation_id

    def assign_partitions(
        self, partition_counts: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> dict[str, list[TopicPartition]]:
        """The partitions of each member."""
        members = ordered_members(subscriptions)
        wanted_by = {
            topic: [member for member in members if topic in subscriptions[member].topics] for topic in partition_counts
        }
        partitions = [
            TopicPartition(topic, number) for topic, count in partition_counts.items() for number in range(count)
        ]
        shares = _previous_shares(members, subscriptions, set(partitions), wanted_by)
        _assign_the_rest(partitions, shares, wanted_by)
        _balance(shares, wanted_by)
        return shares


Shares = dict[str, list[TopicPartition]]


def _previous_shares(
    members: list[str],
    subscriptions: Mapping[str, Subscription],
    partitions: set[TopicPartition],
    wanted_by: Mapping[str, list[str]],
) -> Shares:
    """What each member had, as far as it is still there, still wanted, and not claimed by somebody newer."""
    shares: Shares = {member: [] for member in members}
    claims = [(*decode_user_data(subscriptions[member].user_data), member) for member in members]
    taken: set[TopicPartition] = set()
    for owned, _generation, member in sorted(claims, key=lambda claim: -claim[1]):
        for partition in owned:
            if partition in partitions and partition not in taken and member in wanted_by[partition.topic]:
                taken.add(partition)
                shares[member].append(partition)
    return shares


def _assign_the_rest(partitions: list[TopicPartition], shares: Shares, wanted_by: Mapping[str, list[str]]) -> None:
    """Give each partition that nobody has to the member with the fewest, those that few want first."""
    taken = {partition for share in shares.values() for partition in share}
    left = [partition for partition in partitions if partition not in taken]
    for partition in sorted(left, key=lambda each: (len(wanted_by[each.topic]), each)):
        member = min(wanted_by[partition.topic], key=lambda each: len(shares[each]))
        shares[member].append(partition)


def _balance(shares: Shares, wanted_by: Mapping[str, list[str]]) -> None:
    """Move partitions from members with many to members with few, until no move would make the two more equal.

    Each move brings the sum of the squares of the shares down, so there is an end.
    """
    moved = True
    while moved:
        moved = False
        for owner in sorted(shares, key=lambda each: -len(shares[each])):
            for partition in reversed(list(shares[owner])):  # what came last is the least missed
                poorest = min(wanted_by[partition.topic], key=lambda each: len(shares[each]))
                if len(shares[owner]) > len(shares[poorest]) + 1:
                    shares[owner].remove(partition)
                    shares[poorest].append(partition)
                    moved = True


# ── User data ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def encode_user_data(partitions: Iterable[TopicPartition], generation: int) -> bytes:
    """What a member had, and when."""
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    parts = [_I32.pack(len(topics))]
    for topic, numbers in topics.items():
        name = topic.encode()
        parts += [_I16.pack(len(name)), name, struct.pack(f">i{len(numbers)}i", len(numbers), *numbers)]
    parts.append(_I32.pack(generation))
    return b"".join(parts)


def decode_user_data(data: bytes | None) -> tuple[list[TopicPartition], int]:
    """The other way round; nothing, of no generation, when the bytes are something else."""
    if not data:
        return [], NO_GENERATION
    try:
        return _decode(data)
    except (struct.error, UnicodeDecodeError, ValueError):
        return [], NO_GENERATION


def _decode(data: bytes) -> tuple[list[TopicPartition], int]:
    partitions: list[TopicPartition] = []
    (count,), position = _I32.unpack_from(data), _I32.size
    for _ in range(count):
        (size,) = _I16.unpack_from(data, position)
        position += _I16.size
        topic = data[position : position + size].decode()
        (numbers,) = _I32.unpack_from(data, position + size)
        position += size + _I32.size
        if not 0 <= numbers <= (len(data) - position) // _I32.size:
            raise ValueError("more partitions than bytes")
        partitions += [TopicPartition(topic, number) for number in struct.unpack_from(f">{numbers}i", data, position)]
        position += numbers * _I32.size
    generation = _I32.unpack_from(data, position)[0] if len(data) >= position + _I32.size else NO_GENERATION
    return partitions, generation
