"""Connections that a processor has been given but not yet taken, or cannot take."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.network.connection_quotas import ConnectionQuotas
from kafka_lite.network.processor import Processor
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.unserved_requests import UnservedRequests

HOST = "127.0.0.1"


class Given:
    """A processor without a thread, and connections that the quotas count."""

    def __init__(self) -> None:
        self.quotas = ConnectionQuotas(10, {})
        self.processor = Processor(
            0, "p", "PLAINTEXT", "PLAINTEXT", MockTime(), 1000, 60_000, RequestChannel(1, 10), self.quotas,
            UnservedRequests(),
        )  # fmt: skip
        self.clients: list[socket.socket] = []

    def connection(self) -> socket.socket:
        """The broker's end."""
        with socket.create_server((HOST, 0)) as listener:
            client = socket.create_connection(listener.getsockname())
            broker, (host, port) = listener.accept()
        client.settimeout(30)
        self.clients.append(client)
        self.quotas.inc(host)
        self.processor.accept(broker, host, port)
        return broker

    def close(self) -> None:
        for client in self.clients:
            client.close()


@pytest.fixture
def given() -> Iterator[Given]:
    given = Given()
    yield given
    given.close()


def test_a_stop_closes_the_connections_that_were_taken_and_those_that_were_not(given: Given) -> None:
    taken = given.connection()
    given.processor.do_work()
    assert given.processor.connection_count == 1
    waiting = given.connection()
    assert given.quotas.get(HOST) == 2
    given.processor.close_all()
    assert (taken.fileno(), waiting.fileno()) == (-1, -1)
    assert [client.recv(1) for client in given.clients] == [b"", b""]
    assert given.quotas.get(HOST) == 0


def test_a_connection_that_ends_before_it_is_taken_is_not_counted_any_more(given: Given) -> None:
    given.connection().close()
    other = given.connection()
    given.processor.do_work()
    assert (given.quotas.get(HOST), given.processor.connection_count, other.fileno() >= 0) == (1, 1, True)
    given.processor.close_all()
    assert given.quotas.get(HOST) == 0
