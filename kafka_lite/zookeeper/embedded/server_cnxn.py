"""A client's connection: frames in, frames out.

ZooKeeper 3.8: zookeeper-server/.../server/NIOServerCnxn.java · book 2.3.2
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

from kafka_lite.zookeeper.embedded.jute import encode
from kafka_lite.zookeeper.embedded.protocol import SYNC_CONNECTED, EventType, Id, ReplyHeader, WatcherEvent, Xid
from kafka_lite.zookeeper.embedded.zookeeper_server import BadPacket

_LENGTH = struct.Struct(">i")
_RECEIVE_BYTES = 64 * 1024
_HIGH_WATER_BYTES = 1024 * 1024


class ServerCnxn:
    """Buffers between a non-blocking socket and the server.

    ``send`` and ``process`` only queue: bytes leave in ``flush``, which the selector's loop calls once the transactions
    behind them are on disk. A client that does not read what it asked for is not read from either (``wants_read``), so
    that it cannot make the server hoard replies.
    """

    def __init__(self, sock: socket.socket, address: tuple[str, int], max_packet_bytes: int) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self.address, self.port = address[0], address[1]
        self.identities: list[Id] = [Id("ip", self.address)]
        self.session_id = 0
        self.is_initialized = False
        self.is_closing = False
        self.is_closed = False
        self.packets_received = 0
        self.packets_sent = 0
        self._max_packet_bytes = max_packet_bytes
        self._incoming = bytearray()
        self._outgoing = bytearray()

    @property
    def wants_read(self) -> bool:
        """Whether the next request of the client is welcome."""
        return not self.is_closing and len(self._outgoing) < _HIGH_WATER_BYTES

    @property
    def has_frame(self) -> bool:
        """Whether a whole request has arrived and not been processed, because too many replies were waiting."""
        if len(self._incoming) < _LENGTH.size:
            return False
        (length,) = _LENGTH.unpack_from(self._incoming)
        return len(self._incoming) >= _LENGTH.size + int(length)

    @property
    def wants_write(self) -> bool:
        """Whether bytes wait to be sent."""
        return bool(self._outgoing)

    def receive(self) -> bool:
        """Read what has arrived; false when the client hung up. Raises OSError."""
        try:
            data = self.sock.recv(_RECEIVE_BYTES)
        except BlockingIOError:
            return True
        self._incoming += data
        return bool(data)

    def take_command(self) -> str | None:
        """The four-letter word that a fresh connection may begin with, instead of a frame's length.

        None when there is none, or not yet four bytes; read as a length, any four letters are far too many.
        """
        if self.is_initialized or self.packets_received or len(self._incoming) < _LENGTH.size:
            return None
        word = bytes(self._incoming[: _LENGTH.size])
        return word.decode() if word.isalpha() and word.isascii() and word.islower() else None

    def frames(self) -> Iterator[bytes]:
        """The whole frames that have arrived, while their replies are welcome; BadPacket at a length that cannot be."""
        while self.wants_read and len(self._incoming) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._incoming)
            if not 0 <= length <= self._max_packet_bytes:
                raise BadPacket(f"a packet of {length} bytes")
            end = _LENGTH.size + length
            if len(self._incoming) < end:
                return
            frame = bytes(self._incoming[_LENGTH.size : end])
            del self._incoming[:end]
            self.packets_received += 1
            yield frame

    def send(self, payload: bytes) -> None:
        """Queue a frame."""
        self._outgoing += _LENGTH.pack(len(payload))
        self._outgoing += payload
        self.packets_sent += 1

    def send_text(self, text: str) -> None:
        """Queue the answer to a four-letter word, which is no frame."""
        self._outgoing += text.encode()

    def process(self, event: EventType, path: str) -> None:
        """Queue the event of a watch."""
        header = ReplyHeader(Xid.NOTIFICATION, -1, 0)
        self.send(encode(header, WatcherEvent(event, SYNC_CONNECTED, path)))

    def close_after_send(self) -> None:
        """Read nothing more, and let ``flush`` be the last."""
        self.is_closing = True

    def close(self) -> None:
        """Forget what is queued, too: the session has ended, or goes on elsewhere."""
        self.is_closing = True
        self._outgoing.clear()

    def flush(self) -> bool:
        """Send what the socket takes; false when the connection has nothing more to do. Raises OSError."""
        if self._outgoing:
            try:
                del self._outgoing[: self.sock.send(self._outgoing)]
            except BlockingIOError:
                return True
        return not (self.is_closing and not self._outgoing)

    def reset_stats(self) -> None:
        """Forget the counters."""
        self.packets_received = self.packets_sent = 0

    def __str__(self) -> str:
        return f"/{self.address}:{self.port}"
