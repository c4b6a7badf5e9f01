"""Task 6: the broker's network threads and the producer's network client use your selector."""

import struct

import pytest

from kafka_learn.labs.clients import create_topic, must_read, publish, read_all, send
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.producer import ProducerRecord
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest


def connection(broker):
    host, _, port = broker.bootstrap_servers.rpartition(":")
    return BlockingChannel(host, int(port), read_timeout_ms=60_000)


@pytest.mark.points(5, task=6)
def test_confluent_kafka(broker):
    """1,000 messages in small batches through the broker's selectors, both ways"""
    create_topic(broker, "theirs")
    publish(broker, 0, 1000, topic="theirs")
    must_read(broker, 0, 1000, "theirs")


@pytest.mark.points(5, task=6)
def test_our_producer(broker):
    """1,000 records, and three of 500,000 bytes, with your selector at both ends"""
    create_topic(broker, "ours")
    sizes = [100] * 1000 + [500_000] * 3
    send(broker, (ProducerRecord("ours", (b"%06d" % n).ljust(size, b".")) for n, size in enumerate(sizes)))
    found = [(int(message.value()[:6]), len(message.value())) for message in read_all(broker, 1, "ours")[0]]
    assert found == list(enumerate(sizes)), f"{len(found)} of 1,003 records arrived, or incomplete, or out of order"


@pytest.mark.points(5, task=6)
def test_garbage_costs_one_connection(broker):
    """Thirty pipelined requests beside an HTTP client"""
    with connection(broker) as good, connection(broker) as bad:
        bad._sock.sendall(b"GET / HTTP/1.1\r\n\r\n" + struct.pack(">i", -5))
        for _ in range(30):
            good.send(ApiVersionsRequest(), 0)
        answers = [good.receive() for _ in range(30)]
        assert len(answers) == 30, f"{len(answers)} of 30 pipelined requests got a response"
        left = bad._sock.recv(1)
        assert left == b"", "the broker must close the connection of the HTTP client"
