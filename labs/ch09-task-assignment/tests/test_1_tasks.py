"""Task 1: which tasks there are."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.processor.partition_grouper import DefaultPartitionGrouper


def groups(topic_groups, cluster):
    """The partitions of each task as text."""
    found = DefaultPartitionGrouper().partition_groups(topic_groups, cluster)
    return {
        f"{task.topic_group_id}_{task.partition}": sorted(map(str, partitions)) for task, partitions in found.items()
    }


@pytest.mark.points(7, task=1)
def test_a_task_for_each_partition(cluster_of):
    """Two groups, two partitions each"""
    found = groups({0: ["clicks"], 1: ["words"]}, cluster_of(clicks=2, words=2, other=9))
    wanted = {"0_0": ["clicks-0"], "0_1": ["clicks-1"], "1_0": ["words-0"], "1_1": ["words-1"]}
    assert found == wanted, f"a task is named by its group and its partition: {wanted}; yours: {found}"


@pytest.mark.points(7, task=1)
def test_the_same_partition_of_all_topics(cluster_of):
    """Three partitions and two"""
    found = groups({0: ["clicks", "users"]}, cluster_of(clicks=3, users=2))
    wanted = {"0_0": ["clicks-0", "users-0"], "0_1": ["clicks-1", "users-1"], "0_2": ["clicks-2"]}
    assert found == wanted, f"as many tasks as the largest topic has partitions, only partitions that exist; {found}"
    found = groups({0: ["clicks", "users"]}, cluster_of(clicks=1, users=2))
    wanted = {"0_0": ["clicks-0", "users-0"], "0_1": ["users-1"]}
    assert found == wanted, f"as many tasks as the largest topic has partitions, whichever it is; {found}"
    sets = list(DefaultPartitionGrouper().partition_groups({0: ["clicks"]}, cluster_of(clicks=1)).values())
    assert sets == [{TopicPartition("clicks", 0)}], f"the partitions of a task are a frozenset; yours: {sets}"


@pytest.mark.points(6, task=1)
def test_a_topic_that_does_not_exist(cluster_of):
    """Its group has no tasks, the others have theirs"""
    found = groups({0: ["clicks", "users"], 1: ["words"]}, cluster_of(clicks=3, words=1))
    assert found == {"1_0": ["words-0"]}, f"a group with a missing topic has no tasks, the others have; yours: {found}"
