"""Sticky and cooperative assignors move as little as they can."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.abstract_sticky_assignor import Claims, MemberData, share_equally
from kafka_lite.consumer.assignors.cooperative_sticky_assignor import CooperativeStickyAssignor
from kafka_lite.consumer.assignors.partition_assignor import (
    Assignment,
    Subscription,
)
from kafka_lite.consumer.assignors.sticky_assignor import StickyAssignor, decode_user_data, encode_user_data
from tests.support.examples import examples

NODE = Node(0, "h", 1)


def cluster(**topics: int) -> Cluster:
    infos = tuple(PartitionInfo(topic, number, NODE) for topic, count in topics.items() for number in range(count))
    return Cluster((NODE,), infos)


def text(assignment: dict[str, Assignment]) -> dict[str, str]:
    return {member: " ".join(str(each) for each in sorted(share.partitions)) for member, share in assignment.items()}


class StickyGroup:
    """A group through several rebalances: each member has its own assignor, and the leader gets the data of all."""

    def __init__(self) -> None:
        self.members: dict[str, tuple[StickyAssignor, tuple[str, ...]]] = {}
        self.generation = 0

    def join(self, member: str, *topics: str) -> None:
        self.members[member] = (StickyAssignor(), topics)

    def rebalance(self, of: Cluster) -> dict[str, set[TopicPartition]]:
        subscriptions = {
            member: Subscription(topics, assignor.subscription_user_data(topics))
            for member, (assignor, topics) in self.members.items()
        }
        assignment = StickyAssignor().assign(of, subscriptions)
        self.generation += 1
        for member, share in assignment.items():
            self.members[member][0].on_assignment(share, self.generation)
        return {member: set(share.partitions) for member, share in assignment.items()}


def test_sticky_moves_only_what_the_dead_member_had() -> None:
    group = StickyGroup()
    for member in ("a", "b", "c"):
        group.join(member, "t", "u")
    before = group.rebalance(cluster(t=6, u=6))
    assert sorted(len(share) for share in before.values()) == [4, 4, 4]
    del group.members["b"]
    after = group.rebalance(cluster(t=6, u=6))
    assert before["a"] <= after["a"]
    assert before["c"] <= after["c"]
    assert sorted(len(share) for share in after.values()) == [6, 6]


def test_sticky_takes_partitions_from_full_members_for_a_new_one() -> None:
    group = StickyGroup()
    group.join("a", "t")
    group.join("b", "t")
    before = group.rebalance(cluster(t=6))
    group.join("c", "t")
    after = group.rebalance(cluster(t=6))
    assert {member: len(share) for member, share in after.items()} == {"a": 2, "b": 2, "c": 2}
    assert after["a"] < before["a"]
    assert after["b"] < before["b"]


def test_the_newer_of_two_claims_counts() -> None:
    partitions = (TopicPartition("t", 0), TopicPartition("t", 1))
    subscriptions = {
        "old": Subscription(("t",), encode_user_data(partitions, 3)),
        "new": Subscription(("t",), encode_user_data(partitions[:1], 4)),
    }
    assert text(StickyAssignor().assign(cluster(t=2), subscriptions)) == {"old": "t-1", "new": "t-0"}


@pytest.mark.parametrize("data", [None, b"", b"\0", b"\x7f\xff\xff\xff", b"\0\0\0\1\0\5t", b"\xff" * 30])
def test_invalid_user_data_is_no_claim(data: bytes | None) -> None:
    assert decode_user_data(data) == ([], -1)


def test_user_data_without_a_generation_is_read() -> None:
    partitions = [TopicPartition("t", 2), TopicPartition("ü", 0)]
    data = encode_user_data(partitions, 7)
    assert decode_user_data(data) == (partitions, 7)
    assert decode_user_data(data[:-4]) == (partitions, -1)


def test_a_partition_claimed_twice_in_one_generation_belongs_to_neither() -> None:
    partitions = (TopicPartition("t", 0), TopicPartition("t", 1))
    claims = Claims.of({"a": MemberData(partitions, 3), "b": MemberData(partitions[:1], 3), "c": MemberData((), 4)})
    assert claims.owners == {partitions[1]: "a"}
    assert claims.contested == {partitions[0]}


def test_the_fullest_member_keeps_the_extra_partition() -> None:
    """The example of ``share_equally``."""
    a, b, c, d, e, f, g = partitions = [TopicPartition("t", number) for number in range(7)]
    assert share_equally(partitions, {"C0": [a, b, c, d], "C1": [e], "C2": []}) == {
        "C0": [a, b, c], "C1": [e, d], "C2": [f, g],
    }  # fmt: skip
    assert share_equally(partitions, {"C0": [], "C1": [e, f, g]}) == {"C0": [a, b, c], "C1": [e, f, g, d]}


class CooperativeGroup:
    """A group whose members own their partitions until a rebalance revokes them."""

    def __init__(self) -> None:
        self.owned: dict[str, set[TopicPartition]] = {}
        self.topics: dict[str, tuple[str, ...]] = {}
        self.generation = 0

    def join(self, member: str, *topics: str) -> None:
        self.owned[member], self.topics[member] = set(), topics

    def leave(self, member: str) -> None:
        del self.owned[member], self.topics[member]

    def subscriptions(self) -> dict[str, Subscription]:
        return {
            member: Subscription(self.topics[member], None, tuple(sorted(owned)), self.generation)
            for member, owned in self.owned.items()
        }

    def rebalance(self, of: Cluster) -> bool:
        """Whether any member must give up partitions, and so join again."""
        assignment = CooperativeStickyAssignor().assign(of, self.subscriptions())
        self.generation += 1
        owners = Counter(partition for owned in self.owned.values() for partition in owned)
        for member, share in assignment.items():
            added = set(share.partitions) - self.owned[member]
            assert not added & owners.keys(), "a partition must not be assigned while another member still reads it"
        gives_up = any(self.owned[member] - set(share.partitions) for member, share in assignment.items())
        self.owned = {member: set(share.partitions) for member, share in assignment.items()}
        return gives_up

    def settle(self, of: Cluster) -> int:
        """Rebalance until no member gives anything up; returns the number of rebalances."""
        rounds = 1
        while self.rebalance(of):
            rounds += 1
            assert rounds < 10, "the group does not stabilize"
        return rounds


def test_a_moving_partition_is_unassigned_for_one_generation() -> None:
    group, topics = CooperativeGroup(), cluster(t=4)
    group.join("a", "t")
    group.settle(topics)
    group.join("b", "t")
    assert group.rebalance(topics)
    assert [len(group.owned[each]) for each in "ab"] == [2, 0]
    assert not group.rebalance(topics)
    assert [len(group.owned[each]) for each in "ab"] == [2, 2]


def test_a_partition_owned_twice_is_revoked_from_both_first() -> None:
    group, topics = CooperativeGroup(), cluster(t=4)
    for member in "ab":
        group.join(member, "t")
    group.settle(topics)
    doubtful = next(iter(group.owned["a"]))
    group.owned["b"].add(doubtful)
    assert group.rebalance(topics)
    assert doubtful not in group.owned["a"] | group.owned["b"]
    assert not group.rebalance(topics)
    assert [len(group.owned[each]) for each in "ab"] == [2, 2]


# With different subscriptions a third rebalance is rare; Kafka's own assignor sometimes needs one, too. The second
# may find a better balance with the freed partitions, and revoke others for it.
@settings(max_examples=examples(40), deadline=None)
@example(
    counts={"t": 1, "u": 7, "v": 7},
    events=[(0, {"t", "u"}), (1, {"t", "u", "v"}), (2, {"t", "u", "v"})],
    same=False,
)
@given(
    counts=st.dictionaries(st.sampled_from("tuv"), st.integers(1, 8), min_size=1),
    events=st.lists(st.tuples(st.integers(0, 5), st.sets(st.sampled_from("tuv"), min_size=1)), min_size=1, max_size=8),
    same=st.booleans(),
)
def test_cooperative_groups_with_equal_subscriptions_balance_in_two_rebalances(
    counts: dict[str, int], events: list[tuple[int, set[str]]], same: bool
) -> None:
    group, topics = CooperativeGroup(), cluster(**counts)
    for number, wishes in events:
        member = f"m{number}"
        group.leave(member) if member in group.owned else group.join(member, *(counts if same else sorted(wishes)))
        if not group.owned:
            continue
        before = {each: set(owned) for each, owned in group.owned.items()}
        rounds = group.settle(topics)
        assert rounds <= 2 or not same
        wanted = {topic for each in group.topics.values() for topic in each if topic in counts}
        everything = {TopicPartition(topic, index) for topic in wanted for index in range(counts[topic])}
        assert {partition for owned in group.owned.values() for partition in owned} == everything
        assert_balanced(group)
        if same:
            quota = len(everything) // len(group.owned)
            for each, owned in group.owned.items():
                assert len(before[each] & owned) >= min(len(before[each]), quota)


def assert_balanced(group: CooperativeGroup) -> None:
    """No move of a partition would bring two members closer."""
    for rich, owned in group.owned.items():
        for poor in group.owned:
            if len(owned) > len(group.owned[poor]) + 1:
                assert not any(partition.topic in group.topics[poor] for partition in owned), (rich, poor)


def test_owned_generations_of_all_versions_are_read() -> None:
    """From version 2 on in the subscription, before that in the user data of Java and librdkafka."""
    owned = (TopicPartition("t", 1),)
    assignor = CooperativeStickyAssignor()
    assignor.on_assignment(Assignment(owned), 7)
    java = assignor.subscription_user_data(["t"])
    assert java == b"\0\0\0\7"
    for user_data, generation, expected in (
        (None, -1, -1), (None, 5, 5), (java, 5, 5), (java, -1, 7), (encode_user_data(owned, 6), -1, 6),
        (b"\0\0", -1, -1),
    ):  # fmt: skip
        assert assignor.member_data(Subscription(("t",), user_data, owned, generation)) == (owned, expected)
