"""Task 4: broker 1 has your code."""

import pytest

from kafka_learn.labs.clients import must_read, publish, read


@pytest.mark.points(5, task=4)
def test_your_broker_copies_and_leads(cluster):
    """Your broker follows, the leader is killed, your broker has every record"""
    cluster.create_topic("copies", [2, 1, 3])
    publish(cluster, 0, 100, topic="copies", acks="all")
    cluster.kill(2)
    cluster.wait_for("copies", leader=1, isr=[1, 3])
    must_read(cluster, 0, 100, topic="copies")
    cluster.start(2)
    cluster.wait_for("copies", isr=[1, 2, 3])


@pytest.mark.points(5, task=4)
def test_records_that_nobody_else_has(cluster):
    """Your broker wrote 30 records alone; the others elected a leader without it, and wrote others"""
    cluster.create_topic("parted", [1, 2, 3])
    publish(cluster, 0, 20, topic="parted", acks="all")
    cluster.kill(2)
    cluster.kill(3)
    cluster.wait_for("parted", leader=1, isr=[1])
    publish(cluster, 20, 30, topic="parted", acks="1")
    cluster.kill(1)
    cluster.start(2)
    cluster.start(3)
    cluster.wait_for("parted", isr=[2, 3])
    publish(cluster, 1000, 10, topic="parted", acks="all")
    cluster.start(1)
    cluster.wait_for("parted", isr=[1, 2, 3])
    cluster.stop(2)
    cluster.stop(3)
    cluster.wait_for("parted", leader=1)
    found = read(cluster, 0, 30, topic="parted")
    wanted = [(offset, offset) for offset in range(20)] + [(20 + n, 1000 + n) for n in range(10)]
    wrong = next((pair for pair in zip(found, wanted, strict=False) if pair[0] != pair[1]), None)
    assert wrong is None, f"your log has (offset, number) {wrong[0]}, and the leader had {wrong[1]} there"
    assert len(found) == 30, f"{len(found)} of 30 records are in your log"
    cluster.start(2)
    cluster.start(3)
    cluster.wait_for("parted", isr=[1, 2, 3])


@pytest.mark.points(5, task=4)
def test_the_next_record_is_gone(cluster):
    """While your broker is away, what it would fetch next is deleted"""
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    cluster.create_topic("deleted", [2, 1, 3])
    publish(cluster, 0, 20, topic="deleted", acks="all")
    cluster.kill(1)
    publish(cluster, 20, 60, topic="deleted", acks="all")
    cluster.wait_for("deleted", isr=[2, 3])  # or the full ISR of before would be seen below
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    for future in admin.delete_records([TopicPartition("deleted", 0, 50)]).values():
        future.result(60)
    cluster.start(1)
    cluster.wait_for("deleted", isr=[1, 2, 3])
    cluster.stop(2)
    cluster.stop(3)
    cluster.wait_for("deleted", leader=1)
    must_read(cluster, 50, 30, topic="deleted")
    cluster.start(2)
    cluster.start(3)
