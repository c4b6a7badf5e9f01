"""What the assignor of share groups promises, for groups of any kind."""

from __future__ import annotations

import random
from uuid import UUID

import pytest

from kafka_lite.common.utils import java_string_hash
from kafka_lite.coordinator.group.modern.assignor.group_spec import Assignment, GroupSpec, MemberSpec
from kafka_lite.coordinator.group.modern.assignor.simple_assignor import SimpleAssignor
from kafka_lite.coordinator.group.modern.topic_partitions import pairs

T, S = UUID(int=1), UUID(int=2)
ASSIGNOR = SimpleAssignor()


def spec(members: dict[str, set[UUID]], counts: dict[UUID, int], target: Assignment | None = None) -> GroupSpec:
    last = target or {}
    return GroupSpec(
        {name: MemberSpec(frozenset(topics), assigned=last.get(name, {})) for name, topics in members.items()}, counts
    )


def test_nobody_gets_nothing() -> None:
    assert ASSIGNOR.assign(spec({}, {})) == {}
    assert ASSIGNOR.assign(spec({"a": set()}, {})) == {"a": {}}


def test_more_members_than_partitions_all_have_one() -> None:
    members = [f"m{n}" for n in range(10)]
    assigned = ASSIGNOR.assign(spec({each: {T} for each in members}, {T: 2}))
    assert {len(list(pairs(assigned[each]))) for each in members} <= {1, 2}
    for each in members:
        assert abs(java_string_hash(each)) % 2 in assigned[each][T]


def test_only_partitions_with_state_are_assigned() -> None:
    group = spec({"a": {T}, "b": {T}}, {T: 4})
    limited = GroupSpec(group.members, group.num_partitions, {T: frozenset({2})})
    assert ASSIGNOR.assign(limited) == {"a": {T: frozenset({2})}, "b": {T: frozenset({2})}}
    assert ASSIGNOR.assign(GroupSpec(group.members, group.num_partitions, {})) == {"a": {}, "b": {}}


def test_partitions_stay_where_they_are_while_there_is_room() -> None:
    first = ASSIGNOR.assign(spec({"a": {T}, "b": {T}}, {T: 8}))
    assert ASSIGNOR.assign(spec({"a": {T}, "b": {T}}, {T: 8}, first)) == first


def test_a_member_has_only_topics_that_it_subscribes_to() -> None:
    first = ASSIGNOR.assign(spec({"a": {T, S}, "b": {T, S}}, {T: 4, S: 4}))
    assigned = ASSIGNOR.assign(spec({"a": {T}, "b": {S}}, {T: 4, S: 4}, first))
    assert assigned == {"a": {T: frozenset(range(4))}, "b": {S: frozenset(range(4))}}


def test_members_that_share_all_their_partitions_do_not_hinder_the_rest() -> None:
    """Kafka's assignor gives up here: both members have their quota, of the same partitions."""
    same = {T: frozenset(range(1, 6))}
    assigned = ASSIGNOR.assign(spec({"a": {T}, "c": {T}}, {T: 12}, {"a": same, "c": same}))
    assert assigned["a"][T] | assigned["c"][T] == frozenset(range(12))


@pytest.mark.parametrize("seed", range(60))
def test_every_partition_has_a_member_and_every_member_a_partition(seed: int) -> None:
    rng = random.Random(seed)
    topics = {UUID(int=n): rng.randint(1, 9) for n in range(rng.randint(1, 4))}
    alike = rng.random() < 0.5
    target: Assignment | None = None
    members: dict[str, set[UUID]] = {}
    for _ in range(6):
        for _ in range(rng.randint(0, 4)):
            wanted = set(topics) if alike else set(rng.sample(sorted(topics), rng.randint(1, len(topics))))
            members[f"m{rng.randint(0, 99)}"] = wanted
        for gone in rng.sample(sorted(members), rng.randint(0, len(members) // 2)):
            del members[gone]
        question = spec(members, topics, target)
        target = ASSIGNOR.assign(question)
        assert target == ASSIGNOR.assign(question)
        assert target.keys() == members.keys()
        read = {pair for partitions in target.values() for pair in pairs(partitions)}
        subscribed = set().union(*members.values())
        assert read == {(topic, n) for topic in subscribed for n in range(topics[topic])}
        for name, partitions in target.items():
            assert partitions
            assert partitions.keys() <= members[name]
