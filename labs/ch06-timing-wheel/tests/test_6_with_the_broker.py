"""Task 6: the broker uses your wheels; requests that wait in it get their responses on time."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import TopicPartition

from kafka_learn.labs.clients import TOPIC, consumer_of, create_topic, publish
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchTopic

EARLY_MS = 2
LATE_MS = 10_000


def long_poll_ms(broker, max_wait_ms):
    """The duration of a fetch at the end of an empty log with this max_wait_ms."""
    host, _, port = broker.bootstrap_servers.rpartition(":")
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic=TOPIC, partitions=[partition])
    request = FetchRequest(replica_id=-1, max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=1 << 20, topics=[topic])
    try:
        with BlockingChannel(host, int(port), read_timeout_ms=max_wait_ms + 2 * LATE_MS) as channel:
            began = time.monotonic()
            channel.exchange(request, 11)
            return (time.monotonic() - began) * 1000
    except ConnectionError as error:
        pytest.fail(f"a fetch with max_wait_ms={max_wait_ms} gets no response: {error}\n{broker.log_tail()}")


@pytest.mark.points(8, task=6)
def test_a_long_poll_ends_at_its_timeout(start_broker):
    """Twenty fetches wait at the same time, 50 to 1,000 ms"""
    broker = start_broker()
    create_topic(broker)
    waits = list(range(50, 1001, 50))
    with ThreadPoolExecutor(len(waits)) as pool:
        took = list(pool.map(lambda wait_ms: long_poll_ms(broker, wait_ms), waits))
    for wait_ms, took_ms in zip(waits, took, strict=True):
        assert took_ms >= wait_ms - EARLY_MS, f"a fetch with max_wait_ms={wait_ms} returned after {took_ms:.0f} ms"
        assert took_ms < wait_ms + LATE_MS, f"a fetch with max_wait_ms={wait_ms} returned after {took_ms:.0f} ms"
    broker.stop()


@pytest.mark.points(6, task=6)
def test_a_consumer_waits_and_gets_the_message(start_broker):
    """confluent-kafka waits at the end of the log through several polls; then a message comes"""
    broker = start_broker()
    create_topic(broker)
    consumer = consumer_of(broker, **{"fetch.wait.max.ms": 100})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    try:
        assert consumer.poll(1.0) is None, "the topic is empty, but a message came"
        publish(broker, 0, 1, lambda _number: {"value": "hello", "partition": 0})
        message = consumer.poll(40)
        assert message is not None, f"the message never arrived\n{broker.log_tail()}"
        assert message.value() == b"hello", f"{message.error()}\n{broker.log_tail()}"
    finally:
        consumer.close()
    broker.stop()


@pytest.mark.points(6, task=6)
def test_a_broker_with_waiting_fetches_stops(start_broker):
    """Stop the broker while a fetch waits for a minute"""
    broker = start_broker()
    create_topic(broker)
    consumer = consumer_of(broker, **{"fetch.wait.max.ms": 60_000, "socket.timeout.ms": 70_000})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    try:
        consumer.poll(0.5)
        began = time.monotonic()
        assert broker.stop() == 0, f"the broker did not stop cleanly\n{broker.log_tail()}"
        took_s = time.monotonic() - began
        assert took_s < 20, f"the broker took {took_s:.0f} s to stop: does the reaper wake up?"
    finally:
        consumer.close()
