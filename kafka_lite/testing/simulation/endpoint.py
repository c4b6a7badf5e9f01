"""The ends of connections: what a socket of the world reads from, writes to and waits for.

Not in Kafka. A model without I/O. An endpoint gives the network what it sends, and the network calls ``arrive`` and
``reset``::

    send ──▶ network ──▶ arrive ──▶ inbox ──▶ receive
"""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

BUFFER_BYTES: Final = 128 * 1024
"""The size of a socket's buffers, unless the program sets another."""
CAPACITY_BYTES: Final = 2 * BUFFER_BYTES
"""Bytes that one direction of a connection holds by default, in flight and unread, before a sender has to wait."""

Address = tuple[str, int]
"""IP address and port."""


class Carrier(Protocol):
    """The part of the network that an endpoint needs."""

    def pieces_of(self, data: bytes, sender: Endpoint) -> list[bytes]:
        """The pieces in which data arrives."""
        ...

    def carry(self, source: Endpoint, target: Endpoint, piece: bytes | None) -> None:
        """Bring a piece to the other end; None is the end of the stream."""
        ...

    def send_reset(self, source: Endpoint, target: Endpoint) -> None:
        """Tell the other end that the connection is gone."""
        ...

    def forget(self, endpoint: Endpoint) -> None:
        """The endpoint is closed."""
        ...

    def is_down(self, machine: str) -> bool:
        """Whether the machine has crashed."""
        ...


class Watched(ABC):
    """Something a thread can wait for."""

    def __init__(self) -> None:
        self.watchers: list[Callable[[], None]] = []
        """Called whenever it may have become readable or writable."""

    def notify(self) -> None:
        """It has changed."""
        for watcher in self.watchers.copy():
            watcher()

    @property
    @abstractmethod
    def is_readable(self) -> bool:
        """Whether reading or accepting would not block."""

    @property
    @abstractmethod
    def is_writable(self) -> bool:
        """Whether writing would not block."""

    @property
    def has_failed(self) -> bool:
        """Whether the next call raises an error."""
        return False

    @property
    def has_hung_up(self) -> bool:
        """Whether both directions have ended."""
        return False


@dataclass(frozen=True)
class Buffers:
    """The sizes of a socket's buffers. Those of a listener are the ones of the sockets that it accepts."""

    send_bytes: int = BUFFER_BYTES
    receive_bytes: int = BUFFER_BYTES


