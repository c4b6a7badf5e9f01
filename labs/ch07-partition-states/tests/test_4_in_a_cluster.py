"""Task 4: broker 1 has your code and is the controller."""

import pytest

from kafka_learn.labs.clients import must_read, publish


@pytest.mark.points(5, task=4)
def test_topics_get_leaders(cluster):
    """Three partitions, a leader on each broker"""
    cluster.create_topic("created", [1, 2, 3], [2, 3, 1], [3, 1, 2])
    publish(cluster, 0, 50, topic="created", acks="all")


@pytest.mark.points(5, task=4)
def test_a_broker_is_killed(cluster):
    """kill -9 of broker 2: both of its partitions get other leaders"""
    cluster.create_topic("killed", [2, 3, 1], [2, 1, 3])
    publish(cluster, 0, 100, lambda n: {"value": b"%06d" % n, "partition": 0}, topic="killed", acks="all")
    cluster.kill(2)
    cluster.wait_for("killed", leader=3, isr=[1, 3], partition=0)
    cluster.wait_for("killed", leader=1, isr=[1, 3], partition=1)
    must_read(cluster, 0, 100, topic="killed")
    cluster.start(2)
    cluster.wait_for("killed", isr=[1, 2, 3], partition=0)


@pytest.mark.points(5, task=4)
def test_a_broker_stops(cluster):
    """Broker 3 stops properly: online to online"""
    cluster.create_topic("stopped", [3, 2, 1])
    publish(cluster, 0, 100, topic="stopped", acks="all")
    cluster.stop(3)
    cluster.wait_for("stopped", leader=2, isr=[1, 2])
    must_read(cluster, 0, 100, topic="stopped")
    cluster.start(3)
    cluster.wait_for("stopped", isr=[1, 2, 3])
