"""Sticky assignment for eager members, with the previous assignment in the user data.

Kafka 0.11: clients/.../consumer/StickyAssignor.java · book 5.1.3
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.abstract_sticky_assignor import AbstractStickyAssignor, MemberData
from kafka_lite.consumer.assignors.partition_assignor import Assignment, Subscription
from kafka_lite.consumer.generation import NO_GENERATION_ID

_I16 = struct.Struct(">h")
_I32 = struct.Struct(">i")


class StickyAssignor(AbstractStickyAssignor):
    """For eager members. They give up everything before they join, so their subscription cannot list owned partitions.

    Instead, each member's assignor remembers its assignment and writes it into the user data::

        topics:array of (topic:string | partitions:array of int32) | generation:int32   (no generation in 0.11)
    """

    name = "sticky"

    def __init__(self) -> None:
        self._assignment: tuple[TopicPartition, ...] | None = None
        self._generation = NO_GENERATION_ID

    def subscription_user_data(self, topics: Iterable[str]) -> bytes | None:  # noqa: ARG002
        """This member's previous assignment, encoded; None before the first one."""
        return None if self._assignment is None else encode_user_data(self._assignment, self._generation)

    def on_assignment(self, assignment: Assignment, generation_id: int) -> None:
        """Remember it for the next rebalance."""
        self._assignment, self._generation = assignment.partitions, generation_id

    def member_data(self, subscription: Subscription) -> MemberData:
        """The member's previous assignment, from its user data."""
        return decode_user_data(subscription.user_data)


# ── User data ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def encode_user_data(partitions: Iterable[TopicPartition], generation: int) -> bytes:
    """A member's assignment and its generation, as user data."""
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    parts = [_I32.pack(len(topics))]
    for topic, numbers in topics.items():
        name = topic.encode()
        parts += [_I16.pack(len(name)), name, struct.pack(f">i{len(numbers)}i", len(numbers), *numbers)]
    parts.append(_I32.pack(generation))
    return b"".join(parts)


def decode_user_data(data: bytes | None) -> MemberData:
    """The inverse of ``encode_user_data``; no partitions and no generation if the bytes are something else."""
    if not data:
        return MemberData([])
    try:
        return _decode(data)
    except (struct.error, UnicodeDecodeError, ValueError):
        return MemberData([])


def _decode(data: bytes) -> MemberData:
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
    generation = _I32.unpack_from(data, position)[0] if len(data) >= position + _I32.size else NO_GENERATION_ID
    return MemberData(partitions, generation)
