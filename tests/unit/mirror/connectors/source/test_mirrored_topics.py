"""Topics that are copied, cycles that are not, what the target lacks, and who copies what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.filters import DefaultTopicFilter
from kafka_lite.mirror.connectors.replication_policy import DefaultReplicationPolicy, IdentityReplicationPolicy
from kafka_lite.mirror.connectors.source.mirrored_topics import MirroredTopics, partitions_of, spread

TOPICS = MirroredTopics("west", "east", DefaultReplicationPolicy(), DefaultTopicFilter({"topics": ".*orders"}))
PLAIN = MirroredTopics(
    "west", "east", IdentityReplicationPolicy({"source.cluster.alias": "west"}), DefaultTopicFilter({})
)


@pytest.mark.parametrize(
    ("topic", "is_copied"),
    [
        ("orders", True),
        ("orders2", False),
        ("north.orders", True),
        ("east.orders", False),
        ("north.east.orders", False),
        ("heartbeats", True),
        ("north.heartbeats", True),
        ("east.heartbeats", False),
        ("__orders", False),
        ("mm2-offset-syncs.orders.internal", False),
    ],
)
def test_topics_of_the_target_do_not_come_back(topic: str, is_copied: bool) -> None:
    assert TOPICS.should_replicate(topic) is is_copied


def test_a_policy_that_keeps_names_copies_all_but_heartbeats_of_the_target() -> None:
    assert PLAIN.should_replicate("east.orders")
    assert PLAIN.remote("east.orders") == "east.orders"
    assert not PLAIN.should_replicate("east.heartbeats")
    assert PLAIN.remote("heartbeats") == "west.heartbeats"


def test_what_the_target_lacks() -> None:
    source = TOPICS.of_source({"orders": 3, "old.orders": 2, "east.orders": 1, "new.orders": 1, "x": 1})
    assert list(source) == ["new.orders", "old.orders", "orders"]
    target = TOPICS.of_target({
        "west.orders": 2, "west.old.orders": 4, "orders": 9, "west.checkpoints.internal": 1, "north.orders": 1,
    })  # fmt: skip
    assert target == {"west.orders": 2, "west.old.orders": 4}
    assert TOPICS.new_topics(source, target) == {"new.orders": 1}
    assert TOPICS.grown_topics(source, target) == {"orders": 3}, "a copy that has more partitions stays as it is"


def test_partitions_are_dealt_out() -> None:
    partitions = partitions_of({"a": 8, "b": 2, "c": 2})
    assert [[f"{each.topic}{each.partition}" for each in task] for task in spread(partitions, 3)] == [
        ["a0", "a3", "a6", "b1"],
        ["a1", "a4", "a7", "c0"],
        ["a2", "a5", "b0", "c1"],
    ]
    assert spread([], 3) == []


@given(st.integers(0, 50), st.integers(1, 10))
def test_each_partition_has_one_task_and_each_task_a_partition(count: int, max_tasks: int) -> None:
    partitions = [TopicPartition("t", number) for number in range(count)]
    tasks = spread(partitions, max_tasks)
    assert sorted(each for task in tasks for each in task) == partitions
    assert len(tasks) == min(count, max_tasks)
    assert all(tasks)
    assert {len(task) for task in tasks} <= {count // max_tasks, count // max_tasks + 1, 1}
