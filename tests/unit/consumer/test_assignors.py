"""The assignors."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.abstract_sticky_assignor import Claims, MemberData, share_equally
from kafka_lite.consumer.assignors.builtin_assignors import assignors_of
from kafka_lite.consumer.assignors.cooperative_sticky_assignor import CooperativeStickyAssignor
from kafka_lite.consumer.assignors.partition_assignor import (
    Assignment,
    PartitionAssignor,
    Subscription,
    deserialize_assignment,
    deserialize_subscription,
    serialize_assignment,
    serialize_subscription,
)
from kafka_lite.consumer.assignors.range_assignor import RangeAssignor
from kafka_lite.consumer.assignors.round_robin_assignor import RoundRobinAssignor
from kafka_lite.consumer.assignors.sticky_assignor import StickyAssignor, decode_user_data, encode_user_data

NODE = Node(0, "h", 1)


def cluster(**topics: int) -> Cluster:
    infos = tuple(PartitionInfo(topic, number, NODE) for topic, count in topics.items() for number in range(count))
    return Cluster((NODE,), infos)


def shares(assignor: PartitionAssignor, of: Cluster, **subscriptions: str) -> dict[str, str]:
    """Assignments as text: ``t-0 t-1``; subscriptions as topics with blanks between."""
    asked = {member: Subscription(tuple(topics.split())) for member, topics in subscriptions.items()}
    return text(assignor.assign(of, asked))


def text(assignment: dict[str, Assignment]) -> dict[str, str]:
    return {member: " ".join(str(each) for each in sorted(share.partitions)) for member, share in assignment.items()}


# ── Range ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_range_gives_consecutive_partitions_of_each_topic() -> None:
    assert shares(RangeAssignor(), cluster(t=7), a="t", b="t", c="t") == {
        "a": "t-0 t-1 t-2", "b": "t-3 t-4", "c": "t-5 t-6",
    }  # fmt: skip
    assert shares(RangeAssignor(), cluster(t=3, u=3), a="t u", b="t u") == {"a": "t-0 t-1 u-0 u-1", "b": "t-2 u-2"}


def test_range_leaves_members_without_partitions() -> None:
    assert shares(RangeAssignor(), cluster(t=2), a="t", b="t", c="t", d="u") == {
        "a": "t-0",
        "b": "t-1",
        "c": "",
        "d": "",
    }


# ── Round-robin ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_round_robin_deals_out_all_topics_together() -> None:
    assert shares(RoundRobinAssignor(), cluster(t=3, u=3), a="t u", b="t u") == {"a": "t-0 t-2 u-1", "b": "t-1 u-0 u-2"}


def test_round_robin_skips_members_without_the_topic() -> None:
    assert shares(RoundRobinAssignor(), cluster(t0=1, t1=2, t2=3), a="t0", b="t0 t1", c="t0 t1 t2") == {
        "a": "t0-0", "b": "t1-0", "c": "t1-1 t2-0 t2-1 t2-2",
    }  # fmt: skip


# ── Sticky ────────────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── Cooperative ───────────────────────────────────────────────────────────────────────────────────────────────────────


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
@settings(max_examples=40, deadline=None)
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


# ── All of them ───────────────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=40, deadline=None)
@given(
    counts=st.dictionaries(st.sampled_from("tuvw"), st.integers(1, 9), min_size=1),
    wishes=st.lists(st.sets(st.sampled_from("tuvw"), min_size=1), min_size=1, max_size=6),
    name=st.sampled_from(["range", "roundrobin", "sticky", "cooperative-sticky"]),
    seed=st.integers(0, 1000),
)
def test_every_subscribed_partition_goes_to_exactly_one_subscriber(
    counts: dict[str, int], wishes: list[set[str]], name: str, seed: int
) -> None:
    (assignor,) = assignors_of([name], {})
    members = {f"m{number}": Subscription(tuple(sorted(topics))) for number, topics in enumerate(wishes)}
    assignment = assignor.assign(cluster(**counts), members)
    owners = Counter(partition for share in assignment.values() for partition in share.partitions)
    wanted = {topic for topics in wishes for topic in topics if topic in counts}
    assert owners == Counter(TopicPartition(topic, number) for topic in wanted for number in range(counts[topic]))
    for member, share in assignment.items():
        assert {partition.topic for partition in share.partitions} <= set(members[member].topics)
    # Any leader computes the same assignment, whatever the order of members.
    shuffled = list(members)
    random.Random(seed).shuffle(shuffled)
    assert text(assignor.assign(cluster(**counts), {each: members[each] for each in shuffled})) == text(
        {each: assignment[each] for each in shuffled}
    )
    if "sticky" in name and all(topics == wishes[0] for topics in wishes):
        sizes = [len(share.partitions) for share in assignment.values()]
        assert max(sizes) - min(sizes) <= 1


def test_static_members_keep_their_order_under_a_new_member_id() -> None:
    subscriptions = {
        "zzz": Subscription(("t",), group_instance_id="first"),
        "aaa": Subscription(("t",), group_instance_id="second"),
        "dynamic": Subscription(("t",)),
    }
    assert text(RangeAssignor().assign(cluster(t=3), subscriptions)) == {"zzz": "t-0", "aaa": "t-1", "dynamic": "t-2"}


def test_assignors_are_found_by_name_and_by_class() -> None:
    path = f"{StickyAssignor.__module__}.StickyAssignor"
    assert [type(each) for each in assignors_of(["range", path], {})] == [RangeAssignor, StickyAssignor]
    java = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
    assert [type(each) for each in assignors_of([java, "range"], {})] == [CooperativeStickyAssignor, RangeAssignor]
    for wrong in (
        [java, "cooperative-sticky"],
        ["fair"],
        ["range", "range"],
        ["kafka_lite.consumer.assignors.builtin_assignors.ConfigError"],
    ):
        with pytest.raises(ConfigError):
            assignors_of(wrong, {})


def test_subscriptions_and_assignments_survive_serialization() -> None:
    owned = (TopicPartition("t", 1), TopicPartition("t", 0))
    subscription = Subscription(("t", "u"), b"mine", owned, 4)
    assert deserialize_subscription(serialize_subscription(subscription)) == subscription
    assignment = Assignment(owned, None)
    assert deserialize_assignment(serialize_assignment(assignment)) == assignment
    assert deserialize_assignment(b"") == Assignment(())
