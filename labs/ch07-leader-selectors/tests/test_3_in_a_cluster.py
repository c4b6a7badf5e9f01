"""Task 3: broker 1 has your code and is the controller."""

import pytest

from kafka_learn.labs.clients import must_read, publish


@pytest.mark.points(5, task=3)
def test_a_leader_is_killed(cluster):
    """kill -9 of broker 2, which leads: the next one in sync leads"""
    cluster.create_topic("killed", [2, 3, 1], min_insync_replicas="2")
    publish(cluster, 0, 100, topic="killed", acks="all")
    cluster.kill(2)
    cluster.wait_for("killed", leader=3, isr=[1, 3])
    must_read(cluster, 0, 100, topic="killed")
    cluster.start(2)
    cluster.wait_for("killed", isr=[1, 2, 3])


@pytest.mark.points(5, task=3)
def test_a_leader_stops(cluster):
    """Broker 3 stops properly: its leadership moves first"""
    cluster.create_topic("stopped", [3, 1, 2], min_insync_replicas="2")
    publish(cluster, 0, 100, topic="stopped", acks="all")
    cluster.stop(3)
    cluster.wait_for("stopped", leader=1, isr=[1, 2])
    must_read(cluster, 0, 100, topic="stopped")
    cluster.start(3)
    cluster.wait_for("stopped", isr=[1, 2, 3])


@pytest.mark.points(5, task=3)
def test_only_a_member_of_the_isr_leads(cluster):
    """Broker 3 is the whole ISR and is killed: the partition waits for it"""
    cluster.create_topic("waits", [3])
    publish(cluster, 0, 50, topic="waits", acks="all")
    cluster.kill(3)
    cluster.wait_for("waits", leader=-1)
    cluster.start(3)
    cluster.wait_for("waits", leader=3, isr=[3])
    must_read(cluster, 0, 50, topic="waits")
