"""Task 6: a broker with your hand-overs, and clients that need each of them."""

import socket
import struct
import threading

import pytest

from kafka_learn.labs.clients import create_topic, must_read, publish, send
from kafka_lite.producer import ProducerRecord
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.protocol.messages.api_16_list_groups import ListGroupsRequest


@pytest.mark.points(4, task=6)
def test_messages(broker):
    """librdkafka publishes and reads 300 messages"""
    create_topic(broker, "lab")
    publish(broker, 0, 300)
    must_read(broker, 0, 300)


@pytest.mark.points(4, task=6)
def test_pipelined_requests(broker):
    """60 requests at once, quick and slow ones: responses in their order"""
    kinds = (MetadataRequest(topics=[]), ListGroupsRequest())
    frames = [encode_request(kinds[number % 3 == 2], 1, number, "lab") for number in range(60)]
    with socket.create_connection(("127.0.0.1", broker.port), 20) as sock:
        sock.settimeout(20)
        sock.sendall(b"".join(struct.pack(">i", len(frame)) + frame for frame in frames))
        found = []
        for _ in frames:
            size, number = struct.unpack(">ii", sock.recv(8, socket.MSG_WAITALL))
            found.append(number)
            sock.recv(size - 4, socket.MSG_WAITALL)
    assert found == list(range(60)), f"60 responses in the order of their requests; yours: {found}"


@pytest.mark.points(2, task=6)
def test_many_connections_and_a_large_request(broker):
    """A batch of half a megabyte, while ten producers send"""
    create_topic(broker, "large")
    create_topic(broker, "small", partitions=10)
    threads = [
        threading.Thread(
            target=send,
            args=(broker, [ProducerRecord("small", b"%06d" % number, partition=each) for number in range(50)]),
        )
        for each in range(10)
    ]
    for thread in threads:
        thread.start()
    sent = send(broker, [ProducerRecord("large", b"x" * 500_000) for _ in range(3)])
    for thread in threads:
        thread.join(60)
    assert [each.offset for each in sent] == [0, 1, 2], f"three large records; yours: {[each.offset for each in sent]}"
