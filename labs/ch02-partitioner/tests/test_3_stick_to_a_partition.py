"""Task 3: with a key by its hash, without one to the same partition as the last record."""

import pytest

from kafka_lite.producer import ProducerRecord
from kafka_lite.producer.partitioner import DefaultPartitioner, partition_for_key


@pytest.mark.points(5, task=3)
def test_with_a_key(cluster_of, record):
    """The hash of the key, and of an empty key"""
    partitioner, cluster = DefaultPartitioner(), cluster_of(t=[0, 1, 0, None, 1])
    for key in (b"a", b"foobar", b""):
        wanted = partition_for_key(key, 5)
        partitioner._sticky["t"] = (wanted + 1) % 5
        got = partitioner.partition(record, key, cluster)
        assert got == wanted, f"the key {key!r} belongs to partition {wanted} of 5, not {got}; only None is no key"


@pytest.mark.points(5, task=3)
def test_without_a_key(cluster_of, record, dice):
    """Ten records without a key"""
    partitioner, cluster = DefaultPartitioner(dice(2, 1, 0, 1)), cluster_of(t=[0, 0, 0, 0])
    went = [partitioner.partition(record, None, cluster) for _ in range(10)]
    assert went == [2] * 10, f"all ten go to the first choice, partition 2, to share a batch; yours: {went}"
    partitioner = DefaultPartitioner(dice(1))
    partitioner._sticky["t"] = 0
    went = partitioner.partition(record, None, cluster)
    assert went == 0, f"the topic sticks to partition 0, which is a partition as any other; yours: {went}"


@pytest.mark.points(3, task=3)
def test_every_topic_has_its_own_partition(cluster_of, record, dice):
    """Two topics"""
    partitioner, cluster = DefaultPartitioner(dice(2, 0)), cluster_of(t=[0, 0, 0], u=[0])
    partitioner.partition(record, None, cluster)
    other = partitioner.partition(ProducerRecord("u", b"value"), None, cluster)
    assert other == 0, f"topic u has one partition, 0, but you chose {other}: every topic has its own sticky partition"


@pytest.mark.points(7, task=3)
def test_eligible_partitions(cluster_of, dice):
    """Partitions without a leader, and the previous one"""
    chance = dice(0, 0, 0, 0)
    DefaultPartitioner(chance)._choose("t", cluster_of(t=[None, 0, None, 1]), None)
    assert chance.choices[0] == [1, 3], (
        f"partitions 0 and 2 have no leader: choose from 1 and 3, not from {chance.choices[0]}"
    )
    DefaultPartitioner(chance)._choose("t", cluster_of(t=[None, None]), None)
    assert chance.choices[1] == [0, 1], (
        "no partition has a leader: then choose any; it may get one before the record is sent"
    )
    DefaultPartitioner(chance)._choose("t", cluster_of(t=[0, 0, 0]), 1)
    assert chance.choices[2] == [0, 2], (
        f"partition 1 is the one to leave: choose from 0 and 2, not from {chance.choices[2]}"
    )
    for leaders, kept in (([0], 0), ([0, None], 0), ([None, 0], 1)):
        try:
            only = DefaultPartitioner(chance)._choose("t", cluster_of(t=leaders), kept)
        except IndexError:
            pytest.fail(f"no other partition than {kept} has a leader: keep it, there is nothing else to choose from")
        assert only == kept, f"no other partition than {kept} has a leader: keep it, do not choose {only}"
