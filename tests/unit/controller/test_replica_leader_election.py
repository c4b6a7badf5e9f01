"""Which partitions the automatic rebalance moves back."""

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.replica_leader_election import imbalanced_partitions

PARTITIONS = [TopicPartition("t", number) for number in range(10)]
REPLICAS = {partition: [1, 2] for partition in PARTITIONS}


def test_balanced_leaders_stay():
    assert imbalanced_partitions(REPLICAS, dict.fromkeys(PARTITIONS, 1), 10) == set()


def test_a_broker_may_miss_up_to_the_percentage_of_its_partitions():
    leaders = dict.fromkeys(PARTITIONS, 1)
    leaders[PARTITIONS[0]] = 2
    assert imbalanced_partitions(REPLICAS, leaders, 10) == set()
    leaders[PARTITIONS[1]] = 2
    assert imbalanced_partitions(REPLICAS, leaders, 10) == {PARTITIONS[0], PARTITIONS[1]}


def test_each_broker_is_looked_at_alone():
    one, *others = PARTITIONS
    assignment = {one: [1, 2]} | {partition: [2, 1] for partition in others}
    leaders = dict.fromkeys(PARTITIONS, 2)
    assert imbalanced_partitions(assignment, leaders, 10) == {one}
