"""Helpers that the tests of this lab share."""

import socket
import struct

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.network.selector import Selector


def framed(*payloads):
    return b"".join(struct.pack(">i", len(payload)) + payload for payload in payloads)


class TestSelector(Selector):
    """A selector with a clock of its own, and connections to the test."""

    __test__ = False

    def __init__(self):
        self.time = MockTime()
        super().__init__(1_000_000, connections_max_idle_ms=5_000, time=self.time)
        self.peers = []

    def peer(self, name):
        """Open a connection with that name; returns its other end."""
        mine, theirs = socket.socketpair()
        mine.setblocking(False)
        theirs.settimeout(5)
        self.peers.append(theirs)
        self.register(name, mine, f"peer of {name}")
        return theirs

    def fd_of(self, name):
        """The file descriptor of a connection."""
        return next(fd for fd, each in self._selector.attachments.items() if each is self.channel(name))

    def received(self):
        """(connection, payload) of the receives of the last poll."""
        return [(receive.source, bytes(receive.payload)) for receive in self.completed_receives]

    def poll_for(self, seen, polls=50):
        """Poll until ``seen()`` is true; returns its result, or a false one after too many polls."""
        for _ in range(polls):
            self.poll(20)
            if found := seen():
                return found
        return None


@pytest.fixture
def selector():
    """A selector whose connections go to the test."""
    selector = TestSelector()
    yield selector
    selector.close()
    for peer in selector.peers:
        peer.close()


@pytest.fixture
def frames():
    """``frames(b"a", b"b")``: the bytes of these frames."""
    return framed


@pytest.fixture
def listener():
    """A server that accepts."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        yield server
