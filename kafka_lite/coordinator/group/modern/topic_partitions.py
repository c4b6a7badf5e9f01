"""Partitions by topic id: how assignments of KIP-848 are kept.

Kafka 4.1: group-coordinator/.../group/modern/Assignment.java, Utils.java · book 5.1.3
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol
from uuid import UUID

TopicIdPartitions = Mapping[UUID, frozenset[int]]
"""Partitions by the id of their topic. No topic is without partitions, and none is changed in place."""
NO_PARTITIONS: frozenset[int] = frozenset()


class PartitionsOfTopic(Protocol):
    """A struct of a message: partitions of one topic."""

    topic_id: UUID
    partitions: list[int]


def from_structs(structs: Iterable[PartitionsOfTopic]) -> dict[UUID, frozenset[int]]:
    """The partitions that a message lists; topics without partitions are left out."""
    found: dict[UUID, frozenset[int]] = {}
    for struct in structs:
        if struct.partitions:
            found[struct.topic_id] = found.get(struct.topic_id, NO_PARTITIONS) | frozenset(struct.partitions)
    return found


def in_order(partitions: TopicIdPartitions) -> Iterator[tuple[UUID, list[int]]]:
    """The topics and their partitions, both sorted, so that the same assignment always has the same bytes."""
    for topic_id in sorted(partitions):
        yield topic_id, sorted(partitions[topic_id])


def pairs(partitions: TopicIdPartitions) -> Iterator[tuple[UUID, int]]:
    """Each topic id with each of its partitions, sorted."""
    for topic_id, numbers in in_order(partitions):
        for number in numbers:
            yield topic_id, number


def grouped(found: Iterable[tuple[UUID, int]]) -> dict[UUID, frozenset[int]]:
    """Pairs, grouped by topic id."""
    topics: dict[UUID, set[int]] = {}
    for topic_id, number in found:
        topics.setdefault(topic_id, set()).add(number)
    return {topic_id: frozenset(numbers) for topic_id, numbers in topics.items()}


def without(partitions: TopicIdPartitions, others: TopicIdPartitions) -> dict[UUID, frozenset[int]]:
    """The partitions that are not among the others."""
    return _filled({t: numbers - others.get(t, NO_PARTITIONS) for t, numbers in partitions.items()})


def common(partitions: TopicIdPartitions, others: TopicIdPartitions) -> dict[UUID, frozenset[int]]:
    """The partitions that both have."""
    return _filled({t: numbers & others.get(t, NO_PARTITIONS) for t, numbers in partitions.items()})


def union(partitions: TopicIdPartitions, others: TopicIdPartitions) -> dict[UUID, frozenset[int]]:
    """The partitions of both."""
    merged = dict(partitions)
    for topic_id, numbers in others.items():
        merged[topic_id] = merged.get(topic_id, NO_PARTITIONS) | numbers
    return merged


def is_subset(partitions: TopicIdPartitions, others: TopicIdPartitions) -> bool:
    """Whether the others have all of them."""
    return all(numbers <= others.get(topic_id, NO_PARTITIONS) for topic_id, numbers in partitions.items())


def _filled(topics: dict[UUID, frozenset[int]]) -> dict[UUID, frozenset[int]]:
    return {topic_id: numbers for topic_id, numbers in topics.items() if numbers}
