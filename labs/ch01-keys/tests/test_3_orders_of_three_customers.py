"""Task 3: a real producer sends with your code; another client has to choose the same partitions."""

import pytest

from kafka_learn.labs.clients import create_topic, publish, read_all, send
from kafka_lite.producer import ProducerRecord

CUSTOMERS = ("ann", "bob", "cid")
ORDERS = [(CUSTOMERS[number % 3], number) for number in range(60)]


@pytest.mark.points(15, task=3)
def test_each_customers_orders_are_in_order(broker):
    """The orders of each customer come back in order, from one partition"""
    create_topic(broker, "orders", partitions=6)
    send(broker, (ProducerRecord("orders", b"%d" % number, customer.encode()) for customer, number in ORDERS))
    found = read_all(broker, 6, "orders")
    for customer in CUSTOMERS:
        of_customer = {
            partition: [int(message.value()) for message in messages if message.key() == customer.encode()]
            for partition, messages in found.items()
        }
        places = [partition for partition, numbers in of_customer.items() if numbers]
        assert len(places) == 1, f"the orders of {customer} are in partitions {places}: they have no order"
        wanted = [number for name, number in ORDERS if name == customer]
        got = of_customer[places[0]]
        assert got == wanted, f"the orders of {customer} came back as {got}"


@pytest.mark.points(10, task=3)
def test_the_next_producer_agrees(broker):
    """A second producer, which knows nothing of the first, goes on in the same partitions"""
    create_topic(broker, "morning", partitions=5)
    for first in (0, 30):
        half = ORDERS[first : first + 30]
        send(broker, (ProducerRecord("morning", b"%d" % number, customer.encode()) for customer, number in half))
    for messages in read_all(broker, 5, "morning").values():
        for customer in {message.key() for message in messages}:
            count = sum(message.key() == customer for message in messages)
            assert count == 20, (
                f"{count} of 20 orders of {customer.decode()} are in a partition: the others are elsewhere"
            )


@pytest.mark.points(15, task=3)
def test_another_client_agrees(broker):
    """100 keys from our producer, and from confluent-kafka with partitioner=murmur2"""
    create_topic(broker, "keys", partitions=7)
    keys = [f"customer-{number}" for number in range(100)]
    send(broker, (ProducerRecord("keys", b"ours", key.encode()) for key in keys))
    publish(broker, 0, 100, lambda n: {"key": keys[n], "value": "theirs"}, "keys", partitioner="murmur2")
    where = {b"ours": {}, b"theirs": {}}
    for partition, messages in read_all(broker, 7, "keys").items():
        for message in messages:
            where[message.value()][message.key()] = partition
    differ = [key for key, partition in where[b"ours"].items() if where[b"theirs"].get(key) != partition]
    assert not differ, (
        f"{differ[0]!r}: partition {where[b'ours'][differ[0]]}, for librdkafka {where[b'theirs'][differ[0]]}"
    )
