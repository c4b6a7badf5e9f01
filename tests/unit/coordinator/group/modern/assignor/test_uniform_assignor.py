"""The uniform assignor: balance first, then stickiness."""

from __future__ import annotations

import random
from collections.abc import Mapping
from uuid import UUID

import pytest

from kafka_lite.coordinator.group.modern.assignor.group_spec import Assignment, GroupSpec, MemberSpec
from kafka_lite.coordinator.group.modern.assignor.range_assignor import RangeAssignor
from kafka_lite.coordinator.group.modern.assignor.uniform_assignor import UniformAssignor
from kafka_lite.coordinator.group.modern.topic_partitions import pairs

T, U, V = (UUID(int=n) for n in (1, 2, 3))


def spec(topics: Mapping[UUID, int], members: Mapping[str, set[UUID]], target: Assignment | None = None) -> GroupSpec:
    old = target or {}
    return GroupSpec(
        {name: MemberSpec(frozenset(ids), assigned=old.get(name, {})) for name, ids in members.items()}, topics
    )


def sizes(target: Assignment) -> dict[str, int]:
    return {name: len(list(pairs(partitions))) for name, partitions in target.items()}


def moved(before: Assignment, after: Assignment) -> int:
    """How many partitions have another owner, of members that are still there."""
    return sum(
        pair not in set(pairs(after[name])) for name, old in before.items() if name in after for pair in pairs(old)
    )


def test_all_get_the_same_number() -> None:
    target = UniformAssignor().assign(spec({T: 5, U: 2}, {"a": {T, U}, "b": {T, U}, "c": {T, U}}))
    assert sizes(target) == {"a": 3, "b": 2, "c": 2}
    assert sorted(pair for partitions in target.values() for pair in pairs(partitions)) == [
        *((T, n) for n in range(5)),
        *((U, n) for n in range(2)),
    ]


def test_a_new_member_takes_no_more_than_its_share() -> None:
    before = UniformAssignor().assign(spec({T: 6}, {"a": {T}, "b": {T}}))
    after = UniformAssignor().assign(spec({T: 6}, {"a": {T}, "b": {T}, "c": {T}}, before))
    assert sizes(after) == {"a": 2, "b": 2, "c": 2}
    assert moved(before, after) == 2


def test_nothing_moves_without_a_reason() -> None:
    members = {name: {T, U} for name in "abcd"}
    before = UniformAssignor().assign(spec({T: 7, U: 4}, members))
    assert UniformAssignor().assign(spec({T: 7, U: 4}, members, before)) == before
    assert moved(before, UniformAssignor().assign(spec({T: 9, U: 4}, members, before))) == 0


def test_members_with_other_topics_are_balanced_as_far_as_possible() -> None:
    target = UniformAssignor().assign(spec({T: 4, U: 4}, {"a": {T}, "b": {T, U}, "c": {U}}))
    assert sorted(sizes(target).values()) in ([2, 3, 3], [2, 2, 4])
    lonely = UniformAssignor().assign(spec({T: 2, U: 6}, {"a": {T, U}, "b": {T}}))
    assert sizes(lonely) == {"a": 6, "b": 2}


def test_a_member_loses_topics_that_it_left_or_that_shrank() -> None:
    before: Assignment = {"a": {T: frozenset({0, 1}), U: frozenset({0})}, "b": {T: frozenset({2})}}
    after = UniformAssignor().assign(spec({T: 2}, {"a": {T}, "b": {T}}, before))
    assert sizes(after) == {"a": 1, "b": 1}


def test_a_group_without_topics_or_members_has_no_assignment() -> None:
    assert UniformAssignor().assign(spec({}, {"a": set()})) == {"a": {}}
    assert UniformAssignor().assign(spec({}, {})) == {}
    assert RangeAssignor().assign(spec({}, {})) == {}


@pytest.mark.parametrize("assignor", [UniformAssignor(), RangeAssignor()])
@pytest.mark.parametrize("seed", range(60))
def test_every_partition_has_one_subscriber(seed: int, assignor: UniformAssignor | RangeAssignor) -> None:
    rng = random.Random(seed)
    topics = {topic: rng.randint(1, 9) for topic in (T, U, V)}
    target: Assignment = {}
    for _ in range(6):
        alike = {T, U, V} if rng.random() < 0.4 else None
        names = rng.sample("abcdefgh", rng.randint(1, 8))
        members = {name: alike or set(rng.sample([T, U, V], rng.randint(1, 3))) for name in names}
        group = spec(topics, members, target)
        target = assignor.assign(group)
        assert target.keys() == members.keys()
        owned = [pair for partitions in target.values() for pair in pairs(partitions)]
        read = set().union(*members.values())
        assert sorted(owned) == sorted((topic, n) for topic in read for n in range(topics[topic]))
        assert all(partitions.keys() <= members[name] for name, partitions in target.items())
        if alike and isinstance(assignor, UniformAssignor):
            assert max(sizes(target).values()) - min(sizes(target).values()) <= 1
