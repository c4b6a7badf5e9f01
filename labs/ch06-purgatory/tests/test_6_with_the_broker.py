"""Task 6: the broker uses your purgatory, and confluent-kafka's requests wait in it."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import TopicPartition

from kafka_learn.labs.clients import TOPIC, consumer_of, create_topic, publish, read_all
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchTopic

PARTITIONS = 4


def produce(broker, count):
    """``count`` messages over all partitions; all acknowledged when this returns."""
    publish(broker, 0, count, lambda number: {"value": str(number), "partition": number % PARTITIONS}, acks="all")


@pytest.mark.points(5, task=6)
def test_acks_all(start_broker):
    """confluent-kafka produces 500 messages with acks=all to four partitions and reads them"""
    broker = start_broker()
    create_topic(broker, partitions=PARTITIONS)
    produce(broker, 500)
    messages = [message for of_one in read_all(broker, PARTITIONS).values() for message in of_one]
    found = sorted(int(message.value()) for message in messages)
    assert found == list(range(500)), f"{len(found)} of 500 messages arrived\n{broker.log_tail()}"
    broker.stop()


@pytest.mark.points(8, task=6)
def test_a_waiting_fetch_is_woken_by_a_message(start_broker):
    """confluent-kafka may wait for a minute, but must not have to"""
    broker = start_broker()
    create_topic(broker, partitions=PARTITIONS)
    consumer = consumer_of(broker, **{"fetch.wait.max.ms": 60_000, "socket.timeout.ms": 70_000})
    consumer.assign([TopicPartition(TOPIC, partition, 0) for partition in range(PARTITIONS)])
    try:
        assert consumer.poll(1.0) is None, "the topic is empty, but a message came"
        for number in range(5):
            produce(broker, 1)
            message = consumer.poll(40)
            assert message is not None, (
                f"message {number}: its fetch keeps waiting, for the event did not wake it\n{broker.log_tail()}"
            )
            assert not message.error(), f"{message.error()}\n{broker.log_tail()}"
            time.sleep(0.2)
    finally:
        consumer.close()
    broker.stop()


def fetch(broker, partition, max_wait_ms):
    """The records and the milliseconds of one fetch from offset 0 on."""
    host, _, port = broker.bootstrap_servers.rpartition(":")
    asked = FetchPartition(partition=partition, fetch_offset=0, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic=TOPIC, partitions=[asked])
    request = FetchRequest(replica_id=-1, max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=1 << 20, topics=[topic])
    try:
        with BlockingChannel(host, int(port), read_timeout_ms=max_wait_ms + 10_000) as channel:
            began = time.monotonic()
            answer = channel.exchange(request, 11)
            return answer.responses[0].partitions[0].records, (time.monotonic() - began) * 1000
    except ConnectionError as error:
        pytest.fail(f"a fetch with max_wait_ms={max_wait_ms} gets no response: {error}\n{broker.log_tail()}")


@pytest.mark.points(7, task=6)
def test_an_event_wakes_only_fetches_of_its_partition(start_broker):
    """Eight fetches wait for two partitions; one message arrives"""
    broker = start_broker()
    create_topic(broker, partitions=PARTITIONS)
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(fetch, broker, number % 2, (30_000, 3000)[number % 2]) for number in range(8)]
        time.sleep(0.7)
        produce(broker, 1)  # to partition 0
        answers = [one.result() for one in waiting]
    woken, expired = answers[0::2], answers[1::2]
    assert all(records for records, _ in woken), (
        f"a fetch of partition 0 returned without its message\n{broker.log_tail()}"
    )
    slowest = max(took_ms for _, took_ms in woken)
    assert slowest < 29_900, (
        f"a fetch of partition 0 waited until its timeout, {slowest:.0f} ms, though a message arrived"
    )
    assert not any(records for records, _ in expired), "partition 1 is empty, but a fetch of it has records"
    quickest = min(took_ms for _, took_ms in expired)
    assert quickest >= 2990, f"a fetch of partition 1 returned after {quickest:.0f} ms: nothing has happened there"
    broker.stop()
