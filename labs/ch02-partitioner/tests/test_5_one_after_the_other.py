"""Task 5: every record to another partition."""

import pytest

from kafka_lite.producer.partitioner import RoundRobinPartitioner


@pytest.mark.points(6, task=5)
def test_in_turn(cluster_of, record):
    """Nine records, three partitions with a leader"""
    partitioner, cluster = RoundRobinPartitioner(), cluster_of(t=[0, None, 1, 0])
    went = [partitioner.partition(record, None, cluster) for _ in range(9)]
    assert 1 not in went, "partition 1 has no leader: skip it while others have one"
    assert set(went) == {0, 2, 3}, f"partitions 0, 2 and 3 have leaders, but the records went to {sorted(set(went))}"
    assert went[:3] * 3 == went, f"one after the other, then again from the first; yours: {went}"


@pytest.mark.points(4, task=5)
def test_keys_are_ignored(cluster_of, record):
    """Records with the same key"""
    partitioner, cluster = RoundRobinPartitioner(), cluster_of(t=[0, 0])
    went = {partitioner.partition(record, b"key", cluster) for _ in range(4)}
    assert went == {0, 1}, "round-robin ignores keys: four records go to both partitions"
