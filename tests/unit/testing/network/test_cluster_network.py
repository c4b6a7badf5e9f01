"""The network of a test cluster, between two sockets."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import pytest

from kafka_lite.testing.network.cluster_network import CLIENTS, ZOOKEEPER, ClusterNetwork
from kafka_lite.testing.network.way import MAX_BYTES_UNDER_WAY
from tests.support.patience import patient_s

SOON_S = 0.05
"""How long it is watched that nothing arrives."""
TIMEOUT_S = 30


class Ends:
    """A network of brokers 0 and 1, and a connection from 0 to 1."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(patient_s(TIMEOUT_S))
        self.network = ClusterNetwork([0, 1], with_clients=True)
        port = self.listener.getsockname()[1]
        self.network.start({(0, 1): port, (1, 0): port, (0, ZOOKEEPER): port, (CLIENTS, 0): port})
        self.sockets: list[socket.socket] = []

    def connect(self, sender: int | str = 0, receiver: int | str = 1) -> socket.socket:
        host, _, port = self.network.address(sender, receiver).partition(":")
        sock = socket.create_connection((host, int(port)), timeout=patient_s(TIMEOUT_S))
        self.sockets.append(sock)
        return sock

    def accept(self) -> socket.socket:
        sock, _ = self.listener.accept()
        sock.settimeout(patient_s(TIMEOUT_S))
        self.sockets.append(sock)
        return sock

    def close(self) -> None:
        self.network.stop()
        for sock in (self.listener, *self.sockets):
            sock.close()


@pytest.fixture
def ends() -> Iterator[Ends]:
    ends = Ends()
    yield ends
    ends.close()


def nothing_arrives(sock: socket.socket) -> bool:
    sock.settimeout(SOON_S)
    try:
        return not sock.recv(1)
    except TimeoutError:
        return True
    finally:
        sock.settimeout(patient_s(TIMEOUT_S))


