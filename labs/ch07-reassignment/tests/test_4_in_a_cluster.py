"""Task 4: broker 1 has your code and is the controller."""

import pytest

from kafka_learn.labs.clients import must_read, publish


@pytest.mark.points(5, task=4)
def test_a_partition_moves(cluster):
    """From brokers 2 and 1 to 3 and 1, with all of its records"""
    cluster.create_topic("moves", [2, 1])
    publish(cluster, 0, 100, topic="moves", acks="all")
    cluster.reassign("moves", [3, 1])
    cluster.wait_for("moves", leader=3, isr=[1, 3])
    must_read(cluster, 0, 100, topic="moves")


@pytest.mark.points(5, task=4)
def test_the_target_is_killed(cluster):
    """The new broker is away when the move begins, and comes back"""
    cluster.create_topic("waits", [1, 2])
    publish(cluster, 0, 100, topic="waits", acks="all")
    cluster.kill(3)
    cluster.wait_for("moves", isr=[1])
    cluster.reassign("waits", [3, 2], wait=False)
    publish(cluster, 100, 50, topic="waits", acks="all")
    cluster.start(3)
    cluster.wait_for("waits", leader=3, isr=[2, 3])
    must_read(cluster, 0, 150, topic="waits")


@pytest.mark.points(5, task=4)
def test_another_order(cluster):
    """From 1, 2, 3 to 3, 2, 1: nothing is copied, nothing is deleted"""
    cluster.create_topic("turned", [1, 2, 3])
    publish(cluster, 0, 20, topic="turned", acks="all")
    cluster.reassign("turned", [3, 2, 1])
    cluster.wait_for("turned", isr=[1, 2, 3])
    must_read(cluster, 0, 20, topic="turned")
