"""Task 4: broker 1 has your code and is the controller."""

import pytest

from kafka_learn.labs.clients import must_read, publish


@pytest.mark.points(5, task=4)
def test_twelve_partitions(cluster):
    """Every broker learns of every partition"""
    cluster.create_topic("twelve", *([[1, 2, 3], [2, 3, 1], [3, 1, 2]] * 4))
    publish(cluster, 0, 60, lambda n: {"value": b"%06d" % n, "partition": n % 12}, topic="twelve", acks="all")


@pytest.mark.points(5, task=4)
def test_a_broker_is_killed(cluster):
    """kill -9 of broker 2: the others get their orders"""
    cluster.create_topic("killed", [2, 3, 1])
    publish(cluster, 0, 50, topic="killed", acks="all")
    cluster.kill(2)
    cluster.wait_for("killed", leader=3, isr=[1, 3])
    must_read(cluster, 0, 50, topic="killed")
    cluster.start(2)
    cluster.wait_for("killed", isr=[1, 2, 3])


@pytest.mark.points(5, task=4)
def test_a_topic_is_deleted(cluster):
    """Brokers forget it, delete it, and it can be created again"""
    cluster.create_topic("deleted", [1, 2, 3])
    cluster.delete_topic("deleted")
    cluster.wait_until(lambda: "deleted" not in cluster.topics(), lambda: "the topic is still there")
    cluster.create_topic("deleted", [3, 1, 2])
    publish(cluster, 0, 10, topic="deleted", acks="all")
