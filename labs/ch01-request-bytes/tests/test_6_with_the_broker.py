"""Task 6: a real broker decodes what three clients send with your code."""

import socket
import struct

import pytest

from kafka_learn.labs.clients import create_topic, must_read, publish, send
from kafka_lite.producer import ProducerRecord


@pytest.mark.points(2, task=6)
def test_recorded_requests(broker, frame):
    """ApiVersions and Metadata as librdkafka sent them, through a socket"""
    with socket.create_connection(("127.0.0.1", broker.port), 20) as sock:
        sock.settimeout(20)
        for name, correlation_id in (("api versions 3", 1), ("metadata 12", 2)):
            data = frame(name).tobytes()
            sock.sendall(struct.pack(">i", len(data)) + data)
            try:
                size, got = struct.unpack(">ii", sock.recv(8, socket.MSG_WAITALL))
            except struct.error:
                pytest.fail(f"the broker closed the connection instead of a response to {name}\n{broker.log_tail()}")
            assert got == correlation_id, f"the response to {name} has correlation id {got}, not {correlation_id}"
            sock.recv(size - 4, socket.MSG_WAITALL)


@pytest.mark.points(2, task=6)
def test_two_clients(broker):
    """librdkafka publishes and reads 200 messages; our producer sends 100"""
    create_topic(broker, "lab")
    publish(broker, 0, 200)
    must_read(broker, 0, 200)
    sent = send(broker, (ProducerRecord("lab", b"%06d" % number) for number in range(100)))
    assert [each.offset for each in sent] == list(range(200, 300)), "the next 100 offsets are our producer's"


@pytest.mark.points(1, task=6)
def test_garbage(broker):
    """A frame that lies closes its connection; the next one works"""
    for text in ("0003 0001 00000006 0006 676f6c64656e 7fffffff", "0003 000c 00000002 0001 61 00 ffffffff0f", "03"):
        data = bytes.fromhex(text)
        with socket.create_connection(("127.0.0.1", broker.port), 20) as sock:
            sock.settimeout(20)
            sock.sendall(struct.pack(">i", len(data)) + data)
            assert sock.recv(1) == b"", f"{text}: no request of this protocol; the broker closes the connection"
    create_topic(broker, "after")
