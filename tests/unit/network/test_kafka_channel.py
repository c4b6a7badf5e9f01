"""How a channel reads frames, whatever parts they come in."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from kafka_lite.network.kafka_channel import KafkaChannel
from kafka_lite.network.nio_selector import NioSelector
from kafka_lite.network.transport_layer import PlaintextTransportLayer

UNLIMITED = -1


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def selector() -> Iterator[NioSelector]:
    made = NioSelector()
    yield made
    made.close()


@pytest.mark.parametrize("buffer_size", [3, 5, 16, 104, 1000])
@pytest.mark.parametrize("at_once", [True, False])
def test_large_and_small_frames_arrive_in_order(
    pair: tuple[socket.socket, socket.socket], selector: NioSelector, buffer_size: int, at_once: bool
) -> None:
    """The rest of a frame that is larger than the buffer does not pass through the buffer."""
    ours, theirs = pair
    channel = KafkaChannel("c", PlaintextTransportLayer(selector, ours), UNLIMITED, "peer")
    payloads = [b"a" * 100, b"", b"b" * 5, b"c" * 100]
    data = b"".join(len(payload).to_bytes(4, "big") + payload for payload in payloads)
    buffer = bytearray(buffer_size)
    for part in [data] if at_once else [bytes([byte]) for byte in data]:
        theirs.sendall(part)
        for _ in range(len(part)):  # each read takes a byte at least, until there are none
            channel.read(buffer)
    assert [bytes(receive.payload) for receive in channel.staged] == payloads
