from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from kafka_lite.network.idle_expiry_manager import IdleExpiryManager
from kafka_lite.network.kafka_channel import KafkaChannel
from kafka_lite.network.nio_selector import NioSelector
from kafka_lite.network.receive import UNLIMITED
from kafka_lite.network.transport_layer import PlaintextTransportLayer


class Channels:
    """Channels over one idle socket."""

    def __init__(self, sock: socket.socket, selector: NioSelector) -> None:
        self._sock, self._selector = sock, selector
        self.open: dict[str, KafkaChannel] = {}
        self.idle = IdleExpiryManager(100, now_ms=0)

    def use(self, name: str, now_ms: float) -> None:
        if name not in self.open:
            transport = PlaintextTransportLayer(self._selector, self._sock)
            self.open[name] = KafkaChannel(name, transport, UNLIMITED, name)
        self.open[name].last_active_ms = now_ms

    def expired(self, now_ms: float) -> list[str]:
        return [
            self.open.pop(channel.id).id for channel in self.idle.poll_expired_connections(now_ms, self.open.values())
        ]


@pytest.fixture
def channels() -> Iterator[Channels]:
    selector = NioSelector()
    with socket.socket() as sock:
        yield Channels(sock, selector)
    selector.close()


def test_connections_expire_in_the_order_of_their_last_use(channels: Channels) -> None:
    channels.use("a", 0)
    channels.use("c", 20)
    channels.use("b", 10)
    channels.use("a", 30)
    assert channels.expired(110) == []
    assert channels.expired(121) == ["b", "c"]
    assert channels.expired(130) == []
    assert channels.expired(131) == ["a"]
    assert channels.expired(1_000) == []


def test_a_closed_connection_does_not_expire(channels: Channels) -> None:
    channels.use("a", 0)
    del channels.open["a"]
    assert channels.expired(500) == []


def test_a_new_connection_after_a_long_silence_is_not_idle(channels: Channels) -> None:
    assert channels.expired(10_000) == []
    channels.use("a", 10_000)
    assert channels.expired(10_050) == []
    assert channels.expired(10_101) == ["a"]


def test_checks_of_all_connections_are_rare_even_if_each_is_about_to_expire(channels: Channels) -> None:
    """At least a thousandth of 100 ms lies between two checks, so a connection may live that much longer."""
    for number in range(100):
        channels.use(str(number), number / 1000)
    assert channels.expired(100.0005) == ["0"]
    assert channels.expired(100.1) == []
    assert channels.expired(100.101) == [str(number) for number in range(1, 100)]
