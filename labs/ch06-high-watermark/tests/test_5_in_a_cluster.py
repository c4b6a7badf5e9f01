"""Task 5: broker 1 has your code and leads; brokers 2 and 3 follow."""

import pytest

from kafka_learn.labs.clients import must_read, publish


@pytest.mark.points(5, task=5)
def test_three_copies(cluster):
    """acks=all, three replicas, every record is read back"""
    cluster.create_topic("copies", [1, 2, 3], min_insync_replicas="3")
    publish(cluster, 0, 200, topic="copies", acks="all")
    must_read(cluster, 0, 200, topic="copies")


@pytest.mark.points(5, task=5)
def test_a_follower_dies_and_returns(cluster):
    """kill -9 of broker 3: it leaves the ISR, writes go on, it comes back"""
    cluster.create_topic("follower", [1, 2, 3], min_insync_replicas="2")
    publish(cluster, 0, 50, topic="follower", acks="all")
    cluster.kill(3)
    publish(cluster, 50, 50, topic="follower", acks="all")
    cluster.wait_for("follower", leader=1, isr=[1, 2])
    cluster.start(3)
    cluster.wait_for("follower", isr=[1, 2, 3])
    must_read(cluster, 0, 100, topic="follower")


@pytest.mark.points(5, task=5)
def test_your_broker_dies(cluster):
    """kill -9 of your broker: another one leads, with every acknowledged record"""
    cluster.create_topic("leader", [1, 2, 3], min_insync_replicas="2")
    publish(cluster, 0, 100, topic="leader", acks="all")
    cluster.kill(1)
    cluster.wait_for("leader", leader=2, isr=[2, 3])
    publish(cluster, 100, 50, topic="leader", acks="all")
    must_read(cluster, 0, 150, topic="leader")
    cluster.start(1)
    cluster.wait_for("leader", isr=[1, 2, 3])