class Endpoint(Watched):
    """One end of a connection."""

    def __init__(self, network: Carrier, machine: str) -> None:
        super().__init__()
        self.network = network
        self.machine = machine
        self.local: Address = ("0.0.0.0", 0)
        self.remote: Address | None = None
        self.number = 0
        """The number of the connection, which its two endpoints share."""
        self.peer: Endpoint | None = None
        self.buffers = Buffers()
        self.inbox = bytearray()
        self.error = 0
        """The errno that the next call raises, once."""
        self.is_connecting = False
        self.is_connected = False
        self.is_closed = False
        self.has_vanished = False
        """Its machine crashed: it neither sends nor says that it is gone."""
        self.is_shut_down = False
        """No more data is sent."""
        self.saw_end = False
        """The other side sends no more data."""
        self.was_reset = False
        self.in_flight_bytes = 0
        self.is_pair = False
        self._held: list[bytes | None] = []
        """Pieces for this endpoint that a cut link holds; None is the end of the stream."""
        self._next_arrival_ns = 0

    # ── what a socket does ────────────────────────────────────────────────────────────────────────────────────────

    def send(self, data: bytes | bytearray | memoryview) -> int:
        """Send what there is room for; returns how many bytes. Raises OSError; BlockingIOError without room."""
        self.raise_error()
        peer = self.peer
        if self.was_reset or self.is_shut_down or self.is_closed:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        if not self.is_connected or peer is None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        room = self.room_bytes
        if room <= 0:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        sent = bytes(data[:room])
        for piece in self.network.pieces_of(sent, self):
            self.in_flight_bytes += len(piece)
            self.network.carry(self, peer, piece)
        return len(sent)

    def receive(self, count: int, peek: bool = False) -> bytes:
        """Up to ``count`` bytes; none at the end of the stream. Raises OSError; BlockingIOError if nothing came."""
        if not self.inbox:
            self.raise_error()
            if self.saw_end or self.was_reset:
                return b""
            if not self.is_connected:
                raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        data = bytes(self.inbox[:count])
        if not peek:
            was_full = self.peer is not None and self.peer.room_bytes <= 0
            del self.inbox[:count]
            if was_full and self.peer is not None:
                self.peer.notify()
        return data

    def shut_down_writing(self) -> None:
        """Send the end of the stream."""
        if not self.is_shut_down and self.is_connected and self.peer is not None:
            self.network.carry(self, self.peer, None)
        self.is_shut_down = True

    def close(self) -> None:
        """Close this end. If data was not read, the other end gets a reset, as with TCP."""
        if self.is_closed:
            return
        if self.inbox or self.is_connecting:
            self.abort()
        else:
            self.shut_down_writing()
        self.is_closed = True
        self.network.forget(self)

    def abort(self) -> None:
        """Close this end with a reset of the other."""
        if self.peer is not None and not self.was_reset:
            self.network.send_reset(self, self.peer)
        self.is_closed = self.is_shut_down = True
        self.network.forget(self)

    def raise_error(self) -> None:
        """Raise and forget the pending error."""
        if self.error:
            raise self.take_error()

    def take_error(self) -> OSError:
        """The pending error, as Python raises it."""
        number, self.error = self.error, 0
        return OSError(number, errno.errorcode.get(number, "error"))

    # ── what the network does to it ───────────────────────────────────────────────────────────────────────────────

    def arrive(self, piece: bytes | None) -> None:
        """Data has come, or the end of the stream."""
        sender = self.peer
        if sender is not None and piece is not None:
            sender.in_flight_bytes -= len(piece)
        if self.has_vanished or self.is_closed:
            if sender is not None and piece is not None and not self.network.is_down(self.machine):
                self.network.send_reset(self, sender)
            return
        if self.was_reset:
            return
        if piece is None:
            self.saw_end = True
        else:
            self.inbox += piece
        self.notify()

    def reset(self, error: int = errno.ECONNRESET) -> None:
        """The connection breaks: unread data is lost, and the next call raises the error."""
        if self.was_reset or self.is_closed or self.has_vanished:
            return
        self.was_reset = True
        self.is_connecting = False
        self.inbox.clear()
        self.error = error
        self.notify()

    @property
    def room_bytes(self) -> int:
        """How much can be sent now."""
        peer = self.peer
        if peer is None:
            return self.buffers.send_bytes - self.in_flight_bytes
        return self.buffers.send_bytes + peer.buffers.receive_bytes - self.in_flight_bytes - len(peer.inbox)

    @property
    def is_readable(self) -> bool:
        """Data, the end of the stream, or an error."""
        return bool(self.inbox) or self.saw_end or self.was_reset or bool(self.error)

    @property
    def is_writable(self) -> bool:
        """Connected, and room to send; or an error."""
        return (self.is_connected and self.room_bytes > 0) or self.was_reset or bool(self.error)

    @property
    def has_failed(self) -> bool:
        """Whether an error waits to be raised."""
        return bool(self.error)

    @property
    def has_hung_up(self) -> bool:
        """Reset, or ended in both directions; also a socket that was never connected, as with Linux."""
        return self.was_reset or (self.saw_end and self.is_shut_down) or not (self.is_connected or self.is_connecting)


class Listener(Watched):
    """A port that takes connections."""

    def __init__(self, machine: str, address: Address) -> None:
        super().__init__()
        self.machine = machine
        self.address = address
        self.buffers = Buffers()
        self.backlog: list[Endpoint] = []
        self.is_closed = False

    @property
    def is_readable(self) -> bool:
        """Whether a connection waits to be accepted."""
        return bool(self.backlog)

    @property
    def is_writable(self) -> bool:
        """Never."""
        return False
