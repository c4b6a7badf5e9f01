"""Task 3: how many partitions."""

import re

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.streams.assignment.repartition_topics import (
    ensure_copartitioning,
    repartition_partition_counts,
)
from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.processor.internals.topology.internal_topic_config import InternalTopicConfig
from kafka_lite.streams.processor.topology_builder import TopicsInfo


def group(reads=(), writes=(), repartition=()):
    """A node group with its topics."""
    internal = {topic: InternalTopicConfig(topic, "delete") for topic in repartition}
    return TopicsInfo(frozenset(writes), frozenset(reads) | frozenset(repartition), internal, {})


@pytest.mark.points(6, task=3)
def test_the_largest_input(cluster_of):
    """Two inputs with 3 and 5"""
    groups = {0: group(reads=["a", "b"], writes=["r"]), 1: group(repartition=["r"])}
    found = repartition_partition_counts(groups, cluster_of(a=3, b=5))
    assert found == {"r": 5}, f"as many as the largest topic that its writers read, 5; yours is {found}"
    groups = {0: group(reads=["a"], writes=["r"]), 1: group(reads=["b"], writes=["r"]), 2: group(repartition=["r"])}
    found = repartition_partition_counts(groups, cluster_of(a=3, b=5))
    assert found == {"r": 5}, f"two groups write r, and the inputs of both count, 3 and 5: 5; yours is {found}"
    found = repartition_partition_counts(groups, cluster_of(a=3))
    assert found == {"r": 3}, f"b does not exist, but a does: what is known counts, 3; yours is {found}"
    groups = {0: group(reads=["a"], writes=["r", "s"]), 1: group(repartition=["r", "s"])}
    found = repartition_partition_counts(groups, cluster_of(a=3))
    assert found == {"r": 3, "s": 3}, f"one group reads two repartition topics, r and s: both have 3; yours is {found}"


@pytest.mark.points(5, task=3)
def test_in_a_row(cluster_of):
    """A repartition topic from a repartition topic"""
    groups = {
        0: group(repartition=["r2"]),
        1: group(writes=["r2"], repartition=["r1"]),
        2: group(reads=["a"], writes=["r1"]),
    }
    found = repartition_partition_counts(groups, cluster_of(a=4))
    assert found == {"r1": 4, "r2": 4}, f"r2 is written from r1, which gets 4 first: both have 4; yours is {found}"
    groups = {
        0: group(repartition=["r2"]),
        1: group(reads=["small"], writes=["r2"], repartition=["r1"]),
        2: group(reads=["a"], writes=["r1"]),
    }
    found = repartition_partition_counts(groups, cluster_of(a=4, small=2))
    assert found == {"r1": 4, "r2": 4}, (
        f"r2 has no number before r1 has one: then the largest of 2 and 4; yours {found}"
    )
    groups = {0: group(reads=["a"], writes=["r"], repartition=["r"])}
    found = repartition_partition_counts(groups, cluster_of(a=4))
    assert found == {"r": 4}, f"r is written from a and, in a circle, from itself: what is known counts, 4; not {found}"


@pytest.mark.points(4, task=3)
def test_errors(cluster_of):
    """A topic that nobody writes, and one whose input does not exist"""
    raised = must_raise(
        TopologyBuilderError, "no subtopology writes the repartition topic r",
        repartition_partition_counts, {0: group(reads=["a"], repartition=["r"])}, cluster_of(a=1),
    )  # fmt: skip
    assert "no sink writes them" in str(raised), f"the message says that no sink writes them; yours: {raised}"
    for unwritten in "rst":
        groups = {0: group(reads=["a"], writes={*"rst"} - {unwritten}), 1: group(repartition="rst")}
        must_raise(
            TopologyBuilderError, f"of r, s and t no subtopology writes {unwritten}",
            repartition_partition_counts, groups, cluster_of(a=1),
        )  # fmt: skip
    groups = {0: group(reads=["missing"], writes=["r"]), 1: group(repartition=["r"])}
    found = repartition_partition_counts(groups, cluster_of(a=1))
    assert found == {}, f"the input does not exist, so the number is not known yet: no entry; yours is {found}"


@pytest.mark.points(5, task=3)
def test_as_the_join_requires(cluster_of):
    """A repartition topic beside a table with 5 partitions"""
    counts = {"r": 3, "other": 2}
    ensure_copartitioning([["r", "users"]], counts, cluster_of(users=5))
    assert counts == {"r": 5, "other": 2}, f"the table has 5 and cannot change, so r gets 5; yours is {counts}"
    counts = {"r": 3, "s": 7}
    ensure_copartitioning([["r", "s"]], counts, cluster_of())
    assert counts == {"r": 7, "s": 7}, f"only repartition topics: all get the largest number, 7; yours is {counts}"
    counts = {"r": 7, "s": 1}
    ensure_copartitioning([["r", "users"], ["s", "flights"]], counts, cluster_of(users=5, flights=2))
    assert counts == {"r": 5, "s": 2}, (
        f"the user's topics decide, each in its group, even if a repartition topic had more: r 5, s 2; not {counts}"
    )


@pytest.mark.points(5, task=3)
def test_what_cannot_be_joined(cluster_of):
    """Topics of the user with different numbers, and one that is missing"""
    message = ""
    try:
        ensure_copartitioning([["a", "b"]], {}, cluster_of(a=3, b=5))
    except TopologyBuilderError as error:
        message = str(error)
    assert message, "a has 3 partitions and b has 5: raise TopologyBuilderError, keys would miss each other"
    assert {"a (3)", "b (5)"} <= set(re.findall(r"\w \(\d\)", message)), f"name topics and numbers; not {message}"
    raised = must_raise(
        TopologyBuilderError, "topic b does not exist", ensure_copartitioning, [["a", "b"]], {}, cluster_of(a=3)
    )
    assert "Topic not found: b" in str(raised), f"the message is Topic not found: b; yours: {raised}"
