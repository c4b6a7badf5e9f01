"""Task 4: broker 1 has your code and is the controller."""

import pytest

from kafka_learn.labs.clients import must_read, publish


def gone(cluster, topic):
    cluster.wait_until(lambda: topic not in cluster.topics(), lambda: f"clients still see {topic}")


@pytest.mark.points(5, task=4)
def test_deleted_and_created_again(cluster):
    """Nothing of the old topic comes back"""
    cluster.create_topic("again", [1, 2, 3])
    publish(cluster, 0, 50, topic="again", acks="all")
    cluster.delete_topic("again")
    gone(cluster, "again")
    cluster.create_topic("again", [3, 1, 2])
    publish(cluster, 0, 10, topic="again", acks="all")
    must_read(cluster, 0, 10, topic="again")


@pytest.mark.points(5, task=4)
def test_many_partitions(cluster):
    """Twelve partitions, 36 replicas"""
    cluster.create_topic("many", *([[1, 2, 3], [2, 3, 1], [3, 1, 2]] * 4))
    cluster.delete_topic("many")
    gone(cluster, "many")


@pytest.mark.points(5, task=4)
def test_a_broker_is_away(cluster):
    """Broker 3 is down while the topic is deleted, and comes back"""
    cluster.create_topic("waits", [1, 2, 3])
    cluster.kill(3)
    cluster.wait_for("waits", isr=[1, 2])
    cluster.delete_topic("waits", wait=False)
    cluster.wait_until(lambda: cluster.has_node("/admin/delete_topics/waits"), lambda: "the mark never appeared")
    gone(cluster, "waits")
    cluster.start(3)
    cluster.wait_until(
        lambda: not cluster.has_node("/admin/delete_topics/waits"),
        lambda: "broker 3 is back, and the topic is still marked for deletion",
    )
    assert not cluster.has_node("/brokers/topics/waits"), "the topic's znode is left"
