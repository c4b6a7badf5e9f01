"""The thread that carries a test network's bytes, one turn at a time, between real sockets."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from kafka_lite.testing.network.tcp_proxy import HOST, Route, TcpProxy
from kafka_lite.testing.network.way import Way
from tests.support.eventually import eventually
from tests.support.patience import patient_s

T = TypeVar("T")


class Network:
    """A proxy whose turns the test takes, and machines that listen on ports of their own."""

    def __init__(self) -> None:
        self.proxy = TcpProxy()
        self.open: list[socket.socket] = []

    def machine(self) -> socket.socket:
        """A server that listens."""
        server = socket.create_server((HOST, 0))
        server.setblocking(False)
        self.open.append(server)
        return server

    def route(
        self, server: socket.socket, sender: str = "a", receiver: str = "b", there: Way | None = None,
        back: Way | None = None, is_refused: Callable[[], bool] = lambda: False,
    ) -> int:  # fmt: skip
        """Open a route from a machine to a server; returns the port to connect to."""
        ways = there or Way(), back or Way()
        return self.proxy.open(Route(sender, receiver, port_of(server), *ways, is_refused))

    def connect(self, port: int) -> socket.socket:
        client = socket.create_connection((HOST, port), timeout=patient_s(30))
        client.setblocking(False)
        self.open.append(client)
        return client

    def turn(self) -> None:
        """One turn of the thread, which does not wait."""
        self.proxy.wake_up()
        self.proxy.do_work()

    def until(self, found: Callable[[], T]) -> T:
        """Take turns until there is something; BlockingIOError means that there is nothing yet."""

        def look() -> list[T]:
            self.turn()
            try:
                return [found()]
            except BlockingIOError:
                return []

        return eventually(look)[0]

    def accept(self, server: socket.socket) -> socket.socket:
        accepted, _ = self.until(server.accept)
        accepted.setblocking(False)
        self.open.append(accepted)
        return accepted

    def connected(self, port: int, server: socket.socket) -> tuple[socket.socket, socket.socket]:
        client = self.connect(port)
        return client, self.accept(server)

    def received(self, sock: socket.socket, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            part = self.until(lambda: sock.recv(1_000_000))
            assert part, f"the stream ends after {len(data)} of {count} bytes"
            data += part
        return bytes(data)

    def close(self) -> None:
        if self.proxy.is_alive():
            self.proxy.shutdown()
        else:
            self.proxy.on_exit()
        for sock in self.open:
            sock.close()


def port_of(server: socket.socket) -> int:
    port: int = server.getsockname()[1]
    return port


@pytest.fixture
def network() -> Iterator[Network]:
    network = Network()
    yield network
    network.close()


def test_each_route_has_a_port_of_its_own_and_leads_to_its_server(network: Network) -> None:
    one, other = network.machine(), network.machine()
    to_one, to_other = network.route(one), network.route(other)
    assert to_one != to_other
    client, server = network.connected(to_other, other)
    client.send(b"to the other")
    assert network.received(server, 12) == b"to the other"
    with pytest.raises(BlockingIOError):
        one.accept()


def test_bytes_and_the_end_of_each_direction_arrive(network: Network) -> None:
    target = network.machine()
    client, server = network.connected(network.route(target), target)
    client.send(b"request")
    client.shutdown(socket.SHUT_WR)
    assert network.received(server, 7) == b"request"
    assert network.until(lambda: server.recv(1)) == b""
    server.send(b"response")
    assert network.received(client, 8) == b"response"
    server.close()
    assert network.until(lambda: client.recv(1)) == b""


def test_a_dead_machine_is_refused_without_a_connection_to_the_server(network: Network) -> None:
    target, is_dead = network.machine(), True
    port = network.route(target, is_refused=lambda: is_dead)
    client = network.connect(port)
    with pytest.raises(ConnectionResetError):
        network.until(lambda: client.recv(1))
    with pytest.raises(BlockingIOError):
        target.accept()
    is_dead = False
    network.connected(port, target)


@pytest.mark.parametrize("cut", ["there", "back"])
def test_a_handshake_needs_both_directions(network: Network, cut: str) -> None:
    target, ways = network.machine(), {"there": Way(), "back": Way()}
    ways[cut].is_cut = True
    client = network.connect(network.route(target, **ways))
    client.send(b"early")
    for _ in range(5):
        network.turn()
    with pytest.raises(BlockingIOError):
        target.accept()
    ways[cut].is_cut = False
    assert network.received(network.accept(target), 5) == b"early"


def test_only_the_direction_that_is_cut_is_held_back(network: Network) -> None:
    target, there = network.machine(), Way()
    client, server = network.connected(network.route(target, there=there), target)
    there.is_cut = True
    client.send(b"request")
    server.send(b"response")
    assert network.received(client, 8) == b"response"
    with pytest.raises(BlockingIOError):
        server.recv(1)
    there.is_cut = False
    assert network.received(server, 7) == b"request"


def test_the_thread_sleeps_until_delayed_bytes_are_due(network: Network) -> None:
    target, there = network.machine(), Way()
    client, server = network.connected(network.route(target, there=there), target)
    there.delay_ms = 30
    began_s = time.monotonic()
    client.send(b"late")
    for _ in ("reads", "waits and writes"):
        network.proxy.do_work()  # nobody wakes it up
    assert eventually(lambda: _received_now(server)) == b"late"
    assert time.monotonic() - began_s >= 0.03


def _received_now(sock: socket.socket) -> bytes:
    try:
        return sock.recv(100)
    except BlockingIOError:
        return b""


def test_a_reset_concerns_the_connections_of_its_machine_from_and_to_it(network: Network) -> None:
    target = network.machine()
    pairs = {
        names: network.connected(network.route(target, *names), target)
        for names in [("a", "b"), ("b", "c"), ("c", "a")]
    }
    network.proxy.reset("a")
    for names in [("a", "b"), ("c", "a")]:
        for end in pairs[names]:
            with pytest.raises(ConnectionResetError):
                network.until(lambda end=end: end.recv(1))
    client, server = pairs["b", "c"]
    client.send(b"still there")
    assert network.received(server, 11) == b"still there"


def test_an_end_that_is_gone_resets_the_other_one(network: Network) -> None:
    target = network.machine()
    client, server = network.connected(network.route(target), target)
    server.send(b"unread")
    assert network.until(lambda: client.recv(1, socket.MSG_PEEK)) == b"u"
    client.close()  # with unread data: a reset
    with pytest.raises(ConnectionResetError):
        network.until(lambda: server.recv(1) or _nothing_yet())


def _nothing_yet() -> bytes:
    raise BlockingIOError


def test_a_server_that_is_down_resets_the_client(network: Network) -> None:
    target = network.machine()
    port = network.route(target)
    target.close()
    client = network.connect(port)
    with pytest.raises(ConnectionResetError):
        network.until(lambda: client.recv(1))


def test_nothing_is_lost_if_the_receiver_reads_slowly(network: Network) -> None:
    target = network.machine()
    client, server = network.connected(network.route(target), target)
    data, sent, idle = bytes(range(256)) * 65_536, 0, 0
    while idle < 20 and sent < len(data):  # until the buffers of both sockets and the proxy are full
        try:
            sent += client.send(data[sent : sent + 1_000_000])
            idle = 0
        except BlockingIOError:
            idle += 1
        network.turn()
    assert sent < len(data), "the proxy takes in without end"
    network.proxy.start()
    server.settimeout(patient_s(30))
    received = bytearray()
    while len(received) < sent:
        received += server.recv(1_000_000)
    assert received == data[:sent]


def test_a_select_without_an_end_is_ended_by_a_wake_up(network: Network) -> None:
    turn = threading.Thread(target=network.proxy.do_work)
    turn.start()
    network.proxy.wake_up()
    turn.join(patient_s(30))
    assert not turn.is_alive()


def test_connections_and_ports_are_closed_with_the_thread() -> None:
    network = Network()
    target = network.machine()
    port = network.route(target)
    network.proxy.start()
    client = network.connect(port)
    accepted, _ = eventually(lambda: _accepted(target))
    network.proxy.shutdown(patient_s(30))
    assert not network.proxy.is_alive()
    for end in (client, accepted):
        end.settimeout(patient_s(30))
        assert end.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        network.connect(port)
    network.proxy.wake_up()  # too late: no error
    for sock in (*network.open, accepted):
        sock.close()


def _accepted(server: socket.socket) -> tuple[socket.socket, object] | None:
    try:
        return server.accept()
    except BlockingIOError:
        return None
