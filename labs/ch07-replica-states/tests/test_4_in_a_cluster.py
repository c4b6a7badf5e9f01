"""Task 4: broker 1 has your code and is the controller."""

import pytest

from kafka_learn.labs.clients import must_read, publish


@pytest.mark.points(5, task=4)
def test_a_follower_is_killed(cluster):
    """kill -9 of broker 3: the controller takes it out of the ISR, and it comes back"""
    cluster.create_topic("follower", [2, 3, 1], min_insync_replicas="2")
    publish(cluster, 0, 50, topic="follower", acks="all")
    cluster.kill(3)
    cluster.wait_for("follower", leader=2, isr=[1, 2])
    publish(cluster, 50, 50, topic="follower", acks="all")
    cluster.start(3)
    cluster.wait_for("follower", isr=[1, 2, 3])
    must_read(cluster, 0, 100, topic="follower")


@pytest.mark.points(5, task=4)
def test_the_last_member_comes_back(cluster):
    """Broker 2 has the only replica: it is killed, and leads again"""
    cluster.create_topic("alone", [2])
    publish(cluster, 0, 50, topic="alone", acks="all")
    cluster.kill(2)
    cluster.wait_for("alone", leader=-1)
    cluster.start(2)
    cluster.wait_for("alone", leader=2, isr=[2])
    must_read(cluster, 0, 50, topic="alone")


@pytest.mark.points(5, task=4)
def test_a_topic_is_deleted(cluster):
    """All three replicas go through their states of deletion"""
    cluster.create_topic("deleted", [1, 2, 3], [2, 3, 1])
    cluster.delete_topic("deleted")
    cluster.wait_until(lambda: "deleted" not in cluster.topics(), lambda: "the topic is still there")
    cluster.create_topic("deleted", [3, 1, 2])
    publish(cluster, 0, 10, topic="deleted", acks="all")
