"""Task 5: the producer's network client uses your queues, with a real broker."""

import socket
import threading

import pytest

from kafka_learn.labs.clients import create_topic, read_all, send
from kafka_lite.producer import ProducerRecord


def numbers(broker, topic):
    return [int(message.value()[:6]) for message in read_all(broker, 1, topic)[0]]


@pytest.mark.points(5, task=5)
def test_five_in_flight(broker):
    """1,000 records in small batches, up to five requests in flight"""
    create_topic(broker, "five")
    send(broker, (ProducerRecord("five", b"%06d" % n * 15) for n in range(1000)), **{"batch.size": "1000"})
    found = numbers(broker, "five")
    assert found == list(range(1000)), f"{len(found)} of 1,000 records arrived, or out of order"


@pytest.mark.points(5, task=5)
def test_requests_without_a_response(broker):
    """acks=0 between metadata requests"""
    create_topic(broker, "none")
    configs = {"batch.size": "1000", "acks": "0", "metadata.max.age.ms": "1"}
    send(broker, (ProducerRecord("none", b"%06d" % n * 15) for n in range(500)), **configs)
    found = numbers(broker, "none")
    assert found == list(range(500)), f"acks=0: {len(found)} of 500 records arrived, or out of order"


class Way(threading.Thread):
    """Stands between a client and the broker. It accepts the first connection, but never responds."""

    def __init__(self, target):
        super().__init__(daemon=True)
        self._target = target
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        self.connections = []
        self.start()

    def run(self):
        self.connections.append(self._server.accept()[0])
        client, _ = self._server.accept()
        broker = socket.create_connection(self._target)
        self.connections += [client, broker]
        threading.Thread(target=self._pump, args=(broker, client), daemon=True).start()
        self._pump(client, broker)

    @staticmethod
    def _pump(source, sink):
        while data := source.recv(65536):
            sink.sendall(data)


@pytest.mark.points(5, task=5)
def test_a_response_that_never_comes(broker):
    """The first connection gets no response: after request.timeout.ms there is another one"""
    create_topic(broker, "late")
    host, _, port = broker.bootstrap_servers.rpartition(":")
    way = Way((host, int(port)))
    configs = {"request.timeout.ms": "1000", "linger.ms": "0", "delivery.timeout.ms": "30000", "max.block.ms": "30000"}
    (metadata,) = send(broker, [ProducerRecord("late", b"000000")], **{"bootstrap.servers": way.address, **configs})
    assert metadata.offset == 0, f"the record is the first of its topic, not at offset {metadata.offset}"
    assert len(way.connections) >= 3, "a request of the first connection has timed out: the connection must be closed"
