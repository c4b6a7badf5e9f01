"""Task 5: the old producer uses your handler with a real broker."""

import pytest

from kafka_learn.labs.clients import create_topic, read_all, send_as_of_old
from kafka_lite.old_producer import KeyedMessage, Producer


def numbered(topic, count, key=lambda n: n):
    return [KeyedMessage(topic, b"%06d" % n, part_key=key(n)) for n in range(count)]


def numbers(messages):
    return [int(message.value()) for message in messages]


@pytest.mark.points(5, task=5)
def test_every_message_is_in_the_partition_of_its_key(broker):
    """400 messages in one call, to five partitions"""
    create_topic(broker, "collated", partitions=5)
    send_as_of_old(broker, numbered("collated", 400))
    for partition, messages in read_all(broker, 5, "collated").items():
        wanted = list(range(partition, 400, 5))
        assert numbers(messages) == wanted, (
            f"partition {partition}: {len(messages)} of 80 messages arrived, or out of order"
        )


@pytest.mark.points(5, task=5)
def test_an_asynchronous_producer(broker):
    """500 messages without a key through ProducerSendThread"""
    create_topic(broker, "thread", partitions=4)
    configs = {"metadata.broker.list": broker.bootstrap_servers, "request.required.acks": "1"}
    batches = {"producer.type": "async", "batch.num.messages": "50", "queue.buffering.max.ms": "100"}
    with Producer({**configs, **batches}) as producer:
        for message in numbered("thread", 500, key=lambda _n: None):
            producer.send(message)
    used = [numbers(messages) for messages in read_all(broker, 4, "thread").values() if messages]
    assert len(used) == 1, f"without a key, all messages go to one partition for ten minutes; these went to {len(used)}"
    assert used[0] == list(range(500)), f"{len(used[0])} of 500 messages arrived, or out of order"


@pytest.mark.points(5, task=5)
def test_a_topic_that_is_created_by_the_first_message(broker):
    """The topic does not exist yet: the first attempt fails, a later one succeeds"""
    send_as_of_old(broker, numbered("made-on-the-way", 10), **{"message.send.max.retries": "300"})
    found = numbers(read_all(broker, 1, "made-on-the-way")[0])
    assert found == list(range(10)), f"{len(found)} of 10 messages arrived, or out of order: {found}"
