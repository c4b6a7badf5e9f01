"""Task 5: every record to another partition."""

import pytest

from kafka_lite.producer import ProducerRecord
from kafka_lite.producer.partitioner import RoundRobinPartitioner


@pytest.mark.points(6, task=5)
def test_in_turn(cluster_of, record):
    """Nine records, three partitions with a leader"""
    partitioner, cluster = RoundRobinPartitioner(), cluster_of(t=[0, None, 1, 0])
    went = [partitioner.partition(record, None, cluster) for _ in range(9)]
    assert 1 not in went, "partition 1 has no leader: skip it while others have one"
    assert set(went) == {0, 2, 3}, f"partitions 0, 2 and 3 have leaders, but the records went to {sorted(set(went))}"
    assert went[:3] * 3 == went, f"one after the other, then again from the first; yours: {went}"


@pytest.mark.points(2, task=5)
def test_two_topics(cluster_of, record):
    """A record of u after every record of t; then no partition has a leader"""
    partitioner, cluster = RoundRobinPartitioner(), cluster_of(t=[0, 0], u=[0, 0])
    went = []
    for _ in range(4):
        went.append(partitioner.partition(record, None, cluster))
        partitioner.partition(ProducerRecord("u", b"value"), None, cluster)
    assert set(went) == {0, 1}, f"each topic has its own turn, whatever comes between: 0, 1, 0, 1, not {went}"
    try:
        went = {partitioner.partition(record, None, cluster_of(t=[None, None])) for _ in range(4)}
    except ZeroDivisionError:
        pytest.fail("no partition has a leader: then take all of them in turn")
    assert went == {0, 1}, f"no partition has a leader: then take all of them in turn, not only {sorted(went)}"


@pytest.mark.points(2, task=5)
def test_keys_are_ignored(cluster_of, record):
    """Records with the same key"""
    partitioner, cluster = RoundRobinPartitioner(), cluster_of(t=[0, 0])
    went = {partitioner.partition(record, b"key", cluster) for _ in range(4)}
    assert went == {0, 1}, "round-robin ignores keys: four records go to both partitions"
