"""The assignors."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.topic_partition import TopicPartition
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
from kafka_lite.consumer.assignors.sticky_assignor import StickyAssignor
from tests.support.examples import examples

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


def test_round_robin_deals_out_all_topics_together() -> None:
    assert shares(RoundRobinAssignor(), cluster(t=3, u=3), a="t u", b="t u") == {"a": "t-0 t-2 u-1", "b": "t-1 u-0 u-2"}


def test_round_robin_skips_members_without_the_topic() -> None:
    assert shares(RoundRobinAssignor(), cluster(t0=1, t1=2, t2=3), a="t0", b="t0 t1", c="t0 t1 t2") == {
        "a": "t0-0", "b": "t1-0", "c": "t1-1 t2-0 t2-1 t2-2",
    }  # fmt: skip


@settings(max_examples=examples(40), deadline=None)
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
