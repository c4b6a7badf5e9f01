"""Assignments: the book's examples, and properties that hold for any group."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.rebalance.partition_assignor import (
    Assignment,
    AssignmentContext,
    PartitionAssignor,
    RangeAssignor,
    RoundRobinAssignor,
    runs,
    shuffled,
)
from kafka_lite.old_consumer.topic_count import ConsumerThreadId, StaticTopicCount
from tests.support.examples import examples

Subscriptions = dict[str, dict[str, int]]
"""Consumer → topic → threads."""


def context(consumer: str, subscriptions: Subscriptions, partitions: dict[str, int]) -> AssignmentContext:
    topic_counts = [StaticTopicCount(each, topics) for each, topics in subscriptions.items()]
    return AssignmentContext.of(consumer, topic_counts, {topic: list(range(n)) for topic, n in partitions.items()})


def text(assignment: Assignment) -> dict[str, str]:
    return {str(partition): str(thread) for mine in assignment.values() for partition, thread in mine.items()}


def test_range_as_kafka_explains_it() -> None:
    subscriptions: Subscriptions = {"C1": {"t": 2}, "C2": {"t": 2}}
    assignment = RangeAssignor().assign(context("C1", subscriptions, {"t": 5}))
    assert text(assignment) == {"t-0": "C1-0", "t-1": "C1-0", "t-2": "C1-1", "t-3": "C2-0", "t-4": "C2-1"}


def test_range_goes_topic_by_topic_and_sorts_threads_as_text() -> None:
    subscriptions: Subscriptions = {"b": {"t": 11}, "a": {"t": 1, "u": 1}}
    assignment = RangeAssignor().assign(context("a", subscriptions, {"t": 13, "u": 1}))
    owners = text(assignment)
    assert [owners[f"t-{number}"] for number in range(13)] == [
        "a-0", "a-0", *(f"b-{number}" for number in (0, 1, 10, *range(2, 10)))
    ]  # fmt: skip
    assert owners["u-0"] == "a-0"


def test_range_ignores_other_members_topics_and_leaves_some_threads_empty() -> None:
    subscriptions: Subscriptions = {"a": {"t": 2}, "b": {"t": 2, "u": 1}}
    assert RangeAssignor().assign(context("a", subscriptions, {"t": 1, "u": 3})) == {
        "a": {TopicPartition("t", 0): ConsumerThreadId("a", 0)},
        "b": {},
    }


def test_round_robin_follows_the_order_of_java_hash_codes() -> None:
    # In Java: "[weather,0]".hashCode() is 105875840, "[flights,0]".hashCode() is 1803176209.
    assert [str(each) for each in shuffled({"weather": [0, 1], "flights": [0, 1]})] == [
        "weather-0", "weather-1", "flights-0", "flights-1"
    ]  # fmt: skip
    subscriptions: Subscriptions = {"a": {"t": 1}, "b": {"t": 2}}
    assignment = RoundRobinAssignor().assign(context("a", subscriptions, {"t": 4}))
    assert list(text(assignment).values()) == ["a-0", "a-0", "b-0", "b-1"]
    assert text(assignment) == {"t-0": "a-0", "t-1": "b-0", "t-2": "b-1", "t-3": "a-0"}


def test_round_robin_skips_threads_without_the_topic() -> None:
    subscriptions: Subscriptions = {"a": {"t": 1}, "b": {"t": 1, "u": 1}}
    assignment = RoundRobinAssignor().assign(context("a", subscriptions, {"t": 2, "u": 3}))
    assert {thread for partition, thread in text(assignment).items() if partition.startswith("u")} == {"b-0"}


def test_strategies_are_found_by_name() -> None:
    assert isinstance(PartitionAssignor.create_instance("range"), RangeAssignor)
    assert isinstance(PartitionAssignor.create_instance("roundrobin"), RoundRobinAssignor)


def test_an_unregistered_member_cannot_assign() -> None:
    with pytest.raises(KafkaError, match="z is not registered"):
        context("z", {"a": {"t": 1}}, {"t": 1})


@given(st.integers(0, 40), st.integers(1, 12))
@settings(max_examples=examples(50))
def test_runs_are_consecutive_and_nearly_equal(partitions: int, count: int) -> None:
    cut = list(runs(range(partitions), count))
    assert [number for run in cut for number in run] == list(range(partitions))
    lengths = [len(run) for run in cut]
    assert lengths == sorted(lengths, reverse=True)
    assert max(lengths) - min(lengths) <= 1


TOPICS = st.dictionaries(st.sampled_from("tuv"), st.integers(1, 3), min_size=1)


@given(
    st.dictionaries(st.sampled_from("abcd"), TOPICS, min_size=1),
    st.fixed_dictionaries({topic: st.integers(0, 5) for topic in "tuv"}),
)
@settings(max_examples=examples(60))
def test_all_members_agree_and_each_partition_has_one_owner(
    subscriptions: Subscriptions, partitions: dict[str, int]
) -> None:
    wanted = {topic for topics in subscriptions.values() for topic in topics}
    there = {topic: count for topic, count in partitions.items() if topic in wanted}
    for assignor in (RangeAssignor(), RoundRobinAssignor()):
        owners: dict[TopicPartition, set[ConsumerThreadId]] = {}
        for consumer, topics in subscriptions.items():
            assignment = assignor.assign(context(consumer, subscriptions, there))
            assert set(assignment) == set(subscriptions)
            for member, mine in assignment.items():
                for partition, thread in mine.items():
                    assert thread.consumer == member
                    assert thread.thread_id < subscriptions[member][partition.topic]
                    owners.setdefault(partition, set()).add(thread)
            assert {p for p in owners if p.topic in topics} >= {
                TopicPartition(topic, n) for topic in topics for n in range(there[topic])
            }
        assert all(len(threads) == 1 for threads in owners.values())
        assert set(owners) == {TopicPartition(topic, n) for topic, count in there.items() for n in range(count)}


@given(st.integers(1, 4), st.integers(1, 3), st.fixed_dictionaries({topic: st.integers(0, 6) for topic in "tu"}))
@settings(max_examples=examples(30))
def test_round_robin_is_nearly_equal_for_equal_subscriptions(
    members: int, count: int, partitions: dict[str, int]
) -> None:
    subscriptions: Subscriptions = {f"m{number}": {"t": count, "u": count} for number in range(members)}
    shares = Counter(text(RoundRobinAssignor().assign(context("m0", subscriptions, partitions))).values())
    most = max(shares.values(), default=0)
    fewest = min(shares.values(), default=0) if len(shares) == members * count else 0
    assert most - fewest <= 1
