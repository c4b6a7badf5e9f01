"""Task 4: broker 1 has your code; it becomes the leader when broker 2 is killed."""

import pytest

from kafka_learn.labs.clients import must_read, publish


@pytest.mark.points(5, task=4)
def test_your_broker_leads(cluster):
    """acks=all, three replicas, every record is read back"""
    cluster.create_topic("led", [1, 2, 3], min_insync_replicas="3")
    publish(cluster, 0, 100, topic="led", acks="all")
    must_read(cluster, 0, 100, topic="led")


@pytest.mark.points(7, task=4)
def test_your_broker_takes_over(cluster):
    """kill -9 of broker 2: yours leads, and lets broker 2 in again when it is back"""
    cluster.create_topic("taken-over", [2, 1, 3], min_insync_replicas="2")
    publish(cluster, 0, 100, topic="taken-over", acks="all")
    cluster.kill(2)
    cluster.wait_for("taken-over", leader=1, isr=[1, 3])
    publish(cluster, 100, 50, topic="taken-over", acks="all")
    cluster.start(2)
    cluster.wait_for("taken-over", leader=1, isr=[1, 2, 3])
    must_read(cluster, 0, 150, topic="taken-over")


@pytest.mark.points(8, task=4)
def test_nothing_is_lost_with_your_broker(cluster):
    """Then broker 3, and yours: the broker that your leader let in has everything"""
    cluster.create_topic("handed-on", [1, 2, 3], min_insync_replicas="1")
    publish(cluster, 0, 50, topic="handed-on", acks="all")
    cluster.kill(3)
    publish(cluster, 50, 50, topic="handed-on", acks="all")
    cluster.wait_for("handed-on", leader=1, isr=[1, 2])
    cluster.start(3)
    cluster.wait_for("handed-on", leader=1, isr=[1, 2, 3])
    cluster.kill(1)
    cluster.wait_for("handed-on", leader=2, isr=[2, 3])
    must_read(cluster, 0, 100, topic="handed-on")
    cluster.start(1)
    cluster.wait_for("handed-on", isr=[1, 2, 3])
