"""Task 7: the broker runs with your channel, and every request of confluent-kafka goes through it."""

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

TOPIC = "lab"
MESSAGES = 1000


def exchange(broker, **settings):
    """Produce and consume all messages; both must succeed."""
    failed = []
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 0, **settings})
    for number in range(MESSAGES):
        producer.produce(
            TOPIC,
            value=str(number),
            partition=0,
            on_delivery=lambda error, _message: failed.append(error) if error else None,
        )
        producer.poll(0)
    waiting = producer.flush(20)
    assert not failed, f"the broker refused messages: {failed[0]}\n{broker.log_tail()}"
    assert waiting == 0, f"the broker has not acknowledged {waiting} messages\n{broker.log_tail()}"
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "lab"})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    try:
        values = [message.value() for message in consumer.consume(MESSAGES, timeout=20) if not message.error()]
        wanted = [str(number).encode() for number in range(MESSAGES)]
        assert values == wanted, f"{len(values)} of {MESSAGES} messages came, or not in order\n{broker.log_tail()}"
    finally:
        consumer.close()


@pytest.mark.points(5, task=7)
def test_every_request_is_queued(start_broker):
    """inline.quick.requests=false: all goes through your queue, as in Kafka"""
    broker = start_broker(**{"inline.quick.requests": "false"})
    exchange(broker)
    assert broker.stop() == 0, f"a clean stop ends with exit code 0\n{broker.log_tail()}"


@pytest.mark.points(5, task=7)
def test_room_for_one_request(start_broker):
    """queued.max.requests=1, one handler, and small batches: processors wait again and again"""
    broker = start_broker(
        **{"inline.quick.requests": "false", "queued.max.requests": "1", "num.io.threads": "1"},
    )
    exchange(broker, **{"batch.num.messages": 5})
    assert broker.stop() == 0, f"a clean stop ends with exit code 0\n{broker.log_tail()}"


@pytest.mark.points(5, task=7)
def test_quick_requests_go_around_the_queue(start_broker):
    """The broker's defaults"""
    broker = start_broker()
    exchange(broker, **{"batch.num.messages": 50})
    assert broker.stop() == 0, f"a clean stop ends with exit code 0\n{broker.log_tail()}"