def read(sock: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        assert part, f"the stream ends after {len(data)} of {count} bytes"
        data += part
    return data


def test_bytes_pass_in_both_directions_and_so_does_the_end(ends: Ends) -> None:
    client = ends.connect()
    server = ends.accept()
    client.sendall(b"request")
    assert read(server, 7) == b"request"
    client.shutdown(socket.SHUT_WR)
    assert server.recv(1) == b""
    server.sendall(b"response")
    server.close()
    assert read(client, 8) == b"response"
    assert client.recv(1) == b""


def test_a_cut_holds_bytes_back_in_both_directions(ends: Ends) -> None:
    client = ends.connect()
    server = ends.accept()
    with ends.network.cut(0, 1):
        client.sendall(b"request")
        server.sendall(b"response")
        assert nothing_arrives(server)
        assert nothing_arrives(client)
    assert read(server, 7) == b"request"
    assert read(client, 8) == b"response"


def test_a_cut_of_one_way_lets_the_other_direction_pass(ends: Ends) -> None:
    client = ends.connect()
    server = ends.accept()
    ends.network.cut(0, 1, one_way=True)
    client.sendall(b"request")
    server.sendall(b"response")
    assert read(client, 8) == b"response"
    assert nothing_arrives(server)
    ends.network.restore(1)
    assert read(server, 7) == b"request"


def test_a_cut_of_one_way_concerns_connections_of_either_side(ends: Ends) -> None:
    client = ends.connect(1, 0)  # broker 1 connects to broker 0
    server = ends.accept()
    ends.network.cut(0, 1, one_way=True)
    client.sendall(b"request")
    assert read(server, 7) == b"request"
    server.sendall(b"response")
    assert nothing_arrives(client)
    ends.network.restore(0, 1)
    assert read(client, 8) == b"response"


def test_no_connection_is_set_up_across_a_cut_of_one_way(ends: Ends) -> None:
    ends.network.cut(1, 0, one_way=True)
    client = ends.connect()
    client.sendall(b"request")
    ends.listener.settimeout(SOON_S)
    with pytest.raises(TimeoutError):
        ends.listener.accept()
    ends.listener.settimeout(patient_s(TIMEOUT_S))
    ends.network.restore()
    assert read(ends.accept(), 7) == b"request"


def test_a_cut_does_not_affect_other_pairs(ends: Ends) -> None:
    ends.network.cut(0, 1)
    client = ends.connect(0, ZOOKEEPER)
    server = ends.accept()
    client.sendall(b"ping")
    assert read(server, 4) == b"ping"


def test_a_broker_can_be_isolated_with_and_without_zookeeper(ends: Ends) -> None:
    client = ends.connect(0, ZOOKEEPER)
    server = ends.accept()
    with ends.network.isolate(0):
        client.sendall(b"ping")
        assert read(server, 4) == b"ping"
    with ends.network.isolate(0, zookeeper=True):
        client.sendall(b"pong")
        assert nothing_arrives(server)
    assert read(server, 4) == b"pong"


def test_delays_and_rates_end_with_restore(ends: Ends) -> None:
    client = ends.connect()
    server = ends.accept()
    ends.network.slow(0, 1, delay_ms=1_000_000)
    client.sendall(b"late")
    assert nothing_arrives(server)
    ends.network.restore()
    other = ends.connect()
    other_server = ends.accept()
    with ends.network.slow(0, 1, bytes_per_s=10_000):
        other.sendall(b"x" * 500)  # a twentieth of a second
        assert read(other_server, 500) == b"x" * 500
    other.sendall(b"y" * 5_000_000)
    assert read(other_server, 5_000_000) == b"y" * 5_000_000


def test_a_sender_blocks_once_much_is_under_way_on_a_cut_network(ends: Ends) -> None:
    client = ends.connect()
    server = ends.accept()
    ends.network.cut(0, 1)
    client.settimeout(SOON_S)
    sent = 0
    with contextlib.suppress(TimeoutError):
        while sent < 100 * MAX_BYTES_UNDER_WAY:
            sent += client.send(b"x" * 65536)
    assert sent < 100 * MAX_BYTES_UNDER_WAY
    ends.network.restore()
    assert read(server, sent) == b"x" * sent


def test_a_killed_machine_resets_its_connections_and_opens_no_more(ends: Ends) -> None:
    client = ends.connect()
    server = ends.accept()
    ends.network.kill(0)
    with pytest.raises(ConnectionResetError):
        server.recv(1)
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    with pytest.raises(ConnectionError):
        ends.connect().recv(1)
    ends.network.revive(0)
    ends.connect()
    ends.accept()


def test_a_machine_whose_connections_are_reset_opens_new_ones(ends: Ends) -> None:
    client = ends.connect()
    ends.accept()
    ends.network.reset(0)
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    ends.connect().sendall(b"again")
    assert read(ends.accept(), 5) == b"again"


def test_an_isolated_broker_is_reached_by_clients_unless_they_are_cut_off(ends: Ends) -> None:
    client = ends.connect(CLIENTS, 0)
    server = ends.accept()
    with ends.network.isolate(0, zookeeper=True):
        client.sendall(b"request")
        assert read(server, 7) == b"request"
    with ends.network.cut(0, CLIENTS, one_way=True):
        server.sendall(b"response")
        assert nothing_arrives(client)
    assert read(client, 8) == b"response"


def test_a_frozen_machine_sends_and_receives_later(ends: Ends) -> None:
    client = ends.connect()
    server = ends.accept()
    ends.network.freeze(1)
    client.sendall(b"request")
    assert nothing_arrives(server)
    ends.network.restore()
    assert nothing_arrives(server)
    ends.network.thaw(1)
    assert read(server, 7) == b"request"


def test_a_connection_to_a_closed_port_is_reset(ends: Ends) -> None:
    ends.listener.close()
    with pytest.raises(ConnectionError):
        ends.connect().recv(1)


@pytest.mark.parametrize(("a", "b"), [(0, 7), (0, 0), ("zoo", 1)])
def test_machines_that_do_not_exist_are_errors_of_the_test(ends: Ends, a: int | str, b: int | str) -> None:
    with pytest.raises(ValueError, match="there is no"):
        ends.network.cut(a, b)


def test_a_slowness_without_a_meaning_is_rejected(ends: Ends) -> None:
    with pytest.raises(ValueError, match=r"cut\(\)"):
        ends.network.slow(0, 1, bytes_per_s=0)
