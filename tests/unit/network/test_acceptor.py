"""Which connections an acceptor counts, and which it closes."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.network import acceptor as acceptor_module
from kafka_lite.network.acceptor import Acceptor, PortInUseError, check_port_is_free, open_server_socket
from kafka_lite.network.connection_quotas import ConnectionQuotas
from kafka_lite.network.connection_rate_quotas import ConnectionRateConfig, ConnectionRateQuotas

HOST = "127.0.0.1"


class Accepting:
    """An acceptor without a thread, and what its processor has got."""

    def __init__(self) -> None:
        self.quotas = ConnectionQuotas(1, {})
        self.accepted: list[socket.socket] = []
        processor: Any = SimpleNamespace(id=0, accept=lambda sock, _host, _port: self.accepted.append(sock))
        listener: Any = SimpleNamespace(host=HOST, port=0, name="PLAINTEXT")
        self.time = MockTime()
        self.rates = ConnectionRateQuotas(ConnectionRateConfig(), Metrics(time=self.time), self.time)
        self.rates.add_listener("PLAINTEXT")
        self.acceptor = Acceptor(listener, [processor], self.quotas, self.rates, -1, -1, self.time)
        self.sockets: list[socket.socket] = []

    def connect(self) -> socket.socket:
        """Returns the broker's end."""
        client = socket.create_connection((HOST, self.acceptor.port))
        self.sockets.append(client)
        self.acceptor._server_socket.setblocking(True)
        broker, address = self.acceptor._server_socket.accept()
        self.sockets.append(broker)
        self.acceptor._assign(broker, *address)
        return broker

    def close(self) -> None:
        self.acceptor.close()
        for sock in self.sockets:
            sock.close()


@pytest.fixture
def accepting() -> Iterator[Accepting]:
    accepting = Accepting()
    yield accepting
    accepting.close()


def test_a_connection_above_the_limit_is_closed_and_not_counted(accepting: Accepting) -> None:
    first, second = accepting.connect(), accepting.connect()
    assert accepting.accepted == [first]
    assert second.fileno() == -1, "it is closed"
    assert accepting.quotas.get(HOST) == 1


def test_a_connection_of_an_address_that_opens_too_many_is_closed_after_its_delay(accepting: Accepting) -> None:
    """Nothing of it counts, and nobody reads what it sends."""
    accepting.quotas.update(100, {})
    accepting.rates.update_ip_rate(HOST, 1)
    for _ in range(10):
        accepting.connect()
    refused = accepting.connect()
    assert refused not in accepting.accepted
    assert accepting.quotas.get(HOST) == 10
    accepting.time.sleep(999)
    accepting.acceptor._close_throttled()
    assert refused.fileno() != -1
    accepting.time.sleep(1)
    accepting.acceptor._close_throttled()
    assert refused.fileno() == -1
    last = accepting.connect()
    accepting.acceptor.close()
    assert last.fileno() == -1, "a stop closes those that wait"


def test_a_listener_with_too_many_new_connections_waits(accepting: Accepting, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(accepting.acceptor, "pause", waits.append)
    accepting.quotas.update(100, {})
    accepting.rates.update_listener_rate("PLAINTEXT", 1)
    for _ in range(11):
        accepting.connect()
    assert waits == [1000]
    assert len(accepting.accepted) == 11, "none is refused"


def test_a_connection_that_ends_before_it_is_set_up_is_not_counted(
    accepting: Accepting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("it has been reset")

    with monkeypatch.context() as patch:
        patch.setattr(acceptor_module, "configure_socket", fail)
        assert accepting.connect().fileno() == -1
    assert accepting.quotas.get(HOST) == 0
    assert accepting.accepted == [accepting.connect()]


def test_a_listener_with_a_host_listens_only_there() -> None:
    with open_server_socket(HOST, 0, -1) as sock:
        assert sock.getsockname()[0] == HOST


def test_accepted_connections_inherit_the_receive_buffer() -> None:
    with open_server_socket(HOST, 0, -1) as usual, open_server_socket(HOST, 0, 20_000) as small:
        sizes = [sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) for sock in (usual, small)]
    assert sizes[0] > sizes[1] >= 20_000


def test_a_port_that_is_in_use_is_told_from_other_errors() -> None:
    with open_server_socket(HOST, 0, -1) as sock:
        port = sock.getsockname()[1]
        with pytest.raises(PortInUseError) as in_use:
            check_port_is_free(HOST, port)
        assert (in_use.value.host, in_use.value.port) == (HOST, port)
    with pytest.raises(KafkaError) as elsewhere:
        check_port_is_free("192.0.2.1", 0)  # an address for documentation, which no machine has
    assert not isinstance(elsewhere.value, PortInUseError)
