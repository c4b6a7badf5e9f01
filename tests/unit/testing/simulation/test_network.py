"""Bytes arrive late, in pieces and in order; links are cut one way; connections are reset, refused or half-open."""

from __future__ import annotations

import errno
from random import Random

import pytest

from kafka_lite.testing.simulation.endpoint import CAPACITY_BYTES, Buffers, Endpoint, Listener
from kafka_lite.testing.simulation.event_log import EventLog
from kafka_lite.testing.simulation.network import Conditions, Network
from kafka_lite.testing.simulation.scheduler import Scheduler

MS = 1_000_000
PORT = 9092
STEADY = Conditions(min_latency_ns=10 * MS, max_latency_ns=10 * MS, split_probability=0.0)


class Links:
    """A client and a server machine, and the clock between them."""

    def __init__(self, conditions: Conditions = STEADY, seed: int = 1) -> None:
        self.events: list[str] = []
        self.clock = Scheduler(Random(seed), EventLog())
        self.network = Network(self.clock, Random(seed), conditions, self.events.append)
        self.network.add_machine("client")
        self.server_ip = self.network.add_machine("server")

    def pass_ms(self, duration_ms: float) -> None:
        self.clock.run(until_ns=self.clock.now_ns + int(duration_ms * MS))

    def listen(self) -> Listener:
        return self.network.listen("server", (self.server_ip, PORT))

    def connect(self) -> Endpoint:
        endpoint = Endpoint(self.network, "client")
        self.network.connect(endpoint, (self.server_ip, PORT))
        return endpoint

    def connected(self) -> tuple[Endpoint, Endpoint]:
        listener, client = self.listen(), self.connect()
        self.pass_ms(21)
        return client, listener.backlog.pop()


def test_a_connection_takes_a_round_trip() -> None:
    links = Links()
    links.listen()
    client = links.connect()
    links.pass_ms(19)
    assert client.is_connecting
    links.pass_ms(2)
    assert client.is_connected


def test_data_arrives_after_the_latency() -> None:
    links = Links()
    client, server = links.connected()
    client.send(b"hello")
    links.pass_ms(9)
    with pytest.raises(BlockingIOError):
        server.receive(100)
    links.pass_ms(2)
    assert server.receive(100) == b"hello"


@pytest.mark.parametrize(("encrypted", "content"), [(PORT + 1, ", 3610a686"), (PORT, "")])
def test_an_event_has_the_content_unless_it_is_encrypted(encrypted: int, content: str) -> None:
    links = Links()
    links.network.encrypted_ports.add(encrypted)
    client, server = links.connected()
    client.send(b"hello")
    links.pass_ms(21)
    server.send(b"hello")
    links.pass_ms(21)
    assert [event for event in links.events if "bytes" in event] == [
        f"connection 1 to {machine}: 5 bytes{content}" for machine in ("server", "client")
    ]


@pytest.mark.parametrize("seed", range(5))
def test_data_stays_in_order_however_late_its_pieces_are(seed: int) -> None:
    links = Links(Conditions(min_latency_ns=MS, max_latency_ns=90 * MS, split_probability=0.7), seed)
    listener, client = links.listen(), links.connect()
    links.pass_ms(400)
    server = listener.backlog.pop()
    sent = bytes(range(256)) * 4
    for start in range(0, len(sent), 64):
        client.send(sent[start : start + 64])
        links.pass_ms(1)
    links.pass_ms(400)
    assert server.receive(len(sent)) == sent
    assert len([event for event in links.events if "to server" in event]) > 16


def test_bandwidth_delays_large_data() -> None:
    links = Links(Conditions(min_latency_ns=MS, max_latency_ns=MS, bytes_per_s=100_000, split_probability=0.0))
    client, server = links.connected()
    client.send(bytes(50_000))
    links.pass_ms(490)
    assert not server.is_readable
    links.pass_ms(20)
    assert server.is_readable


def test_a_sender_waits_for_a_receiver_that_does_not_read() -> None:
    links = Links()
    client, server = links.connected()
    assert client.send(bytes(CAPACITY_BYTES + 5)) == CAPACITY_BYTES
    links.pass_ms(50)
    assert not client.is_writable
    with pytest.raises(BlockingIOError):
        client.send(b"x")
    seen: list[bool] = []
    client.watchers.append(lambda: seen.append(client.is_writable))
    server.receive(1000)
    assert seen == [True]


def test_smaller_buffers_hold_less() -> None:
    links = Links()
    client, server = links.connected()
    client.buffers, server.buffers = Buffers(send_bytes=700), Buffers(receive_bytes=300)
    assert client.send(bytes(1_005)) == 1_000
    assert not client.is_writable
    assert server.send(bytes(CAPACITY_BYTES + 5)) == CAPACITY_BYTES


def test_a_closed_end_is_the_end_of_the_stream() -> None:
    links = Links()
    client, server = links.connected()
    client.send(b"last")
    client.close()
    links.pass_ms(11)
    assert server.receive(100) == b"last"
    assert server.receive(100) == b""


def test_sending_to_a_closed_end_causes_a_reset() -> None:
    links = Links()
    client, server = links.connected()
    server.close()
    links.pass_ms(11)
    client.send(b"too late")
    links.pass_ms(21)
    with pytest.raises(ConnectionResetError):
        client.receive(1)


def test_a_port_without_a_listener_refuses() -> None:
    links = Links()
    client = links.connect()
    links.pass_ms(21)
    assert client.take_error().errno == errno.ECONNREFUSED


def test_a_machine_can_refuse_connections() -> None:
    links = Links()
    links.listen()
    links.network.refuse("server")
    client = links.connect()
    links.pass_ms(21)
    assert client.take_error().errno == errno.ECONNREFUSED


def test_a_cut_holds_one_direction_until_it_is_healed() -> None:
    links = Links()
    client, server = links.connected()
    links.network.cut("client", "server")
    client.send(b"held")
    server.send(b"passes")
    links.pass_ms(60_000)
    assert not server.is_readable
    assert client.receive(100) == b"passes"
    links.network.heal("client", "server")
    client.send(b" and the rest")
    links.pass_ms(30)
    assert server.receive(100) == b"held and the rest"


def test_connecting_over_a_cut_link_is_retried() -> None:
    links = Links()
    links.listen()
    links.network.cut("client", "server")
    client = links.connect()
    links.pass_ms(5_500)
    assert client.is_connecting
    links.network.heal("client", "server")
    links.pass_ms(1_100)
    assert client.is_connected


def test_a_reset_is_seen_by_both_ends() -> None:
    links = Links()
    client, server = links.connected()
    assert links.network.reset_connections("server") == 1
    for endpoint in (client, server):
        with pytest.raises(ConnectionResetError):
            endpoint.receive(1)
        with pytest.raises(BrokenPipeError):
            endpoint.send(b"x")


def test_a_crashed_machine_leaves_half_open_connections_until_it_is_back() -> None:
    links = Links()
    client, _ = links.connected()
    links.network.crash("server")
    client.send(b"into the void")
    links.pass_ms(60_000)
    assert not client.is_readable
    links.network.restart("server")
    client.send(b"anybody?")
    links.pass_ms(21)
    with pytest.raises(ConnectionResetError):
        client.receive(1)


def test_a_port_can_be_bound_once() -> None:
    links = Links()
    links.listen()
    with pytest.raises(OSError, match="Address already in use"):
        links.network.bind("server", ("0.0.0.0", PORT))


def test_a_socket_pair_delivers_at_once() -> None:
    first, second = Links().network.socket_pair("client")
    first.send(b"wake up")
    assert second.receive(10) == b"wake up"
