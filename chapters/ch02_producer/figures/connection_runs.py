"""Recorded runs of a client's connections: the first contact, requests in flight, a selector's polls.

Book 2.1.3, 2.1.4.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chapters.ch02_producer.figures.producer_runs import in_flight, running_cluster, running_producer
from kafka_learn.recording.broker_watches import watch_wire
from kafka_learn.recording.client_watches import (
    watch_connection_states,
    watch_in_flight,
    watch_interest,
    watch_polls,
    watch_transfers,
)
from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.run_brokers import TOPIC, in_thread, wait_until
from kafka_learn.recording.watches import watch
from kafka_lite.clients.metadata import Metadata
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.network.selector import Selector
from kafka_lite.network.send import NetworkSend
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord

CONTACT_LANES = ("caller", "Metadata", "ClusterConnectionStates", "Sender", "Acceptor", "Processor")
POLL_LANES = ("client", "Selector", "KafkaChannel")
REQUESTS = 8
VALUE_BYTES = 200
"""So large that a second record does not fit into a batch that was made for the first."""
ANSWER_MS = 12
"""How long the broker needs for a request of which many are in flight."""
LARGE_FRAME_BYTES = 160_000
SMALL_SOCKET_BUFFER_BYTES = 32_768
ARRIVAL_MS = 2
NODE = "node"


# ── the first contact ───────────────────────────────────────────────────────────────────────────────────────────────


def first_contact() -> RecordedRun:
    """A producer that knows nothing but an address sends its first record."""
    watches = (
        watch_wire(),
        watch_connection_states(),
        watch(Metadata.request_update, Metadata.await_update, Metadata.update, show=()),
    )
    with (
        Recording(*watches, title="The first contact", paused=True) as recording,
        running_cluster() as cluster,
        recording.running(),
    ):

        def send_first() -> None:
            with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "producer"}) as producer:
                producer.send(ProducerRecord(TOPIC, b"hello")).get()
                recording.pause()

        in_thread("caller", send_first)
    return recording.run.recorded_in(__name__, "first_contact", lanes=CONTACT_LANES)


# ── requests in flight ──────────────────────────────────────────────────────────────────────────────────────────────


def five_in_flight() -> RecordedRun:
    """Eight batches for a slow broker; up to five of them are in flight."""
    return _many_requests("five_in_flight", 5)


def one_in_flight_request() -> RecordedRun:
    """The same eight, one after the other."""
    return _many_requests("one_in_flight_request", 1)


def _many_requests(name: str, most: int) -> RecordedRun:
    configs = {"max.in.flight.requests.per.connection": most, "batch.size": 1, "enable.idempotence": False}
    watches = (watch_wire(), watch_in_flight())
    with (
        Recording(*watches, title=f"At most {most} in flight", paused=True) as recording,
        running_cluster() as cluster,
        running_producer(cluster, configs) as producer,
        cluster.inject("Produce").delay(ANSWER_MS).always(),
        recording.running(),
    ):

        def send_all() -> None:
            for _ in range(REQUESTS):
                producer.send(ProducerRecord(TOPIC, bytes(VALUE_BYTES)))

        with cluster.paused():  # until the maximum is in flight, however slow this machine is
            in_thread("caller", send_all)
            wait_until(lambda: in_flight(producer) == most)
        producer.flush()
        recording.pause()
    return recording.run.recorded_in(__name__, name, lanes=("Sender", "InFlightRequests", "Processor"))


# ── polls ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Peer:
    """The peer of a connection. It reads and writes only on request."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        # Accepted sockets have the listener's buffer: a small one, so that large frames do not fit.
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_SOCKET_BUFFER_BYTES)
        self.port: int = self._listener.getsockname()[1]
        self._sock: socket.socket | None = None

    def accept(self) -> socket.socket:
        """The connection; waits for it, the first time."""
        if self._sock is None:
            self._sock, _ = self._listener.accept()
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._sock

    def read(self, count: int) -> None:
        """Read that many bytes."""
        left = count
        while left > 0:
            left -= len(self.accept().recv(min(left, 65_536)))

    def write(self, data: bytes) -> None:
        """Write these bytes, and give them time to arrive."""
        self.accept().sendall(data)
        SYSTEM_TIME.sleep(ARRIVAL_MS)

    def close(self) -> None:
        """Close both sockets."""
        if self._sock is not None:
            self._sock.close()
        self._listener.close()


@contextmanager
def peer_and_selector() -> Iterator[tuple[Peer, Selector]]:
    """Both ends of a connection, before it is made."""
    peer, selector = Peer(), Selector()
    try:
        yield peer, selector
    finally:
        selector.close()
        peer.close()


def polls() -> RecordedRun:
    """A selector connects, sends a frame that is too large for the socket, receives one in pieces, and is muted."""
    watches = (
        watch(Selector.poll, show=("timeout_ms",)),
        watch(Selector.send, show=("send",)),
        watch(Selector.mute, Selector.unmute, show=()),
        watch_interest(),
        watch_transfers(),
        watch_polls(),
    )
    with (
        peer_and_selector() as (peer, selector),
        Recording(*watches, title="Polls of a selector") as recording,
    ):
        in_thread("client", lambda: _play(recording, peer, selector))
        recording.pause()
    return recording.run.recorded_in(__name__, "polls", lanes=POLL_LANES)


def _play(recording: Recording, peer: Peer, selector: Selector) -> None:
    selector.connect(NODE, "127.0.0.1", peer.port, SMALL_SOCKET_BUFFER_BYTES, SMALL_SOCKET_BUFFER_BYTES)
    selector.poll(1_000)
    _send_large(recording, peer, selector)
    recording.note("the peer writes half a size")
    peer.write(b"\0\0")
    selector.poll(1_000)
    recording.note("the peer writes the rest, and 60 of 100 bytes")
    peer.write(b"\0\x64" + bytes(60))
    selector.poll(1_000)
    recording.note("the peer writes the last 40 bytes, and a small frame")
    peer.write(bytes(40) + b"\0\0\0\5small")
    selector.poll(1_000)
    selector.poll(1_000)
    selector.mute(NODE)
    recording.note("the peer writes another frame")
    peer.write(b"\0\0\0\5small")
    selector.poll(0)
    selector.unmute(NODE)
    selector.poll(1_000)


def _send_large(recording: Recording, peer: Peer, selector: Selector) -> None:
    selector.send(NetworkSend(NODE, [bytes(LARGE_FRAME_BYTES)]))
    selector.poll(1_000)
    selector.poll(5)  # nothing can be written: the peer does not read
    recording.note("the peer reads everything")
    reader = threading.Thread(target=peer.read, args=(LARGE_FRAME_BYTES + 4,))
    reader.start()
    while not selector.completed_sends:
        selector.poll(1_000)
    reader.join()


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "first-contact": first_contact,
    "five-in-flight": five_in_flight,
    "one-in-flight-request": one_in_flight_request,
    "polls": polls,
}
